"""One inquiry while it lasts: asks the router's processes and the members' engines, and keeps what they say.

It only asks and remembers; what it heard is weighed in `weighing`. Requests to one process follow each other, and the
proof says how soon the next one goes. Sources: facts routers-measured §7, facts shutdown §2, decisions D7 to D10.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from modeldeployment.api import RoleKind, keys, scraping
from modeldeployment.kube import Grant, KubeError, shapes
from modeldeployment.kube.kinds import ENDPOINT_SLICES
from modeldeployment.reconcile import inflight, processes, weighing
from modeldeployment.reconcile.inflight import Idle, Reading, Unknown
from modeldeployment.reconcile.processes import Process
from modeldeployment.reconcile.retiring.evidence import Evidence, Inquiry, Leg, Stage
from modeldeployment.reconcile.sources import Sources
from modeldeployment.reconcile.watching import Key
from modeldeployment.reconcile.weighing import Asked, Engine
from modeldeployment.render import ENGINES
from modeldeployment.router import withdrawal
from modeldeployment.router.withdrawal import Heard, State, Step, Subject, Verdict

log = logging.getLogger(__name__)

GRANTS: Final = (
    *processes.GRANTS,
    Grant(ENDPOINT_SLICES, ("list",), "see that no Service sends a replica requests before it is deleted"),
)
SETTLE: Final = timedelta(seconds=5)
"""How long what was sent to a member before no Service listed it takes to arrive (decisions D7)."""
_READ: Final = 5.0
"""Seconds that one reading of an engine may take as a whole, the request sent twice."""
_OK: Final = 200
_LOOK: Final = 10.0
"""Seconds after which a router's Pods are listed again although nobody said that they changed."""
_IDLE: Final = 1.0
_BUSY: Final = 2.0
_SLOWEST: Final = 30.0
_SLOWER: Final = 20
"""A router that does not take a member back is asked less and less often: after each twentieth of the time it took."""


@dataclass(frozen=True, slots=True)
class Member:
    """One member that answers, as it was when the inquiry began."""

    uid: str
    name: str
    address: str
    bootstrap_port: int | None


