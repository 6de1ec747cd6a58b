"""Random interleavings of evidence, restarts, edits and losses: what must hold of every pass of a retirement.

The world is the smallest that has all of it: some replicas of a role, each with a Pod or two, and a status that holds
nothing but what it can hold. Every pass goes by way of it, so that each is a restart too.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st
from modeldeployment.api import RetirementState
from modeldeployment.reconcile.retiring import machine
from modeldeployment.reconcile.retiring.evidence import Evidence, Leg
from modeldeployment.reconcile.retiring.intents import Intent, Occupant
from modeldeployment.reconcile.retiring.machine import Scene, Turn
from modeldeployment.reconcile.retiring.reservation import BEFORE_DELETE, Reservation
from modeldeployment.router.withdrawal import Verdict
from retiring_worlds import NOW, PROVEN, stored_again

BEFORE = {state.value for state in BEFORE_DELETE}
LONGEST = timedelta(seconds=300)
LEGS = [Leg(verdict, verdict.value) for verdict in Verdict]

witnessings = st.sampled_from([0, 0, 0, 0, 1, 1, 3, 3, 4, 2, 6])
events = st.one_of(
    st.tuples(st.just("scale"), st.integers(0, 4)),
    st.tuples(st.just("witness"), witnessings),
    st.tuples(st.just("witness"), witnessings),
    st.tuples(st.just("witness"), witnessings),
    st.tuples(st.sampled_from(["lose", "end", "label", "reach"]), st.integers(0, 7)),
    st.tuples(st.sampled_from(["edit", "forget", "others"]), st.just(0)),
    st.tuples(st.just("retry"), st.integers(0, 3)),
    st.tuples(st.sampled_from(["last", "stick"]), st.sampled_from([0, 0, 1])),
    st.tuples(st.just("wait"), st.sampled_from([0, 1, 5, 30, 240])),
)


@dataclass
class Small:
    """A role whose replicas have `size` Pods; `stuck` Pods stay when they are deleted."""

    size: int
    replicas: int = 4
    generation: int = 1
    now: datetime = NOW
    pods: dict[str, Occupant] = field(default_factory=dict)
    workloads: set[str] = field(default_factory=set)
    stored: Reservation | None = None
    withdrawal: Leg = LEGS[1]
    idle: Leg = LEGS[1]
    witnessed: bool = False
    others: bool = False
    retry: str = ""
    last: bool = False
    stuck: bool = False
    window: timedelta | None = None
    operations: int = 0

    def __post_init__(self) -> None:
        for ordinal in range(4):
            self.workloads.add(f"w{ordinal}")
            for index in range(self.size):
                uid = f"{ordinal}.{index}"
                self.pods[uid] = Occupant(uid, uid, leads=index == 0, eligible=index == 0)

    def replica(self, ordinal: int) -> tuple[Occupant, ...]:
        """The Pods of a replica."""
        return tuple(each for uid, each in self.pods.items() if uid.startswith(f"{ordinal}."))

    def intents(self) -> Iterable[Intent]:
        """Whole replicas beyond the declared count, highest first; broken ones go another way."""
        for ordinal in range(3, self.replicas - 1, -1):
            members = self.replica(ordinal)
            if len(members) == self.size and all(each.stands for each in members):
                yield Intent("r", ordinal, members, f"w{ordinal}", self.window, self.last)

    def scene(self) -> Scene:
        """What a pass sees."""
        stored = self.stored
        target = tuple(self.pods[uid] for uid in sorted(stored.members) if uid in self.pods) if stored else ()
        whom = frozenset({"somebody"}) if self.others else stored.members if stored else frozenset()
        said = Evidence(whom, self.withdrawal, self.idle, restored=PROVEN)
        return Scene(
            generation=self.generation,
            intents=tuple(self.intents()),
            target=target,
            workload=stored is not None and stored.workload in self.workloads,
            healthy=bool(target) and all(each.stands for each in target),
            window=self.window,
            last=self.last,
            evidence=said if self.witnessed else None,
            retry=self.retry,
        )

    def happen(self, what: str, value: int) -> None:
        """Let one thing happen."""
        uid = sorted(self.pods)[value % len(self.pods)] if self.pods else ""
        self.others = what == "others"
        match what:
            case "scale":
                self.replicas = value
                self.generation += 1
            case "edit":
                self.generation += 1
            case "lose" if uid:
                del self.pods[uid]
            case "end" if uid:
                self.pods[uid] = replace(self.pods[uid], over=True)
            case "label" if uid:
                self.pods[uid] = replace(self.pods[uid], eligible=True)
            case "reach" if uid:
                self.pods[uid] = replace(self.pods[uid], untouched=not self.pods[uid].untouched)
            case "retry":
                self.retry = f"r:{value}:{self.now:%H%M%S}"
            case "witness":
                self.withdrawal, self.idle, self.witnessed = LEGS[value // 3], LEGS[value % 3], True
            case "forget":
                self.witnessed = False
            case "last":
                self.last = bool(value)
            case "stick":
                self.stuck = bool(value)
            case "wait":
                self.now += timedelta(seconds=value)

    def turn(self) -> None:
        """One pass, checked, and what it asks for carried out."""
        seen = self.scene()
        turn = machine.advance(self.stored, seen, self.now)
        check(self.stored, seen, turn, self.now)
        self._carry_out(turn)
        self.now += timedelta(seconds=1)

    def _carry_out(self, turn: Turn) -> None:
        before, self.stored = self.stored, stored_again(turn.reservation)
        if self.stored is not None and (before is None or before.members != self.stored.members):
            self.operations += 1
        if turn.done_with_retry:
            self.retry = ""
        if self.stored is None:
            return
        under_way = self.stored.under_way
        for uid in self.stored.members & set(self.pods):
            self.pods[uid] = replace(self.pods[uid], eligible=not under_way and self.pods[uid].leads)
        if turn.deletes and not self.stuck:
            for uid in self.stored.members:
                self.pods.pop(uid, None)
            self.workloads.discard(self.stored.workload)

    def broken(self) -> None:
        """What other paths take away: replicas that lost a member or ended."""
        for ordinal in range(4):
            members = self.replica(ordinal)
            if members and (len(members) < self.size or any(not each.stands for each in members)):
                for each in members:
                    self.pods.pop(each.uid, None)


def check(stored: Reservation | None, seen: Scene, turn: Turn, now: datetime) -> None:
    """Raise AssertionError where a pass breaks a promise of the protocol."""
    kept = turn.reservation
    if stored is not None and stored.under_way and kept is not None:
        assert kept.members == stored.members, "two operations at once"
        assert kept.started == stored.started, "an operation under way begins anew"
    if turn.deletes:
        assert kept is not None, "deletes what nobody reserved"
        assert kept.state in (RetirementState.DELETING, RetirementState.SETTLING), "deletes before it is decided"
        assert stored is not None, "deletes in the admitting pass"
        if stored.state is RetirementState.DRAINING:
            _check_proven(stored, seen)
        else:
            assert stored.state in (RetirementState.DELETING, RetirementState.SETTLING), "skips a state"
    if kept is not None and kept.state.value in BEFORE:
        end = machine.spent_at(kept)
        assert end is not None
        assert now < end <= kept.started + LONGEST, "a state before the delete outlives its budget"
        assert turn.until is not None, "nothing wakes an operation that is under way"
        assert now < turn.until <= end, "an operation under way is looked at too late"


def _check_proven(stored: Reservation, seen: Scene) -> None:
    assert stored.members <= {each.uid for each in seen.target if each.stands}, "deletes a target that changed"
    assert all(any(uid in each.uids for each in seen.intents) for uid in stored.members), "deletes what is declared"
    assert not any(each.eligible for each in seen.target), "deletes what may be sent requests"
    assert not seen.last, "deletes the last of its kind"
    if all(each.untouched for each in seen.target if each.leads):
        return
    assert seen.evidence is not None, "deletes without evidence"
    assert seen.evidence.members == stored.members, "deletes on evidence of others"
    assert seen.evidence.withdrawal.verdict is Verdict.PROVEN, "deletes before routers have let go"
    assert seen.evidence.idle.verdict is Verdict.PROVEN, "deletes what is busy"


@settings(max_examples=1000, deadline=None)
@given(
    size=st.integers(1, 2),
    replicas=st.integers(0, 3),
    window=st.sampled_from([None, 30]),
    history=st.lists(st.tuples(events, st.integers(0, 4)), max_size=20),
)
def test_no_interleaving_runs_two_operations_deletes_before_evidence_or_stays_stuck(
    size: int, replicas: int, window: int | None, history: list[tuple[tuple[str, int], int]]
) -> None:
    world = Small(size, replicas, window=None if window is None else timedelta(seconds=window))
    for (what, value), passes in history:
        world.happen(what, value)
        for _ in range(passes):
            world.turn()
    _calm(world)


def _calm(world: Small) -> None:
    """Nothing goes wrong any more and somebody asks anew: everything that is to leave leaves, and nobody else."""
    world.withdrawal = world.idle = PROVEN
    world.witnessed, world.others, world.last, world.stuck, world.retry = True, False, False, False, ""
    world.generation += 1
    for _ in range(600):
        world.broken()
        world.turn()
        if world.stored is None and not tuple(world.intents()):
            break
    assert world.stored is None or not world.stored.under_way, world.stored
    kept = {int(uid.split(".")[0]) for uid in world.pods}
    assert all(ordinal < world.replicas for ordinal in kept), (kept, world.stored)
