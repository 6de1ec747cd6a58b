"""The set controller: opens the groups of a deployment together, parks what never fits, and breaks circles of sets."""

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final, TypeAlias, assert_never

from modeldeployment.api.kueue import CheckState
from modeldeployment.kube import Client, Grant, NotFound, WorkQueue, shapes
from modeldeployment.kube.kinds import PODS
from modeldeployment.reconcile import gathering, observing, responding
from modeldeployment.reconcile.opening import Opening
from modeldeployment.reconcile.sets import counting, verdicts, yielding
from modeldeployment.reconcile.sets.counting import Count
from modeldeployment.reconcile.sets.seen import Set, Shared, Stranger, Workload
from modeldeployment.reconcile.sets.verdicts import Activate, Answer, Move, Shelve, Verdicts
from modeldeployment.reconcile.sets.yielding import Standing
from modeldeployment.reconcile.watching import Key, Watched

log = logging.getLogger(__name__)

GRANTS: Final = (Grant(PODS, ("get",), "tell whose a Workload is where its Pod is not among ours"),)

_AGAIN: Final = 0.1
"""Seconds until a pass that came too late is taken again."""

_POD: Final = PODS.partial()


@dataclass(frozen=True, slots=True)
class Single:
    """A Workload that is answered for itself: of no set, or of one that holds nothing together."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"workload {self.namespace}/{self.name}"


Joint: TypeAlias = Key | Single
"""What a pass of set admission is about: a deployment with all of its Workloads, or one Workload."""


@dataclass(slots=True)
class SetTally:
    """What the controller has done since it started, for the operator's metrics."""

    verdicts: dict[str, int] = field(default_factory=dict)
    parks: int = 0
    yields: int = 0
    reactivations: int = 0
    owner_reads: int = 0
    late: int = 0


