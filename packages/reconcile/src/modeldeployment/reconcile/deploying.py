"""The deployment controller: observe, decide, act, once a wake-up."""

import asyncio
import contextlib
import logging
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Final, Protocol, assert_never

from modeldeployment.api import EventReason, keys
from modeldeployment.kube import Client, Conflict, NotFound, Recorder, shapes
from modeldeployment.reconcile import acting
from modeldeployment.reconcile.answering import answer
from modeldeployment.reconcile.deciding import ground as grounds
from modeldeployment.reconcile.deciding import pacing, retirement
from modeldeployment.reconcile.deciding.ground import Ground
from modeldeployment.reconcile.deciding.lasting import Lasting, lasting
from modeldeployment.reconcile.deciding.passing import decide
from modeldeployment.reconcile.deciding.seen import OwnedKind, Snapshot, Views
from modeldeployment.reconcile.deciding.steps import (
    SOON,
    Advance,
    Announcement,
    Blocked,
    Decision,
    Done,
    Fact,
    Step,
    Wait,
)
from modeldeployment.reconcile.errors import CreateFailed, ObjectRefused, ReconcileError, Unreadable
from modeldeployment.reconcile.expecting import Expectations
from modeldeployment.reconcile.insisting import Insistence
from modeldeployment.reconcile.kinds import DEPLOYMENTS
from modeldeployment.reconcile.retiring import accounting
from modeldeployment.reconcile.retiring.evidence import Evidence, Inquiry
from modeldeployment.reconcile.servers import native_sidecars
from modeldeployment.reconcile.snapshots import Snapshots
from modeldeployment.reconcile.watching import Key, Watched
from modeldeployment.render import Policy

log = logging.getLogger(__name__)

SHORTLY: Final = 0.1
"""Seconds until a pass that lost a race is taken again: a figure that moved in what it wrote to wakes nobody."""


class Testifying(Protocol):
    """Who asks routers and engines what a retirement has to know, and what is served at all, beside the passes.

    Nothing of it is persisted: budgets are, so after a restart it begins anew.
    """

    def evidence(self, key: Key, /) -> Evidence | None:
        """Answer what was witnessed for a deployment so far; None where nothing was."""
        ...

    def inquire(self, key: Key, inquiry: Inquiry | None, /) -> None:
        """Witness this for a deployment from now on, and wake it when it learns something; None ends it."""
        ...

    def views(self, key: Key, /) -> Views | None:
        """Answer what the routers of a deployment send requests to; None before anybody looked."""
        ...


class Nobody:
    """Witnesses nothing: no retirement gets further than the label."""

    def evidence(self, key: Key, /) -> None:
        """Answer that nothing is known."""

    def inquire(self, key: Key, inquiry: Inquiry | None, /) -> None:
        """Ask nobody."""

    def views(self, key: Key, /) -> None:
        """Answer that nobody looked."""


@dataclass(slots=True)
class Tally:
    """What the controller has done since it started, for the operator's metrics."""

    passes: int = 0
    steps: dict[str, int] = field(default_factory=dict)
    status_writes: int = 0
    events: int = 0
    retirements: accounting.Tally = field(default_factory=accounting.Tally)


