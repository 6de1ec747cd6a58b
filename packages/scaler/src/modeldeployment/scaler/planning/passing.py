"""One pass of planning: what is remembered, read, declared and asked for, turned into a vector with its reasons.

Stages answer vectors, and the pass compares them: a role that a stage changes without saying why is a defect, and
raises. In order: what edits ended; advice for each role; whether the declared vector can be planned from at all; what
transactions ask for, alone; stabilization, bounds, steps and guards; ratios; a donation.

Source: spec 3, facts scaler §3 to §8.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime

import msgspec

from modeldeployment.scaler.planning import (
    aborting,
    boxing,
    cohorts,
    editing,
    guarding,
    judging,
    rebalancing,
)
from modeldeployment.scaler.planning.advice import Advice
from modeldeployment.scaler.planning.causes import Cause, Stage
from modeldeployment.scaler.planning.finding import Found
from modeldeployment.scaler.planning.memory import Commit, Memory, RoleMemory
from modeldeployment.scaler.planning.moving import Moved
from modeldeployment.scaler.planning.observed import Reading, Target
from modeldeployment.scaler.planning.outcome import Move, Plan
from modeldeployment.scaler.planning.plain import Vector
from modeldeployment.scaler.planning.policy import Policy
from modeldeployment.scaler.planning.projecting import project
from modeldeployment.scaler.planning.recommending import advise
from modeldeployment.scaler.planning.stabilizing import stabilize
from modeldeployment.scaler.planning.trail import Step


def plan(
    memory: Memory,
    reading: Reading,
    target: Target,
    policy: Policy,
    *,
    now: datetime,
    decision_id: str,
    term: int,
) -> Plan:
    """Plan the counts of one deployment once.

    `target` as of before our own last write (its generation is below the one that write expects) is judged and
    advised on, and nothing is planned from it. Nothing is raised for anything that a spec, a status or a cluster can
    hold.
    """
    stale = target.generation < memory.target_generation
    memory = editing.settled(memory, target, policy)
    declared = judging.vector(target, policy)
    if not stale:
        memory = cohorts.looked_at(memory, target)
    advices = _advised(memory, reading, target, policy, now)
    memory = msgspec.structs.replace(memory, roles={name: advice.memory for name, advice in advices.items()})
    trail = [step for advice in advices.values() for step in advice.steps]
    conflicts = judging.judge(declared, policy)
    pass_ = _Pass(declared, advices, reading, target, now, decision_id, term, trail)
    if conflicts:
        refusals = [step for conflict in conflicts for step in conflict.steps(declared)]
        return pass_.kept(memory, refusals)
    if stale:
        return pass_.kept(memory)
    memory, moved = _transacted(pass_, memory, policy)
    if moved is not None:
        return pass_.moved(memory, declared, moved)
    return _planned(pass_, memory, policy)


class _Pass:
    """What stays the same through a pass, and the trail that grows."""

    def __init__(
        self,
        declared: Vector,
        advices: Mapping[str, Advice],
        reading: Reading,
        target: Target,
        now: datetime,
        decision_id: str,
        term: int,
        trail: list[Step],
    ) -> None:
        self.declared = declared
        self.advices = advices
        self.reading = reading
        self.target = target
        self.now = now
        self.decision_id = decision_id
        self.term = term
        self.trail = trail

    def kept(self, memory: Memory, refusals: Iterable[Step] = ()) -> Plan:
        """Nothing is written."""
        return self._answer(memory, self.declared, tuple(refusals))

    def moved(self, memory: Memory, before: Vector, moved: Moved) -> Plan:
        """A transaction's vector is written; `before` is what the stages before it had come to."""
        self.trail += [
            Step(
                stage=Stage.TRANSACTIONS,
                role=role,
                before=before[role],
                after=count,
                cause=moved.cause,
                numbers=moved.numbers,
            )
            for role, count in moved.vector.items()
            if count != before[role]
        ]
        return self.written(memory, moved.vector, moved.move, moved.memory)

    def written(self, memory: Memory, vector: Vector, move: Move, after: Memory) -> Plan:
        """A vector is written; `after` is what is remembered then, but for the write itself."""
        explained = {step.role for step in self.trail if step.before != step.after}
        silent = [role for role, count in vector.items() if count != self.declared[role] and role not in explained]
        assert not silent, f"{silent} would change and no stage said why"
        generation = self.target.generation + 1
        commit = Commit(
            decision_id=self.decision_id,
            term=self.term,
            vector=vector,
            baseline=self.declared,
            at=self.now,
            target_generation=generation,
        )
        committed = msgspec.structs.replace(after, last_commit=commit, target_generation=generation)
        return self._answer(memory, vector, (), move, committed)

    def _answer(
        self,
        memory: Memory,
        vector: Vector,
        refusals: tuple[Step, ...],
        move: Move | None = None,
        committed: Memory | None = None,
    ) -> Plan:
        trail = (*self.trail, *refusals)
        found = Found(self.declared, vector, self.advices, self.reading, committed or memory, trail, self.now, refusals)
        return Plan(
            vector=vector,
            move=move,
            roles=found.roles(),
            findings=found.findings(),
            memory=memory,
            committed=committed,
            trail=trail,
        )