class Testimony:
    """What is heard for one inquiry; `told` is called with what it comes to whenever something was heard."""

    def __init__(self, key: Key, inquiry: Inquiry, sources: Sources, told: Callable[[Evidence], None]) -> None:
        self._key = key
        self.inquiry = inquiry
        self._sources = sources
        self._told = told
        self._began = sources.clock()
        self._members = tuple(_member(pod) for pod in sources.pods(inquiry.answering))
        self._gone = sorted(inquiry.answering - {each.uid for each in self._members})
        self._containers: dict[str, tuple[str, int]] = {}
        self._engines: dict[str, Engine] = {}
        self._steps: dict[tuple[tuple[str, int], str], Step] = {}
        self._tasks: dict[tuple[str, int], list[asyncio.Task[None]]] = {}
        self._hopeless: dict[str, str] = {}
        self._leaving: frozenset[tuple[str, int]] = frozenset()
        self._missing = "no router Pod has been asked yet"
        self._listed: dict[str, str] = {}
        self._unlisted: datetime | None = None
        self._closed = False
        self._look = asyncio.Event()

    @property
    def restoring(self) -> bool:
        """Whether members are taken back."""
        return self.inquiry.stage is Stage.RESTORING

    def look(self) -> None:
        """A Pod of the router has changed."""
        self._look.set()

    async def run(self) -> None:
        """Ask until everything that was asked for is known, or until it is cancelled."""
        async with asyncio.TaskGroup() as group:
            if not self.restoring:
                for uid in self._gone:
                    self._engines[uid] = Engine(uid, Unknown("it is gone"))
                for member in self._members:
                    self._engines[member.uid] = Engine(member.name, Unknown("it has not been read yet"))
                    group.create_task(self._engine(member))
            if self.inquiry.router is None:
                group.create_task(self._services())
            else:
                group.create_task(self._router(group))

    # --- routers ---

    async def _router(self, group: asyncio.TaskGroup) -> None:
        """Keep one task for each process of the router, and close once all of them have proven it."""
        assert self.inquiry.router is not None
        first = True
        while not (self.restoring and self._closed):
            self._look.clear()
            proven = self._all_proven()
            try:
                found = await processes.of(
                    self._sources.client, self._key.namespace, self._key.name, self.inquiry.router
                )
            except KubeError as error:
                self._missing = f"the API server does not list the router's Pods: {error}"
                self._weigh()
                await asyncio.sleep(_IDLE)
                continue
            same = self._take(group, found, fresh=not first)
            first = False
            self._missing = ""
            self._closed = same and proven
            self._weigh()
            try:
                async with asyncio.timeout(max(_LOOK, self._slower())):
                    await self._look.wait()
            except TimeoutError:
                continue

    def _take(self, group: asyncio.TaskGroup, found: Sequence[Process], *, fresh: bool) -> bool:
        """Begin with processes that are new, end with those that are gone; says whether they are the same as before."""
        running = {each.identity: each for each in found if each.running}
        hopeless = {
            each.uid: f"router Pod {each.name} {withdrawal.unproven(each.router, each.version)}"
            for each in running.values()
            if each.program is None
        }
        gone = self._tasks.keys() - running.keys()
        come = running.keys() - self._tasks.keys()
        for identity in gone:
            for task in self._tasks.pop(identity):
                task.cancel()
            self._steps = {at: step for at, step in self._steps.items() if at[0] != identity}
        self._hopeless = hopeless
        self._leaving = frozenset(each.identity for each in running.values() if each.leaving)
        for identity in come:
            process = running[identity]
            program = process.program
            members = self._members if program is not None else ()
            self._tasks[identity] = [
                group.create_task(self._process(process, program, member, fresh=fresh))
                for member in members
                if member.address and program is not None
            ]
        return not gone and not come

    def _all_proven(self) -> bool:
        asked = sum(len(tasks) for tasks in self._tasks.values())
        steps = self._steps.values()
        return len(steps) == asked and all(each.verdict is Verdict.PROVEN for each in steps)

    async def _process(self, process: Process, program: withdrawal.Program, member: Member, *, fresh: bool) -> None:
        """Ask one process about one member, over and over."""
        state: State | None = None
        heard: list[Heard] = []
        at = (process.identity, member.uid)
        while True:
            advance = program.restore if self.restoring else program.withdraw
            step = advance(state, heard, self._subject(process, member, fresh=fresh), self._sources.clock())
            self._steps[at], state = step, step.state
            proven = step.verdict is Verdict.PROVEN
            self._closed = self._closed and proven
            self._weigh()
            if proven and not self._closed and self._all_proven():
                self._look.set()
            if proven and self.restoring:
                return
            await asyncio.sleep(max(step.rest, self._slower()))
            heard = [await self._sources.ask(process, ask) for ask in step.asks]

    def _slower(self) -> float:
        passed = (self._sources.clock() - self._began).total_seconds()
        return min(_SLOWEST, passed / _SLOWER) if self.restoring else 0.0

    def _subject(self, process: Process, member: Member, *, fresh: bool) -> Subject:
        inquiry = self.inquiry
        return Subject(
            router=str(process),
            name=member.name,
            address=member.address,
            port=self._sources.port(inquiry, member.uid),
            kind=inquiry.kind,
            paired=process.paired,
            peers=self._sources.peers(self._key, inquiry, paired=process.paired),
            encodes=self._sources.encodes(self._key),
            keyed=process.key is not None,
            fresh=fresh,
            bootstrap_port=member.bootstrap_port,
        )

    # --- engines ---

    async def _engine(self, member: Member) -> None:
        """Read one engine, over and over: less often while it is busy."""
        pause = _IDLE
        while True:
            began = self._sources.clock()
            reading = await self._reading(member)
            ended = self._sources.clock()
            before = self._engines[member.uid]
            engine = self._engines[member.uid] = before.then(reading, began, ended)
            self._weigh()
            if isinstance(reading, Idle) and engine.since is not None:
                left = (engine.since + weighing.STILL - ended).total_seconds()
                await asyncio.sleep(min(_IDLE, left) if left > 0 else self._kept())
                pause = _IDLE
            else:
                await asyncio.sleep(pause)
                pause = min(_BUSY, pause * 1.5)

    def _kept(self) -> float:
        """How long to rest once it is known to be idle: a half of a pair may be handed something at any moment."""
        return _IDLE if self.inquiry.kind in (RoleKind.PREFILL, RoleKind.DECODE) else _BUSY

    async def _reading(self, member: Member) -> Reading:
        """Read an engine, twice where it says that it is idle, while its Pod and its container stay the same."""
        before = self._sources.pod(member.uid)
        url = scraping.url(before.metadata.annotations, before.status.pod_ip) if before is not None else None
        if before is None or (why := self._restarted(before)):
            return Unknown("its Pod is gone" if before is None else why)
        if url is None:
            return Unknown("it does not say where its numbers are read, as a role with a command of its own does not")
        try:
            async with asyncio.timeout(_READ):
                reading = await self._read(url)
                if isinstance(reading, Idle):
                    reading = await self._read(url)
        except TimeoutError:
            return Unknown(f"it was not read within {_READ:g} s")
        after = self._sources.pod(member.uid)
        if after is None or after.status.pod_ip != before.status.pod_ip:
            return Unknown("its Pod went away while it was read")
        why = self._restarted(after)
        return Unknown(why) if why else reading

    async def _read(self, url: str) -> Reading:
        fetched = await self._sources.read(url)
        if fetched.status != _OK:
            said = fetched.why if fetched.status is None else f"HTTP {fetched.status}"
            return Unknown(f"its numbers cannot be read: {said}")
        return inflight.read(fetched.body, ENGINES[self.inquiry.engine].in_flight, self.inquiry.kind)

    def _restarted(self, pod: shapes.Pod) -> str:
        """Say why a container is not the one that is watched; empty where it is."""
        statuses = pod.status.container_statuses
        now = (" ".join(each.container_id for each in statuses), sum(each.restart_count for each in statuses))
        if not statuses:
            return "its container has not started"
        return "" if self._containers.setdefault(pod.metadata.uid, now) == now else "its container was restarted"

    # --- without a router ---

    async def _services(self) -> None:
        """Look whether a Service lists the members: soon again while one does, and once more when they have settled."""
        pause = 0.25
        while True:
            listed = await self._slices()
            now = self._sources.clock()
            if listed is not None:
                self._listed = listed
                self._unlisted = None if listed else (self._unlisted or now)
            self._weigh()
            if self.restoring and listed:
                return
            if self._unlisted is not None and not self.restoring:
                left = (self._unlisted + SETTLE - now).total_seconds()
                await asyncio.sleep(left if left > 0 else SETTLE.total_seconds())
            else:
                await asyncio.sleep(pause)
                pause = min(_BUSY, pause * 2) if not self.restoring else min(_SLOWEST, pause * 2)

    async def _slices(self) -> dict[str, str] | None:
        """Answer the slice in which each member is listed, by its Pod's name; None where nobody told."""
        services = self._sources.services(self._key)
        if not services:
            return {}
        labels = f"{keys.SERVICE_NAME} in ({','.join(services)})"
        try:
            slices = await self._sources.client.list(ENDPOINT_SLICES, self._key.namespace, labels=labels)
        except KubeError as error:
            log.debug("slices not listed", extra={"object": str(self._key), "reason": str(error)})
            return None
        return {
            member.name: each.metadata.name
            for each in slices.items
            for endpoint in each.endpoints
            for member in self._members
            if endpoint.target_ref.uid == member.uid or member.address in endpoint.addresses
        }

    # --- what it comes to ---

    def _said(self, at: tuple[tuple[str, int], str]) -> Step:
        """What a process said last; one that is being deleted is waited for, as it answers no more and then is gone."""
        step = self._steps[at]
        if step.verdict is not Verdict.IMPOSSIBLE or at[0] not in self._leaving:
            return step
        return replace(step, verdict=Verdict.WAITING, reason=f"{step.reason}; it is being deleted")

    def _weigh(self) -> None:
        now = self._sources.clock()
        engines = tuple(self._engines.values())
        asked = Asked(
            steps=tuple(self._said(at) for at in sorted(self._steps)),
            hopeless=tuple(self._hopeless[uid] for uid in sorted(self._hopeless)),
            closed=self._closed,
            missing=self._missing or ("a member's Pod is gone" if self._gone else ""),
        )
        if self.inquiry.router is not None:
            way = weighing.let_go(asked)
        elif self.restoring:
            way = Leg(Verdict.PROVEN if self._listed else Verdict.WAITING, "an EndpointSlice lists it again")
        else:
            way = weighing.unlisted(self._listed, self._unlisted, SETTLE, now)
        back = Leg(Verdict.WAITING, "it is being taken back")
        self._told(
            Evidence(
                members=self.inquiry.members,
                withdrawal=back if self.restoring else way,
                idle=back if self.restoring else weighing.empty(engines, asked if self.inquiry.router else Asked()),
                idle_since=weighing.idle_since(engines),
                in_flight=weighing.in_flight(engines) if engines else None,
                restored=way if self.restoring else None,
            )
        )


def _member(pod: shapes.Pod) -> Member:
    meta = pod.metadata
    said = meta.annotations.get(keys.SGLANG_BOOTSTRAP_PORT, meta.annotations.get(keys.VLLM_BOOTSTRAP_PORT, ""))
    port = int(said[:6]) if said.isascii() and said.isdigit() else None
    return Member(meta.uid, meta.name, pod.status.pod_ip, port)
