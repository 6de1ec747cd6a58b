"""What status says of a scaler, and whether that is worth a write. Pure.

Status is written when the control plane moves: a decision, a binding, a condition, or the counts of a role. What only
flows (signals, windows, histories, a filter) goes along with the next write. A pass that ends early leaves older
conditions and older roles as they are; their generation tells.

Source: spec 3 §Status and §Conditions, facts scaler §10.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from modeldeployment.api.condition import Condition
from modeldeployment.api.conditions import ConditionStatus
from modeldeployment.api.scalerconditions import ScalerCondition, ScalerReason
from modeldeployment.api.scalerstatus import BindingStatus, ScaledRoleStatus, ScalerStatus
from modeldeployment.scaler import remembering, wording
from modeldeployment.scaler.binding import Hold, Release, Ruling, Watch
from modeldeployment.scaler.planning import sentences
from modeldeployment.scaler.planning.memory import Memory, RoleMemory
from modeldeployment.scaler.planning.observed import Reading, RoleReading, Target
from modeldeployment.scaler.planning.outcome import Finding, Plan, RolePlan

_HOLDS: Final = {
    ScalerCondition.BOUND: ScalerReason.BOUND,
    ScalerCondition.ACTIVE: ScalerReason.ACTIVE,
    ScalerCondition.METRICS_READY: ScalerReason.OBSERVED,
}
_ORDER: Final = {condition.value: place for place, condition in enumerate(ScalerCondition)}


@dataclass(frozen=True, slots=True)
class Said:
    """What a pass says of one condition; `about` tells two findings of one reason apart, None where that is unknown."""

    type: ScalerCondition
    reason: ScalerReason
    message: str
    about: str | None = ""

    @property
    def status(self) -> ConditionStatus:
        """Whether the condition holds; `Blocked` does where anything but `Ready` is said."""
        if self.type is ScalerCondition.BLOCKED:
            holds = self.reason is not ScalerReason.READY
        else:
            holds = self.reason is _HOLDS[self.type]
        return ConditionStatus.TRUE if holds else ConditionStatus.FALSE


@dataclass(frozen=True, slots=True)
class Counts:
    """The counts of a role that status tells."""

    name: str
    current: int
    ready: int
    raw: int | None = None
    constrained: int | None = None


@dataclass(frozen=True, slots=True)
class Outline:
    """What of a status is worth a write when it moves."""

    generation: int | None
    binding: BindingStatus | None
    conditions: tuple[tuple[str, str, str, int | None], ...]
    roles: tuple[Counts, ...]
    memory: tuple[object, ...]
    about: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Planned:
    """What a pass that planned has to tell: the target it planned for, what was read, and what is remembered now.

    `vector` is what is declared once the pass is over.
    """

    target: Target
    vector: Mapping[str, int]
    reading: Reading
    plan: Plan
    memory: Memory


@dataclass(frozen=True, slots=True)
class Report:
    """What one pass has to tell. `cleared`: everything about the target of before is forgotten."""

    generation: int
    binding: BindingStatus | None
    said: tuple[Said, ...]
    planned: Planned | None = None
    cleared: bool = False


def claims(ruling: Ruling, target: str, *, orphaned: bool = False, trouble: str = "") -> tuple[Said, Said]:
    """Say what `Bound` and `Active` are; `trouble` is what keeps counts from being written although they may be."""
    bound = wording.bound(ruling, target, orphaned=orphaned)
    active = wording.active(ruling, target, orphaned=orphaned)
    if trouble and isinstance(ruling.next, Hold):
        active = f"{active}; {trouble}"
    return (
        Said(ScalerCondition.BOUND, ruling.bound, bound, bound),
        Said(ScalerCondition.ACTIVE, ruling.active, active, active),
    )


def findings(found: Iterable[Finding]) -> tuple[Said, ...]:
    """Say what `MetricsReady` and `Blocked` are."""
    return tuple(
        Said(each.condition, each.reason, sentences.finding(each), f"{each.cause or ''} {' '.join(each.roles)}")
        for each in found
    )


def binding(ruling: Ruling, target: str, uid: str, before: BindingStatus | None) -> BindingStatus | None:
    """The deployment planned for: the last one is kept while there is none, or another that nobody acknowledged.

    A term is kept after its release, so that none is used twice.
    """
    kept = None if ruling.acknowledged else before
    match ruling.next:
        case Hold(term) | Release(term):
            return BindingStatus(target_uid=uid, target_name=target, term=term)
        case Watch():
            term_ = kept.term if kept is not None and kept.target_uid == uid else None
            return BindingStatus(target_uid=uid, target_name=target, term=term_)
        case _:
            return kept


def outline(status: ScalerStatus, memory: Memory) -> Outline:
    """What of a status that was read is worth a write when it moves; what its messages are about is unknown."""
    return Outline(
        generation=status.observed_generation,
        binding=status.binding,
        conditions=tuple(
            (each.type, each.status.value, each.reason, each.observed_generation) for each in status.conditions
        ),
        roles=tuple(
            Counts(
                each.name,
                each.current_replicas,
                each.ready_replicas,
                each.raw_recommended_replicas,
                each.constrained_replicas,
            )
            for each in status.roles
        ),
        memory=_control(memory),
        about={},
    )


def after(before: Outline, report: Report) -> Outline:
    """What the outline is once a report is told."""
    base = (
        replace(before, roles=(), memory=_control(Memory()), conditions=_claimed(before)) if report.cleared else before
    )
    said = {each.type.value: (each.status.value, each.reason.value, report.generation) for each in report.said}
    kept = {type_: (status, reason, generation) for type_, status, reason, generation in base.conditions}
    merged = sorted({**kept, **said}.items(), key=lambda each: _ORDER.get(each[0], len(_ORDER)))
    planned = report.planned
    return Outline(
        generation=report.generation,
        binding=report.binding,
        conditions=tuple((type_, *each) for type_, each in merged),
        roles=base.roles if planned is None else tuple(_counts(planned)),
        memory=base.memory if planned is None else _control(planned.memory),
        about={**base.about, **{each.type.value: each.about for each in report.said if each.about is not None}},
    )


def moved(before: Outline, now: Outline) -> bool:
    """Whether the control plane moved: what a message is about counts where it is known of both."""
    return replace(before, about={}) != replace(now, about={}) or any(
        now.about.get(type_, about) != about for type_, about in before.about.items()
    )


def written(before: ScalerStatus, report: Report, now: datetime) -> ScalerStatus:
    """The status that tells a report: what it does not speak of stays."""
    fields: dict[str, object] = {
        "observed_generation": report.generation,
        "binding": report.binding,
        "conditions": _conditions(before.conditions, report, now),
    }
    if report.cleared:
        fields |= {"roles": (), **remembering.kept(Memory())}
    if report.planned is not None:
        fields |= {"roles": tuple(_roles(report.planned)), **remembering.kept(report.planned.memory)}
    return before.model_copy(update=fields)


def _conditions(before: Sequence[Condition], report: Report, now: datetime) -> tuple[Condition, ...]:
    known = {each.type: each for each in before}
    if report.cleared:
        known = {type_: each for type_, each in known.items() if type_ not in remembering.PLANNED}
    for said in report.said:
        old = known.get(said.type.value)
        since = old.last_transition_time if old is not None and old.status is said.status else now
        known[said.type.value] = Condition(
            type=said.type.value,
            status=said.status,
            reason=said.reason.value,
            message=said.message,
            last_transition_time=since or now,
            observed_generation=report.generation,
        )
    return tuple(sorted(known.values(), key=lambda each: _ORDER.get(each.type, len(_ORDER))))


def _claimed(before: Outline) -> tuple[tuple[str, str, str, int | None], ...]:
    return tuple(each for each in before.conditions if each[0] not in remembering.PLANNED)


def _control(memory: Memory) -> tuple[object, ...]:
    """What is remembered of decisions; windows and filters are no part of it."""
    return (memory.last_commit, memory.cohort, memory.rebalance, memory.last_scale_down, memory.exhaustion)


def _counts(planned: Planned) -> Iterable[Counts]:
    for plan in planned.plan.roles:
        current, ready = _standing(planned, plan.name)
        yield Counts(plan.name, current, ready, plan.raw, plan.constrained)


def _standing(planned: Planned, name: str) -> tuple[int, int]:
    """The declared and the ready replicas of a role; none of one that the target does not have."""
    role, read = planned.target.role(name), planned.reading.roles.get(name)
    standing = sum(seat.ready for seat in role.seats) if role is not None else 0
    declared = planned.vector.get(name, role.replicas if role is not None else 0)
    return declared, standing if read is None else read.ready


def _roles(planned: Planned) -> Iterable[ScaledRoleStatus]:
    for plan in planned.plan.roles:
        yield _role(planned, plan, planned.reading.roles.get(plan.name))


def _role(planned: Planned, plan: RolePlan, read: RoleReading | None) -> ScaledRoleStatus:
    current, ready = _standing(planned, plan.name)
    signals: dict[str, object] = {}
    if read is not None:
        signals = {
            "signal_state": read.state.value,
            "prompt_tokens_per_second": read.prompt_tokens_per_second,
            "generation_tokens_per_second": read.generation_tokens_per_second,
            "running_requests": read.running_requests,
            "waiting_requests": read.waiting_requests,
            "kv_cache_usage": read.kv_cache_usage,
            "ttft_milliseconds": read.ttft_milliseconds,
            "itl_milliseconds": read.itl_milliseconds,
        }
    return ScaledRoleStatus.model_validate(
        {
            "name": plan.name,
            "current_replicas": current,
            "ready_replicas": ready,
            "raw_recommended_replicas": plan.raw,
            "constrained_replicas": plan.constrained,
            "reason": plan.reason.value,
            **signals,
            **remembering.kept_of_role(planned.memory.roles.get(plan.name, RoleMemory())),
        }
    )
