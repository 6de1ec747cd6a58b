"""What a pass found out, as the two conditions and the reason of each role say it.

Which word is told where several apply: conflicts, then quota, aborts, rebalances, pacing, then the algorithm's own
(facts scaler §10). Source: spec 3 §Conditions, §Role observations.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

import msgspec

from modeldeployment.api.scalerconditions import ScalerCondition, ScalerReason
from modeldeployment.api.scalerstatus import Outcome
from modeldeployment.scaler.planning import exhausting, guarding
from modeldeployment.scaler.planning.advice import Advice
from modeldeployment.scaler.planning.causes import Cause, Stage
from modeldeployment.scaler.planning.memory import Memory
from modeldeployment.scaler.planning.observed import Reading, Unread
from modeldeployment.scaler.planning.outcome import Finding, RolePlan
from modeldeployment.scaler.planning.plain import Vector
from modeldeployment.scaler.planning.trail import Step

PRECEDENCE: Final = (
    ScalerReason.BOUNDS_CONFLICT,
    ScalerReason.RATIO_CONFLICT,
    ScalerReason.RESOURCE_EXHAUSTED,
    ScalerReason.SCALE_DOWN_ABORTED,
    ScalerReason.REBALANCE_BLOCKED,
    ScalerReason.REBALANCE_NOT_APPLICABLE,
    ScalerReason.PACING_BOUNDED,
)
_REASON: Final[Mapping[Cause, ScalerReason]] = {
    Cause.BOUNDS_MISSING: ScalerReason.BOUNDS_CONFLICT,
    Cause.OUTSIDE_BOUNDS: ScalerReason.BOUNDS_CONFLICT,
    Cause.OUTSIDE_RATIO: ScalerReason.RATIO_CONFLICT,
    Cause.RATIO_INFEASIBLE: ScalerReason.RATIO_CONFLICT,
    Cause.SEARCH_EXHAUSTED: ScalerReason.RATIO_CONFLICT,
    Cause.COHORT_TIMED_OUT: ScalerReason.RESOURCE_EXHAUSTED,
    Cause.EXHAUSTED: ScalerReason.RESOURCE_EXHAUSTED,
    Cause.RETIREMENT_ABORTED: ScalerReason.SCALE_DOWN_ABORTED,
    Cause.ABORT_COOLDOWN: ScalerReason.SCALE_DOWN_ABORTED,
    Cause.DONOR_BLOCKED: ScalerReason.REBALANCE_BLOCKED,
    Cause.NO_DONOR: ScalerReason.REBALANCE_NOT_APPLICABLE,
}
_PACED: Final = (Stage.STABILIZATION, Stage.STEPS, Stage.GUARDS)


def reason(step: Step) -> ScalerReason | None:
    """The word of a rule that held or changed a count; None where it is the algorithm's, a bound's or a ratio's."""
    known = _REASON.get(step.cause)
    if known is None and step.stage in _PACED:
        return ScalerReason.PACING_BOUNDED
    return known


