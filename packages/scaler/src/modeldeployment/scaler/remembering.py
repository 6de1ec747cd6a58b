"""What planning remembers, as status keeps it and back: what outlives the process is exactly what status says.

Amounts are kept to a nano-unit and instants to the second, which is what planning reckons in; a filter's floats are
rounded to nano-units. Nothing that cannot be read is guessed: it is forgotten, and planning begins anew with it.

Sources: spec 3 §Status, facts api-scaler §5, decisions D12, D36, D41.
"""

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Final, TypeVar, cast

from modeldeployment.api import Quantity, scalerstatus
from modeldeployment.api.scalerconditions import RebalanceReason, ScalerCondition, ScalerReason
from modeldeployment.api.scalerstatus import HISTORY, Outcome, ScalerStatus
from modeldeployment.scaler.planning import words
from modeldeployment.scaler.planning.memory import (
    Cohort,
    Commit,
    Demanded,
    Exhaustion,
    Filter,
    Memory,
    Rebalance,
    Recommended,
    RoleMemory,
    ScaleDown,
)
from modeldeployment.scaler.planning.words import RebalanceWord

Of = TypeVar("Of")
Kept = TypeVar("Kept")

_NANO: Final = 10**9
_MOST: Final = 1e30
"""What a filter that got there, or that is no number any more, says is not kept; the schema has no room for it."""
PLANNED: Final = (ScalerCondition.METRICS_READY, ScalerCondition.BLOCKED)
"""Conditions that only planning writes: their generation is the one that was planned for last."""


def memory_of(status: ScalerStatus) -> Memory:
    """Read what planning resumes from.

    The target's generation is that of the last commit: an edit of the target that came later is then seen once more,
    which changes nothing that it has not changed before.
    """
    commit = status.last_commit
    return Memory(
        roles=_roles(status),
        last_commit=_maybe(_commit, commit),
        cohort=_maybe(_cohort, status.pending_cohort),
        rebalance=_maybe(_rebalance, status.rebalance),
        last_scale_down=_maybe(_scale_down, status.last_scale_down),
        exhaustion=_maybe(_exhaustion, status.exhaustion),
        policy_generation=max((_generation(status, each) for each in PLANNED), default=0),
        target_generation=0 if commit is None else commit.target_generation,
    )


def kept(memory: Memory) -> dict[str, object]:
    """The fields of a status that hold what is remembered, but for what each entry of `roles` holds."""
    predictors = (_predictor(name, role) for name, role in memory.roles.items())
    return {
        "last_commit": _maybe(_kept_commit, memory.last_commit),
        "pending_cohort": _maybe(_kept_cohort, memory.cohort),
        "rebalance": _maybe(_kept_rebalance, memory.rebalance),
        "last_scale_down": _maybe(_kept_scale_down, memory.last_scale_down),
        "exhaustion": _maybe(_kept_exhaustion, memory.exhaustion),
        "predictors": tuple(each for each in predictors if each is not None),
    }


def kept_of_role(role: RoleMemory) -> dict[str, object]:
    """The fields of a role's entry in `roles` that hold what is remembered of it."""
    return {
        "last_scale_up_time": role.grown_at,
        "last_scale_up_from": role.grown_from,
        "stabilization_history": tuple(
            scalerstatus.Recommendation(timestamp=each.at, replicas=each.replicas) for each in _latest(role.recommended)
        ),
    }


# --- out of status ---------------------------------------------------------------------------------------------------


def _roles(status: ScalerStatus) -> dict[str, RoleMemory]:
    predictors = {each.name: each for each in status.predictors}
    entries = {each.name: each for each in status.roles}
    return {name: _role(entries.get(name), predictors.get(name)) for name in dict.fromkeys((*entries, *predictors))}


def _role(entry: scalerstatus.ScaledRoleStatus | None, predictor: scalerstatus.Predictor | None) -> RoleMemory:
    return RoleMemory(
        recommended=()
        if entry is None
        else tuple(Recommended(at=each.timestamp, replicas=each.replicas) for each in entry.stabilization_history),
        demanded=()
        if predictor is None
        else tuple(Demanded(at=each.timestamp, tokens_per_second=each.tokens_per_second) for each in predictor.history),
        filter=None if predictor is None else _filter(predictor),
        grown_at=None if entry is None else entry.last_scale_up_time,
        grown_from=None if entry is None else entry.last_scale_up_from,
    )


def _filter(kept_: scalerstatus.Predictor) -> Filter | None:
    at = kept_.observed_at or (kept_.history[-1].timestamp if kept_.history else None)
    if kept_.level is None or kept_.trend is None or kept_.covariance is None or at is None:
        return None
    sure = kept_.covariance
    return Filter(
        level=_number(kept_.level),
        trend=_number(kept_.trend),
        p00=_number(sure.p00),
        p01=_number(sure.p01),
        p10=_number(sure.p10),
        p11=_number(sure.p11),
        count=kept_.sample_count,
        at=at,
    )


def _commit(kept_: scalerstatus.Commit) -> Commit:
    return Commit(
        decision_id=kept_.decision_id,
        term=kept_.term,
        vector=dict(kept_.vector),
        baseline=dict(kept_.baseline_vector),
        at=kept_.timestamp,
        target_generation=kept_.target_generation,
    )