class SetController:
    """Answers our admission checks; `reconcile(key)` is one pass.

    Its queue is filled from `begin` on; a pass adds what else must be looked at. `clock` is the only source of time.
    """

    def __init__(
        self, client: Client, watched: Watched, queue: WorkQueue[Joint], clock: Callable[[], datetime]
    ) -> None:
        self._client = client
        self._watched = watched
        self._queue = queue
        self._clock = clock
        self._begun = False
        self._ours = frozenset[str]()
        self._groups = observing.Reductions[shapes.Workload, Workload](self._reduced)
        self._roles = gathering.Roles()
        self._standings: dict[Key, Standing] = {}
        self._foreign: set[str] = set()
        self._strays: dict[Key, dict[str, str]] = {}
        self._wrote: dict[str, int] = {}
        self._spoke: dict[str, datetime] = {}
        self._opening = Opening()
        self.tally = SetTally()
        watched.deployments.subscribe(self._deployment)
        watched.pods.subscribe(self._pod)
        watched.workloads.subscribe(self._workload)
        watched.queues.on_change(self._queues)

    def opening(self) -> bool:
        """Whether Workloads that were let go are on their way in, or the next is likely to follow."""
        return self._opening.lasts(self._clock())

    def begin(self) -> None:
        """Look at everything that is there, and from now on at what changes; doing it again is doing it anew."""
        self._begun = True
        self._renew()
        for stored in self._watched.deployments.items():
            if len(self._roles.of(stored)) > 1:
                self._stand(stored)
            self._queue.add(Key(stored.metadata.namespace, stored.metadata.name))
        for each in self._watched.workloads.items():
            if self._groups.of(each).open:
                self._wake(each)

    def rest(self) -> None:
        """Look at nothing until the next `begin`: somebody else answers."""
        self._begun = False
        self._standings.clear()
        self._strays.clear()
        self._opening = Opening()
        self._roles = gathering.Roles()  # what goes away meanwhile is not told
        self._groups = observing.Reductions[shapes.Workload, Workload](self._reduced)

    async def reconcile(self, key: Joint) -> float | None:
        """Take one pass: seconds until the next look at the latest, None where a change must wake it.

        Raises KubeError where the pass could not be finished; it is then tried again.
        """
        match key:
            case Single():
                return await self._single(key)
            case Key():
                return await self._joint(key)
            case other:
                assert_never(other)

    # --- passes ---

    async def _single(self, key: Single) -> float | None:
        stored = self._watched.workloads.get(key.namespace, key.name)
        if stored is None:
            return None
        workload = self._groups.of(stored)
        # Whose it is, is found out before its quota comes, so that the answer then costs no read.
        answered = workload.admitted or workload.leaving or not workload.active
        if not workload.entries or answered or self._stale(workload):
            return None
        whose = await self._whose(stored)
        if isinstance(whose, Key):
            deployment = self._watched.deployments.get(*whose)
            if deployment is not None and len(self._roles.of(deployment)) > 1:
                self._queue.add(whose)
                return None
            decided = verdicts.exempt((workload,), self._clock())
        else:
            decided = verdicts.alone(workload, whose, self._clock())
        return await self._carried_out(key, key.namespace, decided)

    async def _joint(self, key: Key) -> float | None:
        stored = self._watched.deployments.get(*key)
        if stored is None:
            self._roles.forget(key)
            self._strays.pop(key, None)
            self._standings.pop(key, None)
            self._wake_yielding(key)
            return None
        of, count, mine = self._stand(stored)
        for each in of.shared:
            if each.open:
                self._queue.add(Single(key.namespace, each.name))
        if any(self._stale(each) for each in of.workloads):
            return None  # the change that is on its way wakes it
        return await self._carried_out(key, key.namespace, self._decided(of, count, mine))

    def _decided(self, of: Set, count: Count, mine: Standing) -> Verdicts:
        now = self._clock()
        back: tuple[Activate, ...] = ()
        if mine.gives_way is not None:
            older = self._current(Key(mine.gives_way.namespace, mine.gives_way.name))
            if yielding.ends(mine.gives_way, older, now):
                back = yielding.returning(of)
            elif not count.complete:
                return Verdicts(yielding.shelved(of, mine.gives_way, now), yielding.until(mine.gives_way))
        answers = verdicts.joint(of, count, now, lambda each: self._spoke.get(each.uid), self._opening.last)
        decided = Verdicts((*back, *answers.moves), answers.again)
        if back or of.exempt:
            return decided
        return self._untangled(of, mine, decided, now)

    def _untangled(self, of: Set, mine: Standing, decided: Verdicts, now: datetime) -> Verdicts:
        """What was decided, unless the set is part of a circle and it is its turn to give way."""
        turn = yielding.turn(mine, self._standings.values(), now)
        if turn is not None:
            # Decided once more on fresh readings: a set may have changed and its own pass may still be to come.
            for each in (turn.youngest, *turn.others):
                self._current(Key(*each.key))
            turn = yielding.turn(mine, self._standings.values(), now)
        again = [each for each in (decided.again, yielding.next_look(mine, now)) if each is not None]
        if turn is None:
            return Verdicts(decided.moves, min(again, default=None))
        if turn.at > now or turn.youngest.uid != of.uid:
            self._queue.wake(Key(*turn.youngest.key), max(0.0, (turn.at - now).total_seconds()))
            return Verdicts(decided.moves, min(again, default=None))
        to = yielding.begin(turn, now)
        for each in turn.others:
            self._queue.wake(Key(*each.key), yielding.SETTLING.total_seconds())
        self.tally.yields += 1
        log.info("set gives way", extra={"object": f"{of.namespace}/{of.name}", "reason": to.marker()})
        return Verdicts(yielding.shelved(of, to, now), yielding.until(to))

    async def _carried_out(self, key: Joint, namespace: str, decided: Verdicts) -> float | None:
        now = self._clock()
        late = bool(decided.moves) and await responding.carry_out(
            self._client, namespace, decided.moves, self._note_write, lambda move: self._count(key, move, now)
        )
        if late:
            self.tally.late += 1
            return _AGAIN
        return None if decided.again is None else max(0.0, (decided.again - self._clock()).total_seconds())

    def _count(self, key: Joint, move: Move, now: datetime) -> None:
        match move:
            case Answer(workload=workload, entries=entries):
                self._spoke[workload.uid] = now
                state = entries[0].state
                if state == CheckState.READY:
                    self._opening.let_go(workload.uid, self._clock())
                self.tally.verdicts[state] = self.tally.verdicts.get(state, 0) + 1
            case Shelve(parked=True):
                self.tally.parks += 1
                extra = {"object": str(key), "reason": move.entries[0].message}
                log.info("workload parked", extra=extra)
            case Shelve():
                pass
            case Activate():
                self.tally.reactivations += 1
            case other:
                assert_never(other)

    # --- reading ---

    def _reduced(self, seen: shapes.Workload, /) -> Workload:
        return gathering.workload(seen, self._ours)

    def _stand(self, stored: shapes.Custom) -> tuple[Set, Count, Standing]:
        """Read a set as it is now, and let the others know where it stands."""
        key = Key(stored.metadata.namespace, stored.metadata.name)
        of = gathering.gathered(
            self._watched, stored, self._roles.of(stored), self._groups.of, tuple(self._strays_of(key))
        )
        count = counting.count(of)
        mine = yielding.standing(of, count)
        before = self._standings.get(key)
        if of.exempt:
            self._standings.pop(key, None)
        else:
            self._standings[key] = mine
        if before is None or replace(before, waits=mine.waits, holds=mine.holds) != mine:
            self._wake_yielding(key)
        return of, count, mine

    def _current(self, key: Key) -> Standing | None:
        stored = self._watched.deployments.get(*key)
        return None if stored is None else self._stand(stored)[2]

    def _strays_of(self, key: Key) -> Iterator[shapes.Workload]:
        for uid, name in self._strays.get(key, {}).items():
            stored = self._watched.workloads.get(key.namespace, name)
            if stored is not None and stored.metadata.uid == uid:
                yield stored

    async def _whose(self, stored: shapes.Workload) -> Key | Stranger | Shared:
        """Whose a Workload is, told by its Pods; the API server is asked where none of them is among ours.

        All Pods of a group come from one maker (facts atomic-admission §3), so the first that is read tells.
        """
        owners = gathering.pod_owners(stored)
        uid = stored.metadata.uid
        if not owners or uid in self._foreign:
            return Stranger.FOREIGN
        makers = gathering.deployments_of(self._watched, stored)
        if len(makers) > 1:
            return Shared(tuple(sorted(map(str, makers.values()))))
        for maker, key in makers.items():
            return self._standing_for((key, maker), uid)
        if any(True for owner in owners for _ in self._watched.pods.by_index("uid", owner.uid)):
            return self._standing_for(None, uid)
        for owner in owners:
            self.tally.owner_reads += 1
            try:
                read = await self._client.get(_POD, owner.name, stored.metadata.namespace)
            except NotFound:
                continue
            if read.metadata.uid == owner.uid:
                whose = self._standing_for(gathering.deployment_of(read.metadata), uid)
                if isinstance(whose, Key):
                    self._strays.setdefault(whose, {})[uid] = stored.metadata.name
                return whose
        return Stranger.UNDECIDED

    def _standing_for(self, controller: tuple[Key, str] | None, workload_uid: str) -> Key | Stranger:
        if controller is None:
            self._foreign.add(workload_uid)
            return Stranger.FOREIGN
        key, uid = controller
        deployment = self._watched.deployments.get(*key)
        if deployment is None or deployment.metadata.uid != uid:
            return Stranger.UNDECIDED
        return key

    # --- our own writes ---

    def _note_write(self, uid: str, version: str) -> None:
        self._wrote[uid] = int(version)

    def _stale(self, workload: Workload) -> bool:
        """Whether the store has not seen our own last write of a Workload."""
        wrote = self._wrote.get(workload.uid)
        if wrote is None:
            return False
        if int(workload.version) < wrote:
            return True
        del self._wrote[workload.uid]
        return False

    # --- what wakes a pass ---

    def _deployment(self, old: shapes.Custom | None, new: shapes.Custom | None) -> None:
        if not self._begun or (
            old is not None and new is not None and gathering.edition(old) == gathering.edition(new)
        ):
            return
        for each in (old, new):
            if each is not None:
                self._queue.add(Key(each.metadata.namespace, each.metadata.name))
        if new is None and old is not None:
            for pod in self._watched.pods.by_index("owner", old.metadata.uid):
                for workload in self._watched.workloads.by_index("member", pod.metadata.uid):
                    self._queue.add(Single(workload.metadata.namespace, workload.metadata.name))

    def _pod(self, old: shapes.Pod | None, new: shapes.Pod | None) -> None:
        if not self._begun or (old is not None and new is not None and gathering.place(old) == gathering.place(new)):
            return
        for each in (old, new):
            controller = gathering.deployment_of(each.metadata) if each is not None else None
            if controller is not None and self._holds_together(controller[0]):
                self._queue.add(controller[0])

    def _workload(self, old: shapes.Workload | None, new: shapes.Workload | None) -> None:
        if self._begun and new is not None and not self._groups.of(new).open:
            self._opening.came(new.metadata.uid)
        if self._begun and not self._alike(old, new):
            for each in (old, new):
                if each is not None:
                    self._wake(each)
        if old is not None and new is None:  # last, since waking reads it once more
            self._forget(old)

    def _alike(self, old: shapes.Workload | None, new: shapes.Workload | None) -> bool:
        if old is None or new is None or old.metadata.uid != new.metadata.uid:
            return False
        if new.metadata.uid in self._wrote:
            return False  # a pass may have left it to this change, though it reads as it did before we wrote
        before, after = self._groups.of(old), self._groups.of(new)
        return replace(before, version=after.version) == after

    def _forget(self, workload: shapes.Workload) -> None:
        uid = workload.metadata.uid
        self._groups.alike(workload, None)
        self._foreign.discard(uid)
        self._wrote.pop(uid, None)
        self._spoke.pop(uid, None)
        self._opening.came(uid)
        for strays in self._strays.values():
            strays.pop(uid, None)

    def _wake(self, workload: shapes.Workload) -> None:
        """Wake the set of a Workload, or the Workload alone where nothing, or more than one set, holds it together."""
        makers = gathering.deployments_of(self._watched, workload)
        together = [key for key in makers.values() if self._holds_together(key)]
        for key in together:
            self._queue.add(key)
        if together and len(makers) == 1:
            return
        if self._groups.of(workload).entries:
            self._queue.add(Single(workload.metadata.namespace, workload.metadata.name))

    def _holds_together(self, key: Key) -> bool:
        stored = self._watched.deployments.get(*key)
        return stored is not None and len(self._roles.of(stored)) > 1

    def _wake_yielding(self, to: Key) -> None:
        """Wake the sets that gave way to one that changed."""
        for key, each in self._standings.items():
            if each.gives_way is not None and (each.gives_way.namespace, each.gives_way.name) == to:
                self._queue.add(key)

    def _queues(self) -> None:
        """Queues lead elsewhere, share otherwise, or ask for other checks."""
        if self._begun and self._watched.queues.ours() != self._ours:
            self.begin()
        elif self._begun:
            for key, each in self._standings.items():
                # One whose queue led nowhere until now is not known to wait for anything.
                if not each.admitted:
                    self._queue.add(key)

    def _renew(self) -> None:
        ours = self._watched.queues.ours()
        if ours != self._ours:
            self._ours = ours
            self._groups = observing.Reductions[shapes.Workload, Workload](self._reduced)