class DeploymentController:
    """Reconciles ModelDeployments; `reconcile(key)` is one pass.

    `policy` holds the settings that rendering reads. `clock` is the only source of time, `witness` asks routers and
    engines what a retirement has to know. `busy` says that sets are being admitted: what people read then waits a
    moment for what opens gates.
    """

    def __init__(
        self,
        client: Client,
        watched: Watched,
        recorder: Recorder,
        policy: Policy,
        clock: Callable[[], datetime],
        witness: Testifying | None = None,
        busy: Callable[[], bool] = lambda: False,
    ) -> None:
        self._client = client
        self._watched = watched
        self._recorder = recorder
        self._snapshots = Snapshots(watched, policy)
        self._clock = clock
        self._witness: Testifying = witness or Nobody()
        self._expected = Expectations()
        self._insisted = Insistence()
        self._said: dict[Key, frozenset[tuple[EventReason, str]]] = {}
        self._busy = busy
        self._told: dict[Key, datetime] = {}
        self._untold: dict[Key, pacing.Untold] = {}
        self._took = timedelta()
        self._lasting: dict[Key, Lasting] = {}
        self._grounds: dict[Key, Ground] = {}
        self._native_sidecars: bool | None = None
        self.tally = Tally()

    def set_policy(self, policy: Policy) -> bool:
        """Render with other settings from now on; says whether they are others."""
        return self._snapshots.set_policy(policy)

    async def prepare(self) -> None:
        """Render what is there while Pods are still being listed: the first passes after a start find it done.

        Raises KubeError where the API server does not say its version.
        """
        await self._watched.wait_described()
        native = await self._native()
        for stored in tuple(self._watched.deployments.items()):
            if self._watched.pods.synced:
                return
            with contextlib.suppress(Unreadable):  # its pass says so
                self._snapshots.prepare(stored, native=native)
            await asyncio.sleep(0)

    async def reconcile(self, key: Key) -> float | None:
        """Take one pass over a deployment: seconds until the next look at the latest, None where a change must wake it.

        Raises KubeError, CreateFailed, ObjectRefused or Unreadable where the pass could not be finished; it is then
        tried again.
        """
        stored = self._watched.deployments.get(key.namespace, key.name)
        if stored is None:
            self._snapshots.forget(key)
            self._said.pop(key, None)
            self._told.pop(key, None)
            self._untold.pop(key, None)
            self._lasting.pop(key, None)
            self._grounds.pop(key, None)
            self._expected.forget(key)
            self._insisted.forget(key)
            self._witness.inquire(key, None)
            self.tally.retirements.forget(str(key))
            return None
        native = await self._native()
        stale = not self._expected.met(key, self._watched.stores())
        snapshot = self._snapshots.of(stored, native=native, stale=stale)
        evidence, views = self._witness.evidence(key), self._witness.views(key)
        if evidence is not None or views is not None:
            snapshot = replace(snapshot, evidence=evidence, views=views)
        self._count(key, snapshot)
        if insisted := self._insisted.of(key, self._clock()):
            snapshot = replace(snapshot, insisted=insisted)
        snapshot, decision = await self._decided(key, snapshot)
        self.tally.passes += 1
        try:
            return await self._carry_out(key, stored, snapshot, decision)
        except Conflict as conflict:
            log.debug("pass lost a race, taken again", extra={"object": str(key), "reason": conflict.reason})
            return SHORTLY
        except NotFound as gone:
            log.debug("pass wrote to what is gone", extra={"object": str(key), "reason": gone.reason})
            return None

    def rest(self) -> None:
        """Others reconcile from now on: what retirements do is theirs to count."""
        self.tally.retirements.rest()

    def _count(self, key: Key, seen: Snapshot) -> None:
        """Count what became of a retirement, from what status says of it."""
        standing = (member.uid for member in seen.members if not member.leaving)
        read = seen.evidence.in_flight if seen.evidence is not None else None
        stored = retirement.stored(seen.status)
        self.tally.retirements.seen(str(key), stored, self._clock(), standing=standing, in_flight=read)

    async def _native(self) -> bool:
        if self._native_sidecars is None:
            self._native_sidecars = await native_sidecars(self._client)
        return self._native_sidecars

    async def _decided(self, key: Key, snapshot: Snapshot) -> tuple[Snapshot, Decision]:
        """Decide, unless the last decision lasts; with the snapshot that answers have been added to."""
        known = self._lasting.get(key)
        decision = known.on(snapshot) if known is not None else None
        if decision is None:
            snapshot, decision = await self._decided_anew(key, snapshot)
            if not snapshot.stale:
                self._last(key, snapshot, decision)
        return snapshot, decision

    def _last(self, key: Key, snapshot: Snapshot, decision: Decision) -> None:
        """Let a decision last, where it is one that does; the one before it is over."""
        self._lasting.pop(key, None)
        if (made := lasting(snapshot, decision)) is not None:
            self._lasting[key] = made

    async def _decided_anew(self, key: Key, snapshot: Snapshot) -> tuple[Snapshot, Decision]:
        """Answer what the pass asks for until it decides; asking twice for one fact is a defect."""
        now, uid = self._clock(), snapshot.deployment.metadata.uid or ""
        ground = grounds.of(snapshot, self._grounds.get(key))
        if ground is None:
            self._grounds.pop(key, None)
        else:
            self._grounds[key] = ground
        asked: set[Fact] = set()
        while True:
            outcome = decide(snapshot, now, ground)
            if isinstance(outcome, Decision):
                return snapshot, outcome
            if outcome.fact in asked:
                raise ReconcileError(f"{key}: the pass asked twice for {outcome.fact}")
            asked.add(outcome.fact)
            answers = await answer(self._client, key, uid, snapshot.answers, outcome)
            snapshot = replace(snapshot, answers=answers)

    async def _carry_out(self, key: Key, stored: shapes.Custom, snapshot: Snapshot, decision: Decision) -> float | None:
        target = self._target(key, stored, snapshot)
        resting = await self._reserve(target, snapshot, decision)
        resting = _soonest(resting, await self._tell(target, snapshot, decision))
        if not (isinstance(decision.next, Blocked) and decision.next.on is Wait.STALE_STORE):
            self._witness.inquire(key, decision.inquiry)
            await self._announce(key, stored, decision.events)
        match decision.next:
            case Done():
                return resting
            case Blocked(until=until):
                return resting if until is None else _sooner(max(0.0, (until - self._clock()).total_seconds()), resting)
            case Advance(steps=steps):
                await self._advance(stored, target, steps)
                return _sooner(SOON.total_seconds(), resting)
            case other:
                assert_never(other)

    async def _reserve(self, target: acting.Target, snapshot: Snapshot, decision: Decision) -> float | None:
        """Write the retirement, before any step of it; one that only says anew what it waits for may rest a while."""
        if decision.retirement is None:
            return None
        now, last = self._clock(), self._told.get(target.key)
        only_said = pacing.same_step(snapshot.status, decision.retirement)
        if only_said and last is not None and now - last < pacing.REST:
            return (last + pacing.REST - now).total_seconds()
        await acting.write_status(self._client, target, decision.retirement)
        if only_said:
            self._told[target.key] = now
        self.tally.status_writes += 1
        return None

    async def _tell(self, target: acting.Target, snapshot: Snapshot, decision: Decision) -> float | None:
        """Write the status, or let one that only counts on rest: the seconds until it is due, None where none rests."""
        if decision.status is None:
            self._untold.pop(target.key, None)
            return None
        key, now, rest = target.key, self._clock(), pacing.rest(self._took, len(self._untold))
        figures = pacing.counts_on(snapshot.status, decision.status)
        due, waiting = pacing.due(
            self._untold.get(key), self._told.get(key), now, rest, figures=figures, busy=self._busy()
        )
        if waiting is not None:
            self._untold[key] = waiting
        if now < due:
            return (due - now).total_seconds()
        written = await acting.write_status(self._client, target, decision.status)
        self._took = self._clock() - now
        # The store will show what was just written: nothing is to be decided on that.
        with contextlib.suppress(Unreadable):  # the pass that reads it from the store tells
            self._last(key, self._snapshots.after(snapshot, written), replace(decision, status=None))
        self._told[key] = now
        self._untold.pop(key, None)
        self.tally.status_writes += 1
        return None

    async def _advance(self, stored: shapes.Custom, target: acting.Target, steps: tuple[Step, ...]) -> None:
        for step in steps:
            name = type(step).__name__
            self.tally.steps[name] = self.tally.steps.get(name, 0) + 1
        log.info("pass writes", extra={"object": str(target.key), "reason": _summary(steps)})
        try:
            await acting.carry_out(self._client, target, steps)
        except CreateFailed as failed:
            await self._emit(stored, Announcement(EventReason.REPLICA_NOT_CREATED, str(failed), ""))
            raise
        except ObjectRefused as refused:
            await self._emit(stored, Announcement(EventReason.OBJECT_REFUSED, str(refused), ""))
            raise

    def _target(self, key: Key, stored: shapes.Custom, snapshot: Snapshot) -> acting.Target:
        meta = stored.metadata

        def wanted() -> bool:
            now = self._watched.deployments.get(key.namespace, key.name)
            return (
                now is not None
                and now.metadata.uid == meta.uid
                and now.metadata.generation == meta.generation
                and now.metadata.deletion_timestamp is None
            )

        def version(kind: OwnedKind, name: str) -> str:
            seen = self._watched.owned[kind].get(key.namespace, name)
            return seen.metadata.resource_version if seen is not None else ""

        return acting.Target(
            key=key,
            uid=meta.uid,
            resource_version=meta.resource_version,
            finalizers=meta.finalizers,
            rendering=snapshot.rendering,
            wrote=lambda store, version: self._expected.wrote(key, store, version),
            wanted=wanted,
            version=version,
            insisted=lambda uid, refused: self._insisted.noted(key, uid, self._clock(), refused),
        )

    async def _announce(self, key: Key, stored: shapes.Custom, events: tuple[Announcement, ...]) -> None:
        """Say each occurrence once: what the last pass said already is not said again."""
        said = self._said.get(key, frozenset())
        for event in events:
            if (event.reason, event.about) not in said:
                await self._emit(stored, event)
        self._said[key] = frozenset((event.reason, event.about) for event in events)

    async def _emit(self, stored: shapes.Custom, event: Announcement) -> None:
        meta = stored.metadata
        regarding = shapes.ObjectReference(
            api_version=keys.API_VERSION,
            kind=DEPLOYMENTS.kind,
            name=meta.name,
            namespace=meta.namespace,
            uid=meta.uid,
        )
        await self._recorder.emit(regarding, "Warning", event.reason.value, event.note, "Reconcile")
        self.tally.events += 1


def _sooner(seconds: float, other: float | None) -> float:
    return seconds if other is None else min(seconds, other)


def _soonest(one: float | None, other: float | None) -> float | None:
    return one if other is None else _sooner(other, one)


def _summary(steps: tuple[Step, ...]) -> str:
    counts: dict[str, int] = {}
    for step in steps:
        counts[type(step).__name__] = counts.get(type(step).__name__, 0) + 1
    return ", ".join(f"{count} x {name}" for name, count in counts.items())


def utc_now() -> datetime:
    """The rim's clock."""
    return datetime.now(UTC)  # noqa: TID251 (the one place where time enters)