def _cohort(kept_: scalerstatus.Cohort) -> Cohort:
    return Cohort(
        decision_id=kept_.decision_id,
        term=kept_.term,
        baseline=dict(kept_.baseline_vector),
        target=dict(kept_.target_vector),
        started_at=kept_.started_at,
    )


def _rebalance(kept_: scalerstatus.RebalanceStatus) -> Rebalance | None:
    try:
        reason = words.word(kept_.reason or "", (RebalanceReason, ScalerReason))
    except ValueError:
        return None
    return Rebalance(
        reason=cast("RebalanceWord", reason),
        episode=kept_.exhaustion_episode_generation or 0,
        receiver=kept_.receiver_role,
        donor=kept_.donor_role,
        donor_replicas=kept_.donor_target_replicas,
        receiver_replicas=kept_.receiver_target_replicas,
        started_at=kept_.started_at,
        attempted=kept_.donation_attempted,
    )


def _scale_down(kept_: scalerstatus.ScaleDownStatus) -> ScaleDown | None:
    if kept_.outcome not in {each.value for each in Outcome}:
        return None
    return ScaleDown(
        role=kept_.role,
        ordinal=kept_.ordinal,
        before=dict(kept_.pre_scale_down_vector),
        outcome=Outcome(kept_.outcome),
        aborted_at=kept_.aborted_at,
        cooldown_until=kept_.cooldown_until,
    )


def _exhaustion(kept_: scalerstatus.ExhaustionStatus) -> Exhaustion:
    return Exhaustion(
        roles=kept_.roles, baseline=dict(kept_.baseline_vector), until=kept_.until, rollbacks=kept_.rollbacks
    )


def _generation(status: ScalerStatus, which: ScalerCondition) -> int:
    condition = status.condition(which)
    return (condition.observed_generation if condition is not None else None) or 0


def _number(amount: Quantity) -> float:
    return amount.nanos / _NANO


# --- into status -----------------------------------------------------------------------------------------------------


def _maybe(keep: Callable[[Of], Kept], of: Of | None) -> Kept | None:
    return None if of is None else keep(of)


def _latest(history: tuple[Recommended, ...]) -> tuple[Recommended, ...]:
    return history[-HISTORY:]


def _predictor(name: str, role: RoleMemory) -> scalerstatus.Predictor | None:
    if role.filter is None and not role.demanded:
        return None
    history = tuple(
        scalerstatus.Demand(timestamp=each.at, tokens_per_second=each.tokens_per_second)
        for each in role.demanded[-HISTORY:]
    )
    kept_ = role.filter
    if kept_ is None or not all(abs(each) < _MOST for each in _numbers(kept_)):
        return scalerstatus.Predictor(name=name, history=history)
    level, trend, *sure = map(_amount, _numbers(kept_))
    return scalerstatus.Predictor(
        name=name,
        level=level,
        trend=trend,
        covariance=scalerstatus.Covariance(**_named(("p00", "p01", "p10", "p11"), sure)),
        sample_count=kept_.count,
        observed_at=kept_.at,
        history=history,
    )


def _numbers(of: Filter) -> tuple[float, ...]:
    return (of.level, of.trend, of.p00, of.p01, of.p10, of.p11)


def _named(names: Iterable[str], amounts: Iterable[Quantity]) -> Mapping[str, Quantity]:
    return dict(zip(names, amounts, strict=True))


def _amount(number: float) -> Quantity:
    return Quantity(round(Fraction(number) * _NANO))


def _kept_commit(of: Commit) -> scalerstatus.Commit:
    return scalerstatus.Commit(
        decision_id=of.decision_id,
        term=of.term,
        vector=of.vector,
        baseline_vector=of.baseline,
        timestamp=of.at,
        target_generation=of.target_generation,
    )


def _kept_cohort(of: Cohort) -> scalerstatus.Cohort:
    return scalerstatus.Cohort(
        decision_id=of.decision_id,
        term=of.term,
        baseline_vector=of.baseline,
        target_vector=of.target,
        started_at=of.started_at,
    )


def _kept_rebalance(of: Rebalance) -> scalerstatus.RebalanceStatus:
    return scalerstatus.RebalanceStatus(
        receiver_role=of.receiver,
        donor_role=of.donor,
        donor_target_replicas=of.donor_replicas,
        receiver_target_replicas=of.receiver_replicas,
        started_at=of.started_at,
        exhaustion_episode_generation=of.episode,
        donation_attempted=of.attempted,
        reason=of.reason.value,
    )


def _kept_scale_down(of: ScaleDown) -> scalerstatus.ScaleDownStatus:
    return scalerstatus.ScaleDownStatus(
        role=of.role,
        ordinal=of.ordinal,
        pre_scale_down_vector=of.before,
        outcome=of.outcome.value,
        aborted_at=of.aborted_at,
        cooldown_until=of.cooldown_until,
    )


def _kept_exhaustion(of: Exhaustion) -> scalerstatus.ExhaustionStatus:
    return scalerstatus.ExhaustionStatus(
        roles=of.roles, baseline_vector=of.baseline, until=of.until, rollbacks=of.rollbacks
    )