@dataclass(frozen=True, slots=True)
class Found:
    """Everything that findings are made of."""

    declared: Vector
    vector: Vector
    advices: Mapping[str, Advice]
    reading: Reading
    memory: Memory
    trail: Sequence[Step]
    now: datetime
    refusals: Sequence[Step] = field(default=())
    """Conflicts that keep everything from being planned; no role is spared."""

    def findings(self) -> tuple[Finding, Finding]:
        """One for `MetricsReady`, one for `Blocked`."""
        return self._metrics(), self._blocked()

    def roles(self) -> tuple[RolePlan, ...]:
        """What was recommended for each role that was advised, what is left, and why."""
        found: dict[str, list[ScalerReason]] = {}
        for step in self.trail:
            word = reason(step)
            if word is not None and self._at_work(step):
                found.setdefault(step.role, []).append(word)
        everywhere = [word for step in self.refusals if (word := reason(step)) is not None]
        return tuple(
            RolePlan(
                name=name,
                raw=advice.replicas,
                constrained=self.vector[name],
                reason=_first((*everywhere, *found.get(name, ()))) or advice.reason,
            )
            for name, advice in self.advices.items()
        )

    def _at_work(self, step: Step) -> bool:
        """Whether a rule's hold is still to be seen in the outcome; a hold that came to nothing explains nothing."""
        if step.stage not in _PACED:
            return True
        advice = self.advices.get(step.role)
        return advice is not None and self.vector[step.role] != advice.replicas

    def _metrics(self) -> Finding:
        condition = ScalerCondition.METRICS_READY
        for step in self.refusals[:1]:
            word = reason(step)
            assert word is not None, "a conflict has its word"
            return self._told(condition, word, self.refusals)
        missing = [step for advice in self.advices.values() for step in self._missing(advice)]
        if missing:
            return self._told(condition, ScalerReason.WAITING_FOR_METRICS, missing)
        return Finding(condition=condition, reason=ScalerReason.OBSERVED)

    def _missing(self, advice: Advice) -> Iterator[Step]:
        read = self.reading.roles.get(advice.role)
        silent = _silent(read.unread[0]) if read is not None and read.unread else {}
        if not advice.measured and advice.steps:
            (first, *_) = advice.steps
            yield msgspec.structs.replace(first, numbers=first.numbers | silent)
        elif read is None or not read.complete:
            count, cause = self.declared[advice.role], Cause.COVERAGE_INCOMPLETE
            role = advice.role
            yield Step(stage=Stage.GUARDS, role=role, before=count, after=count, cause=cause, numbers=silent)

    def _blocked(self) -> Finding:
        condition = ScalerCondition.BLOCKED
        steps = [*self.trail, *self._standing()]
        word = _first(word for step in steps if self._at_work(step) and (word := reason(step)) is not None)
        if word is None:
            return Finding(condition=condition, reason=ScalerReason.READY)
        told = self._told(condition, word, [step for step in steps if self._at_work(step) and reason(step) is word])
        move = self.memory.rebalance
        if word is not ScalerReason.RESOURCE_EXHAUSTED or move is None:
            return told
        return msgspec.structs.replace(told, numbers=told.numbers | {"rebalance": move.reason.value})

    def _standing(self) -> Iterator[Step]:
        """What blocks although no role asks for anything just now: quota that was not there, and an abort."""
        spent, last = exhausting.waiting(self.memory, self.now), self.memory.last_scale_down
        if spent is not None:
            numbers: dict[str, int | str] = {"until": spent.until.isoformat(), "rollbacks": spent.rollbacks}
            for role in spent.roles:
                yield self._stand(role, Cause.EXHAUSTED, numbers)
        until = guarding.cooling(self.memory, self.now)
        if until is not None and last is not None and last.outcome is Outcome.ABORTED:
            yield self._stand(last.role, Cause.ABORT_COOLDOWN, {"until": until.isoformat()})

    def _stand(self, role: str, cause: Cause, numbers: dict[str, int | str]) -> Step:
        count = self.declared.get(role, 0)
        return Step(stage=Stage.TRANSACTIONS, role=role, before=count, after=count, cause=cause, numbers=numbers)

    @staticmethod
    def _told(condition: ScalerCondition, word: ScalerReason, steps: Sequence[Step]) -> Finding:
        """The first rule tells; every role with the same one is named."""
        first = steps[0]
        roles = tuple(dict.fromkeys(step.role for step in steps if step.cause is first.cause))
        return Finding(condition=condition, reason=word, cause=first.cause, roles=roles, numbers=first.numbers)


def _silent(unread: Unread) -> dict[str, int | str]:
    """Which engine was not read, and why, as numbers of a cause."""
    told: dict[str, int | str] = {"engine": unread.pod, "silence": unread.silence.value}
    if unread.number is not None:
        told["number"] = unread.number
    return told | ({"series": unread.series} if unread.series else {})


def _first(words: Iterable[ScalerReason]) -> ScalerReason | None:
    present = set(words)
    return next((word for word in PRECEDENCE if word in present), None)
