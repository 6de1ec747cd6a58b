"""A deployment as planning sees it, imagined: replicas are admitted while there is quota, and retire one by one.

What a pass may never do is held after each of them, whatever was drawn.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from modeldeployment.api import Quantity, RetirementState, RoleKind
from modeldeployment.api.scalerstatus import Outcome, SignalState
from modeldeployment.scaler.planning import coding, guarding, pacing, plan, ratios
from modeldeployment.scaler.planning.memory import Memory
from modeldeployment.scaler.planning.observed import Reading, RetirementSeen, RoleReading, Seat, Target, TargetRole
from modeldeployment.scaler.planning.outcome import Move, Plan
from modeldeployment.scaler.planning.plain import Vector
from modeldeployment.scaler.planning.policy import Policy
from planning_worlds import NOON

KINDS = {"prefill": RoleKind.PREFILL, "decode": RoleKind.DECODE, "encode": RoleKind.ENCODE}


@dataclass
class Replica:
    """One replica that is there."""

    admitted: bool = False
    ready_at: datetime | None = None


@dataclass
class Imagined:
    """A deployment, its scaler's policy, and what the scaler remembers."""

    policy: Policy
    counts: Vector
    quota: int = 1000
    """Replicas that may be admitted, all roles together: they share a pool."""
    start_seconds: int = 30
    now: datetime = NOON
    generation: int = 1
    memory: Memory = field(default_factory=Memory)
    retirement: RetirementSeen | None = None
    replicas: dict[str, dict[int, Replica]] = field(default_factory=dict)
    writes: list[tuple[datetime, Move, Vector]] = field(default_factory=list)
    decisions: int = 0
    thorough: bool = True
    """Whether each pass is repeated and its values are written and read; a long play leaves that out."""

    def __post_init__(self) -> None:
        for name, count in self.counts.items():
            self.replicas[name] = {each: Replica(admitted=True, ready_at=self.now) for each in range(count)}

    # --- the cluster -------------------------------------------------------------------------------------------------

    def goes_on(self, seconds: int = 15, *, fate: RetirementState = RetirementState.COMPLETED) -> None:
        """Let time pass: what is declared comes, quota is given, and the retirement under way comes to its fate."""
        self.now += timedelta(seconds=seconds)
        self._retire(fate)
        for name, count in self.counts.items():
            for ordinal in range(count):
                self.replicas[name].setdefault(ordinal, Replica())
        for name in self.counts:
            for _, replica in sorted(self.replicas[name].items()):
                if not replica.admitted and self._held() < self.quota:
                    replica.admitted, replica.ready_at = True, self.now + timedelta(seconds=self.start_seconds)

    def _held(self) -> int:
        return sum(each.admitted for role in self.replicas.values() for each in role.values())

    def _retire(self, fate: RetirementState) -> None:
        seen = self.retirement
        if seen is not None and seen.ordinal < self.counts[seen.role]:
            self.retirement = seen = None
        if seen is not None and seen.state is not RetirementState.ABORTED:
            if fate is RetirementState.COMPLETED:
                self.replicas[seen.role].pop(seen.ordinal, None)
                self.retirement = None
            elif fate is RetirementState.ABORTED:
                self.retirement = RetirementSeen(role=seen.role, ordinal=seen.ordinal, state=fate)
        if self.retirement is None:
            surplus = [
                (name, each) for name in self.counts for each in self.replicas[name] if each >= self.counts[name]
            ]
            if surplus:
                name, ordinal = surplus[0][0], max(each for name, each in surplus if name == surplus[0][0])
                self.retirement = RetirementSeen(role=name, ordinal=ordinal, state=RetirementState.DRAINING)

    # --- people ------------------------------------------------------------------------------------------------------

    def edited(self, **counts: int) -> None:
        """Somebody writes counts, or anything else where none are named."""
        self.counts = self.counts | counts
        self.generation += 1

    def respecified(self, policy: Policy) -> None:
        """Somebody edits the scaler."""
        self.policy = policy

    # --- the scaler --------------------------------------------------------------------------------------------------

    def target(self) -> Target:
        """What the scaler sees of the deployment."""
        return Target(
            name="llm-serving",
            uid="target-1",
            generation=self.generation,
            retirement=self.retirement,
            roles=tuple(
                TargetRole(
                    name=name,
                    kind=KINDS.get(name, RoleKind.SERVER),
                    replicas=count,
                    instance_type="h100",
                    seats=tuple(
                        Seat(
                            ordinal=each,
                            admitted=replica.admitted,
                            waiting=not replica.admitted,
                            ready=replica.ready_at is not None and replica.ready_at <= self.now,
                        )
                        for each, replica in sorted(self.replicas[name].items())
                    ),
                )
                for name, count in self.counts.items()
            ),
        )

    def reading(self, load: dict[str, float], *, complete: bool = True) -> Reading:
        """Engines that report a load of so many replicas, as requests and as tokens."""
        seen = {}
        for role in self.target().roles:
            asked = load.get(role.name, 0.0)
            seen[role.name] = RoleReading(
                state=SignalState.FRESH if asked else SignalState.IDLE,
                ready=sum(seat.ready for seat in role.seats),
                complete=complete,
                at=self.now,
                running_requests=round(asked * 8),
                waiting_requests=0,
                prompt_tokens_per_second=Quantity.whole(round(asked * 2000)),
                generation_tokens_per_second=Quantity.whole(round(asked * 800)),
                ttft_milliseconds=Quantity.whole(100),
                itl_milliseconds=Quantity.whole(10),
            )
        return Reading(roles=seen)

    def passes(self, load: dict[str, float], *, complete: bool = True, written: bool = True) -> Plan:
        """Plan once, hold what always holds, and write what is planned unless the write is lost to somebody else's."""
        target, reading, before = self.target(), self.reading(load, complete=complete), self.memory
        self.decisions += 1
        name = f"d-{self.decisions}"
        made = plan(before, reading, target, self.policy, now=self.now, decision_id=name, term=1)
        if self.thorough:
            again = plan(before, reading, target, self.policy, now=self.now, decision_id=name, term=1)
            assert made == again
            assert coding.decode(coding.encode(made), Plan) == made
        self._held_to(made, target, reading, name)
        self.memory = made.memory
        if made.move is not None and written:
            assert made.committed is not None
            self.memory = made.committed
            self.counts = dict(made.vector)
            self.generation += 1
            self.writes.append((self.now, made.move, made.vector))
        return made

    def _held_to(self, made: Plan, target: Target, reading: Reading, name: str) -> None:
        declared = target.vector
        assert [each.condition.value for each in made.findings] == ["MetricsReady", "Blocked"]
        assert (made.move is None) == (made.vector == declared) == (made.committed is None)
        if made.move is None or made.committed is None:
            return
        assert ratios.allows(self.policy, declared)
        assert ratios.allows(self.policy, made.vector)
        commit = made.committed.last_commit
        assert commit is not None
        assert (commit.decision_id, commit.vector, commit.baseline) == (name, made.vector, declared)
        assert commit.target_generation == made.committed.target_generation == self.generation + 1
        explained = {step.role for step in made.trail if step.before != step.after}
        for role, count in made.vector.items():
            assert count == declared[role] or role in explained
        match made.move:
            case Move.ROLLBACK:
                assert made.memory.cohort is not None
                assert made.vector == made.memory.cohort.baseline
                assert made.committed.cohort is None
            case Move.RESTORE:
                assert made.committed.last_scale_down is not None
                assert made.committed.last_scale_down.outcome is Outcome.ABORTED
                assert all(count >= declared[role] for role, count in made.vector.items())
            case _:
                self._freely(made, target, reading)

    def _freely(self, made: Plan, target: Target, reading: Reading) -> None:
        """What holds of moves that nothing had to be restored for."""
        for role in target.roles:
            seen, step = reading.roles[role.name], made.vector[role.name] - role.replicas
            if step < 0:
                assert seen.complete
                assert seen.ready > 0
                assert guarding.leaving(target) is None
                assert guarding.cooling(made.memory, self.now) is None
                assert -step <= pacing.most_taken(self.policy.down, role.replicas)
            if step > 0:
                assert made.memory.cohort is None
                assert not any(seat.waiting for seat in role.seats)
                assert step <= pacing.most_added(self.policy.up, role.replicas)
                assert made.committed is not None
                assert made.committed.cohort is not None