def _advised(memory: Memory, reading: Reading, target: Target, policy: Policy, now: datetime) -> dict[str, Advice]:
    """Advice for every role that is scaled and there, in the order of the scaler's."""
    roles = [role for name in policy.bounds if (role := target.role(name)) is not None]
    return {
        role.name: advise(
            role,
            reading.roles.get(role.name),
            memory.roles.get(role.name, RoleMemory()),
            policy,
            now=now,
            landing=cohorts.landing(memory, role, now),
        )
        for role in roles
    }


def _transacted(pass_: _Pass, memory: Memory, policy: Policy) -> tuple[Memory, Moved | None]:
    """What restores, takes back or hands over, before anything new is planned; one of them in a pass."""
    declared, target, now = pass_.declared, pass_.target, pass_.now
    seen = aborting.aborted(memory, target, declared)
    if seen is not None:
        restored = aborting.restored(memory, seen, declared, policy, now)
        if isinstance(restored, Moved):
            return memory, restored
        memory = restored
    moved = cohorts.timed_out(memory, target, declared, policy, now)
    if moved is not None:
        return memory, moved
    acquired = rebalancing.acquire(
        memory, target, declared, policy, now=now, decision_id=pass_.decision_id, term=pass_.term
    )
    if isinstance(acquired, rebalancing.Refused):
        pass_.trail.append(_refusal(acquired, declared))
        return acquired.memory, None
    return memory, acquired


def _planned(pass_: _Pass, memory: Memory, policy: Policy) -> Plan:
    """Stabilization, bounds, steps, guards and ratios, and a donation where nothing grows."""
    declared, target, now = pass_.declared, pass_.target, pass_.now
    wishes: dict[str, int] = {}
    boxes = {}
    departing = guarding.leaving(target)
    for name, advice in pass_.advices.items():
        role = target.role(name)
        assert role is not None, "only roles that are there are advised"
        count, steps = stabilize(advice, declared[name], policy, now)
        pass_.trail += steps
        if advice.own:
            wishes[name] = count
        guards = guarding.limits(role, advice, pass_.reading.roles.get(name), memory, departing, policy, now)
        boxes[name] = boxing.box(name, declared[name], wishes.get(name), policy, guards)
        pass_.trail += boxes[name].steps
    projection = project(boxes, policy.bands)
    pass_.trail += projection.steps
    vector = projection.vector
    grows = any(count > declared[role] for role, count in vector.items())
    if not grows:
        donation = rebalancing.release(
            memory, target, declared, vector, pass_.advices, wishes, pass_.reading, policy, now
        )
        if isinstance(donation, Moved):
            return pass_.moved(memory, vector, donation)
        if donation is not None:
            memory = donation.memory
            pass_.trail.append(_refusal(donation, vector))
    if vector == declared:
        return pass_.kept(memory)
    after = aborting.begun(memory, declared, vector)
    after = cohorts.begun(after, declared, vector, now=now, decision_id=pass_.decision_id, term=pass_.term)
    return pass_.written(memory, vector, Move.PLANNED, after)


def _refusal(refused: rebalancing.Refused, vector: Vector) -> Step:
    count = vector[refused.role]
    stage = Stage.TRANSACTIONS if refused.cause in (Cause.NO_DONOR, Cause.DONOR_BLOCKED) else Stage.GUARDS
    return Step(stage=stage, role=refused.role, before=count, after=count, cause=refused.cause, numbers=refused.numbers)
