"""The scaler's controller: rule, read engines, plan and commit, once an interval and scaler."""

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple, Protocol, assert_never

import msgspec

from modeldeployment.api import keys
from modeldeployment.api.binding import Binding
from modeldeployment.kube import Client, Conflict, Forbidden, Grant, Invalid, NotFound, PatchType, Recorder, shapes
from modeldeployment.scaler import binding, committing, observing, standing, wording
from modeldeployment.scaler.acting import Actor, Recording
from modeldeployment.scaler.binding import Acquire, Hold, Release, Stay, Watch
from modeldeployment.scaler.case import Case
from modeldeployment.scaler.errors import Unreadable
from modeldeployment.scaler.observing import Declared
from modeldeployment.scaler.planning import Memory, Reading
from modeldeployment.scaler.reporting import Report
from modeldeployment.scaler.sampling import Engine
from modeldeployment.scaler.standing import Standing, Wanted
from modeldeployment.scaler.tallying import Tally
from modeldeployment.scaler.telling import Teller
from modeldeployment.scaler.watching import SCALERS, Key, Watched

log: Final = logging.getLogger(__name__)

GRANTS: Final = (Grant(SCALERS, ("patch",), "hold a scaler until its binding is released"),)

SHORTLY: Final = 0.5
"""Seconds until a pass that lost a race, or that waits for its own write to come back, is taken again."""
STRIDE: Final = 20
"""Scalers that are read back before others have their turn."""
LATER: Final = 30.0
"""Seconds until a write that was refused is tried again, and a binding of another scaler is looked at again."""


class Sampling(Protocol):
    """Who reads engines; `sampling.Sampler` does."""

    async def sample(
        self,
        scaler: str,
        interval_seconds: int,
        members: Sequence[Engine],
        now: datetime,
        *,
        ready: Mapping[str, int],
        standing: Callable[[Engine], bool],
    ) -> Reading:
        """Read the engines of one scaler, unless its interval has not passed since the last time."""
        ...

    def rest(self, scaler: str, interval_seconds: int) -> float:
        """Answer the seconds until they may be read again."""
        ...

    def forget(self, scaler: str) -> None:
        """Let everything go that was read for a scaler."""
        ...


class Scaled(NamedTuple):
    """One count of one role, for the operator's metrics."""

    namespace: str
    scaler: str
    role: str
    which: str
    """current, ready, recommended or constrained."""
    replicas: int


