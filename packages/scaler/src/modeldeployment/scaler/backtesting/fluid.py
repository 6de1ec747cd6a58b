"""Engines as fluid: tokens queue before each role and are served in their order, at so many a second and ready replica.

What the model leaves out is told in docs/scaling.md. Everything is in whole tokens and whole seconds.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from modeldeployment.api import Quantity, RetirementState, RoleKind
from modeldeployment.api.scalerstatus import SignalState
from modeldeployment.scaler.backtesting.fleets import Fleet, Group
from modeldeployment.scaler.backtesting.plants import Outcome
from modeldeployment.scaler.backtesting.traces import Trace
from modeldeployment.scaler.planning.observed import Reading, RetirementSeen, RoleReading, Seat, Target, TargetRole
from modeldeployment.scaler.planning.plain import Vector

_MILLI: Final = 10**6
_PERCENTILE: Final = (95, 100)


@dataclass(slots=True)
class _Batch:
    """Requests of one second that are still together, before one role."""

    second: int
    """When they came to this role."""
    arrived: int
    """When they came at all; what they are told by."""
    requests: int
    work: int
    """Tokens of it that this role has to serve yet."""
    prompt: int
    generation: int


@dataclass(slots=True)
class _Window:
    """What was served since the reading before."""

    prompt: int = 0
    generation: int = 0
    waits: list[tuple[int, int]] = field(default_factory=list)
    """Milliseconds waited, and how many requests did."""
    seconds: int = 0
    overload: int = 1000
    """Thousandths of what ready replicas carry that were asked for in the worst second; 1000 where they carried it."""


class _Role:
    """One role: its replicas, what queues before it, and what it has served."""

    def __init__(self, group: Group, replicas: int, cold: int) -> None:
        self.group = group
        self.cold = cold
        self.since = [-cold] * replicas
        """Of every declared replica, by ordinal, when it was declared."""
        self.queue: deque[_Batch] = deque()
        self.window = _Window()
        self.first = True

    def ready(self, now: int) -> int:
        return sum(now - since >= self.cold for since in self.since)

    def arrive(self, second: int, arrived: int, requests: int, prompt: int, generation: int) -> None:
        self.queue.append(_Batch(second, arrived, requests, self.group.work(prompt, generation), prompt, generation))

    def serve(self, now: int) -> list[tuple[_Batch, int]]:
        """Serve one second; answers the batches that are through with this role, and how long their last ones waited.

        What comes within a second flows in evenly, and what is served flows out so: a wait is told in milliseconds.
        """
        capacity = room = self.ready(now) * self.group.peak
        asked = sum(batch.work for batch in self.queue)
        if asked:
            self.window.overload = max(self.window.overload, asked * 1000 // capacity if capacity else 10**6)
        through: list[tuple[_Batch, int]] = []
        while self.queue and self.queue[0].work <= room:
            batch = self.queue.popleft()
            room -= batch.work
            self._count(batch, batch.work)
            done = (capacity - room) * 1000 // capacity if capacity else 0
            wait = max(0, (now - batch.second - 1) * 1000 + done)
            self.window.waits.append((wait, batch.requests))
            through.append((batch, wait))
        if self.queue and room:
            self._count(self.queue[0], room)
            self.queue[0].work -= room
        self.window.seconds += 1
        return through

    def _count(self, batch: _Batch, served: int) -> None:
        whole = self.group.work(batch.prompt, batch.generation)
        if self.group.kind is not RoleKind.DECODE and whole:
            self.window.prompt += served * batch.prompt // whole
        if self.group.kind is not RoleKind.PREFILL and whole:
            self.window.generation += served * batch.generation // whole

    def reading(self, now: int, at: datetime) -> RoleReading:
        """What the engines report; the first reading has no rates, as no first sample has."""
        window, self.window = self.window, _Window()
        first, self.first = self.first, False
        ready = self.ready(now)
        if not ready or first or not window.seconds:
            return RoleReading(state=SignalState.MISSING, ready=ready, at=at)
        waiting = sum(batch.requests for batch in self.queue)
        running = self._running(window)
        return RoleReading(
            state=SignalState.FRESH if running or waiting or window.prompt or window.generation else SignalState.IDLE,
            ready=ready,
            complete=True,
            at=at,
            running_requests=running,
            waiting_requests=waiting,
            prompt_tokens_per_second=Quantity.whole(window.prompt).times(1, window.seconds),
            generation_tokens_per_second=Quantity.whole(window.generation).times(1, window.seconds),
            ttft_milliseconds=self._wait(window),
            itl_milliseconds=self._between(window),
        )

    def _running(self, window: _Window) -> int:
        """Requests in service, by Little's law: what is served a second, times how long it stays in service."""
        if self.group.kind is RoleKind.PREFILL:
            return -(-window.prompt // (window.seconds * self.group.peak))
        return -(-window.generation * self.group.token_milliseconds // (window.seconds * 1000))

    def _wait(self, window: _Window) -> Quantity | None:
        if self.group.kind is RoleKind.DECODE or not window.waits:
            return None
        count, of = _PERCENTILE
        left = -(-sum(requests for _, requests in window.waits) * count // of)
        for wait, requests in sorted(window.waits):
            left -= requests
            if left <= 0:
                return Quantity.whole(wait + self.group.token_milliseconds)
        return None

    def _between(self, window: _Window) -> Quantity | None:
        if self.group.kind is RoleKind.PREFILL or not window.generation:
            return None
        return Quantity(window.overload * self.group.token_milliseconds * _MILLI)


class Fluid:
    """A deployment whose requests pass its roles one after the other."""

    def __init__(self, trace: Trace, fleet: Fleet, replicas: Sequence[int]) -> None:
        """`replicas` are warm at the first second, one count for each group of the fleet."""
        self._trace = trace
        self._fleet = fleet
        self._roles = [
            _Role(group, count, fleet.cold_seconds) for group, count in zip(fleet.groups, replicas, strict=True)
        ]
        self._now = 0
        self._leaving: deque[tuple[str, int]] = deque()
        self._gone_at = 0
        self._generation = 1
        self._late: set[int] = set()
        """Seconds whose requests waited too long before a role."""
        self._in_time = 0
        self._replica_seconds = 0

    def advance(self, seconds: int) -> None:
        """Let time pass, second by second."""
        for _ in range(seconds):
            self._second()

    def declare(self, vector: Vector) -> None:
        """Declare these counts: what is added begins cold, what is taken leaves from the highest ordinal down."""
        for role in self._roles:
            count = vector[role.group.name]
            while len(role.since) < count:
                role.since.append(self._now)
            while len(role.since) > count:
                role.since.pop()
                if not self._leaving:
                    self._gone_at = self._now + self._fleet.leaving_seconds
                self._leaving.append((role.group.name, len(role.since)))
        self._generation += 1

    def target(self) -> Target:
        """The deployment as it stands: every replica finds its quota at once."""
        return Target(
            name="backtest",
            uid="backtest",
            generation=self._generation,
            roles=tuple(self._role(role) for role in self._roles),
            retirement=(
                RetirementSeen(role=self._leaving[0][0], ordinal=self._leaving[0][1], state=RetirementState.DRAINING)
                if self._leaving
                else None
            ),
        )

    def reading(self, now: datetime) -> Reading:
        """What the engines of every role report."""
        return Reading(roles={role.group.name: role.reading(self._now, now) for role in self._roles})

    def finish(self) -> Outcome:
        """Serve what the limit allows for after the last second; what then still waits was not in time."""
        for _ in range((self._fleet.limit_seconds + 1) * len(self._roles)):
            self._second(counted=False)
        return Outcome(self._trace.total.requests, self._in_time, self._replica_seconds)

    def _role(self, role: _Role) -> TargetRole:
        seats = tuple(
            Seat(ordinal=ordinal, admitted=True, ready=self._now - since >= role.cold)
            for ordinal, since in enumerate(role.since)
        )
        return TargetRole(
            name=role.group.name, kind=role.group.kind, replicas=len(seats), instance_type="backtest", seats=seats
        )

    def _second(self, *, counted: bool = True) -> None:
        if self._now < len(self._trace.seconds):
            arrival = self._trace.seconds[self._now]
            if arrival.requests:
                first = self._roles[0]
                first.arrive(self._now, self._now, arrival.requests, arrival.prompt, arrival.generation)
        for role, following in zip(self._roles, (*self._roles[1:], None), strict=True):
            for batch, wait in role.serve(self._now):
                if wait > self._fleet.limit_seconds * 1000:
                    self._late.add(batch.arrived)
                if following is not None:
                    following.arrive(self._now, batch.arrived, batch.requests, batch.prompt, batch.generation)
                elif batch.arrived not in self._late:
                    self._in_time += batch.requests
        while self._leaving and self._now >= self._gone_at:
            self._leaving.popleft()
            self._gone_at = self._now + self._fleet.leaving_seconds
        if counted:
            self._replica_seconds += sum(len(role.since) for role in self._roles) + len(self._leaving)
        self._now += 1