class ScalerController:
    """Rules, plans and commits for ModelDeploymentScalers; `reconcile(key)` is one pass.

    `clock` is the only source of time and `ids` of decision ids. What scalers remember is kept in memory and read back
    from status by `begin`, whenever the lead is taken.
    """

    def __init__(
        self,
        client: Client,
        watched: Watched,
        recorder: Recorder,
        sampler: Sampling,
        journal: Recording,
        clock: Callable[[], datetime],
        ids: Callable[[], str],
        tally: Tally | None = None,
    ) -> None:
        self._client = client
        self._watched = watched
        self._sampler = sampler
        self._journal = journal
        self._clock = clock
        self._standing: dict[Key, Standing] = {}
        self.tally = tally or Tally()
        self._teller = Teller(client, watched, recorder, clock, self.tally)
        self._actor = Actor(client, self._teller, journal, clock, ids, self.tally)

    async def begin(self) -> None:
        """Read back what every scaler remembers, as new as the last write of whoever led before. Raises KubeError."""
        listing = await self._client.list(SCALERS)
        self._standing.clear()
        now = self._clock()
        for number, stored in enumerate(listing.items):
            if number % STRIDE == 0:
                await asyncio.sleep(0)
            each = standing.of(stored)
            try:
                each.due = standing.first_due(each.uid, each.read(stored).policy.interval_seconds, now)
            except Unreadable:  # its pass says so
                continue
            self._standing[Key(stored.metadata.namespace, stored.metadata.name)] = each
        self._watched.wake_all()

    def rest(self) -> None:
        """Others scale from now on: what is remembered here is no longer true."""
        for key in self._standing:
            self._sampler.forget(str(key))
        self._standing.clear()

    def scaled(self) -> Iterator[Scaled]:
        """The counts of every role that status tells."""
        for key, each in self._standing.items():
            for role in each.outline.roles:
                told = {
                    "current": role.current,
                    "ready": role.ready,
                    "recommended": role.raw,
                    "constrained": role.constrained,
                }
                for which, replicas in told.items():
                    if replicas is not None:
                        yield Scaled(key.namespace, key.name, role.name, which, replicas)

    async def reconcile(self, key: Key) -> float | None:
        """Take one pass over a scaler: seconds until the next at the latest, None where a change must wake it.

        Raises KubeError or Unreadable where the pass could not be finished; it is then tried again.
        """
        stored = self._watched.scalers.get(key.namespace, key.name)
        if stored is None:
            self._standing.pop(key, None)
            self._sampler.forget(str(key))
            self._journal.forget(key.namespace, key.name)
            return None
        each = self._standing.get(key)
        if each is None or each.uid != stored.metadata.uid:
            each = self._standing[key] = standing.of(stored)
        try:
            return await self._pass(key, stored, each)
        except (Conflict, NotFound) as late:
            log.debug("pass wrote to what has changed, taken again", extra={"object": str(key), "reason": late.reason})
            return SHORTLY

    async def _pass(self, key: Key, stored: shapes.Custom, each: Standing) -> float | None:
        wanted = each.read(stored)
        if each.untold:
            await self._teller.write(key, each)
        case = self._case(key, stored, each, wanted)
        if each.unsettled is not None and not await self._actor.settle(case, each.unsettled):
            return SHORTLY
        if self._watched.deployments.revision < each.wrote:
            return SHORTLY  # the store does not show our own last write
        case = self._case(key, stored, each, wanted)
        if case.ruling.acknowledged:
            await self._clear(case)
            return 0.0
        try:
            return await self._follow(case)
        except (Forbidden, Invalid) as refusal:
            told = wording.refused(f"a write about ModelDeployment {case.name}", str(refusal))
            await self._teller.emit(stored, told)
            return LATER

    def _case(self, key: Key, stored: shapes.Custom, each: Standing, wanted: Wanted) -> Case:
        """Rule on a scaler as it stands now."""
        target = self._target(key.namespace, wanted.spec.target_ref.name)
        ruling = binding.ruling(each.owner(stored, wanted), target.claimed if target is not None else None)
        return Case(key, stored, each, wanted, target, ruling)

    def _target(self, namespace: str, name: str) -> Declared | None:
        stored = self._watched.deployments.get(namespace, name)
        try:
            return observing.declared(stored) if stored is not None else None
        except msgspec.DecodeError as error:
            raise Unreadable(f"ModelDeployment {name} cannot be read: {error}") from error

    # --- the binding -------------------------------------------------------------------------------------------------

    async def _follow(self, case: Case) -> float | None:
        """Do what was ruled."""
        leaving = case.stored.metadata.deletion_timestamp is not None
        if isinstance(case.ruling.next, Acquire | Release) and case.target is not None:
            await self._claim(case, case.target, case.ruling.next)
            if not leaving:
                return SHORTLY
        if leaving or not case.ruling.needs_finalizer:
            await self._finalize(case, held=False)
        if leaving:
            return None
        match case.ruling.next:
            case Hold() | Watch() if case.target is not None:
                return await self._scale(case, case.target)
            case Stay():
                await self._teller.tell(case)
                return LATER if case.ruling.by is not None else None
            case _:
                return SHORTLY

    async def _claim(self, case: Case, target: Declared, wish: Acquire | Release) -> None:
        """Take or give back the target; what holds the scaler until it is given back comes first."""
        namespace, each = case.key.namespace, case.standing
        match wish:
            case Acquire(term):
                await self._finalize(case, held=True)
                own = Binding(scaler_name=case.key.name, scaler_uid=each.uid, term=term)
                version = await committing.bind(self._client, namespace, target, own)
                told = wording.taken(target.name, term)
                self.tally.count(self.tally.bindings, "Acquired")
            case Release(term):
                if case.stored.metadata.deletion_timestamp is None:
                    await self._teller.tell(case)  # the annotation that tells the term goes, and status keeps it
                version = await committing.release(self._client, namespace, target)
                told = wording.released(target.name, term)
                self.tally.count(self.tally.bindings, "Released")
            case other:
                assert_never(other)
        each.wrote = int(version)
        log.info("binding written", extra={"object": str(case.key), "reason": told.note})
        await self._teller.emit(case.stored, told)

    async def _finalize(self, case: Case, *, held: bool) -> None:
        meta = case.stored.metadata
        if (keys.SCALER_FINALIZER in meta.finalizers) == held:
            return
        others = [each for each in meta.finalizers if each != keys.SCALER_FINALIZER]
        metadata = {
            "uid": meta.uid,
            "resourceVersion": meta.resource_version,
            "finalizers": [*others, keys.SCALER_FINALIZER] if held else others,
        }
        body = {"metadata": metadata}
        await self._client.patch(SCALERS, case.key.name, body, case.key.namespace, how=PatchType.MERGE)

    async def _clear(self, case: Case) -> None:
        """Forget everything about a target that another one has taken the place of."""
        each = case.standing
        each.memory = Memory()
        each.refused = each.reverted = ""
        each.due = None
        self._sampler.forget(str(case.key))
        await self._teller.report(case.key, each, Report(case.wanted.generation, None, (), cleared=True))

    # --- planning ----------------------------------------------------------------------------------------------------

    async def _scale(self, case: Case, target: Declared) -> float:
        """Read engines and plan, where that is due; else only say what was ruled."""
        each, began, interval = case.standing, self._clock(), case.wanted.policy.interval_seconds
        if each.due is not None and each.planned == case.wanted.generation:
            each.due = min(each.due, began + timedelta(seconds=interval))  # the clock may have been put back
            early = max((each.due - began).total_seconds(), self._sampler.rest(str(case.key), interval))
            if early > 0:
                await self._teller.tell(case)
                return early
            self.tally.lateness.add((began - each.due).total_seconds())
        seen = self._seen(target)
        reading = await self._sampler.sample(
            str(case.key),
            interval,
            observing.engines(target, seen),
            began.replace(microsecond=0),
            ready=observing.ready(seen.target),
            standing=lambda engine: observing.answers_still(engine, self._watched.pods),
        )
        # Meanwhile seats have moved on, and so may everything have that was ruled on.
        now = self._watched.scalers.get(case.key.namespace, case.key.name)
        if now is None or now.metadata.uid != each.uid or now.metadata.generation != case.wanted.generation:
            return 0.0
        again = self._case(case.key, now, each, case.wanted)
        if again.target is None or again.ruling != case.ruling:
            return 0.0
        each.due = began + timedelta(seconds=interval)
        each.planned = case.wanted.generation
        await self._actor.act(again, again.target, self._seen(again.target), reading)
        return max(0.0, (each.due - self._clock()).total_seconds()) if each.due is not None else SHORTLY

    def _seen(self, target: Declared) -> observing.Seen:
        return observing.seen(target, self._watched.pods, self._watched.workloads)
