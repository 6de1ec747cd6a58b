"""The targets of the proportional algorithm, role by role.

Source: spec 3 §Proportional, facts api-scaler §2 (proportional).
"""

from collections.abc import Iterator
from typing import Any, Final

from modeldeployment.admission import patching
from modeldeployment.admission.examples import Example
from modeldeployment.admission.rule import Row, row
from modeldeployment.admission.rules.scalers.algorithm import ZERO, chosen
from modeldeployment.admission.subjects import ScalerReview
from modeldeployment.admission.verdict import Cause, Refusal
from modeldeployment.api.algorithms import AlgorithmType, RoleTarget

_FIELD: Final = "spec.algorithm.proportional.roleTargets"
_SERVER: Final = {"name": "server", "target": "8"}


def _targets(*targets: dict[str, str], **more: Any) -> Example:
    block = {"metric": "QueueDepth", "roleTargets": list(targets)}
    return Example({"spec.algorithm": {"type": "Proportional", "proportional": block}, **more}, scaler=True)


def _given(review: ScalerReview) -> tuple[RoleTarget, ...]:
    block = review.new.spec.algorithm.proportional
    return block.role_targets if block else ()


@row(trigger=_targets(_SERVER, _SERVER), near_miss=_targets(_SERVER))
def named_twice(review: ScalerReview) -> Iterator[Refusal]:
    """MD124 | spec.algorithm.proportional.roleTargets[*].name | A role has one target.

    The schema's list key refuses a second entry first; this is its backstop. Source: spec 3 §Proportional.
    """
    first: dict[str, int] = {}
    targets = _given(review)
    for index, target in enumerate(targets):
        earlier = first.setdefault(target.name, index)
        if earlier != index:
            yield Refusal(
                "MD124",
                f"{_FIELD}[{index}].name",
                target.name,
                why=f"{_FIELD}[{earlier}] already is the target of the role {target.name}",
                way_out="keep one of the two entries",
                cause=Cause.DUPLICATE,
                patch=(patching.remove(f"{_FIELD}[{index}]"),) if target == targets[earlier] else (),
            )


@row(trigger=_targets(_SERVER, {"name": "decode", "target": "8"}), near_miss=_targets(_SERVER))
def not_scaled(review: ScalerReview) -> Iterator[Refusal]:
    """MD125 | spec.algorithm.proportional.roleTargets[*].name | Only scaled roles have a target.

    A target of a role without bounds in `spec.roles` would be read by nobody. Source: spec 3 §Proportional.
    """
    for index, target in enumerate(_given(review)):
        if target.name not in review.scaled:
            yield Refusal(
                "MD125",
                f"{_FIELD}[{index}].name",
                target.name,
                why=f"{target.name} is not among the scaled roles: {', '.join(review.scaled)}",
                way_out=f"name a role of spec.roles, or give {target.name} bounds there",
                cause=Cause.NOT_FOUND,
            )


@row(trigger=_targets({"name": "server", "target": "-1"}), near_miss=_targets({"name": "server", "target": "1m"}))
def not_positive(review: ScalerReview) -> Iterator[Refusal]:
    """MD126 | spec.algorithm.proportional.roleTargets[*].target | A target is positive.

    It is what one ready replica should carry, and load is divided by it. Source: spec 3 §Proportional.
    """
    for index, target in enumerate(_given(review)):
        if target.target <= ZERO:
            field = f"{_FIELD}[{index}].target"
            yield Refusal(
                "MD126",
                field,
                patching.found(review.body, field),
                why=f"the load one ready replica of {target.name} should carry is positive",
                way_out="write a positive quantity: requests, or tokens per second, as the metric says",
            )


@row(
    trigger=_targets(
        {"name": "prefill", "target": "8"},
        **{
            "spec.targetRef.name": "qwen-pd",
            "spec.roles": [{"name": "prefill", "maxReplicas": 4}, {"name": "decode", "maxReplicas": 4}],
        },
    ),
    near_miss=_targets(
        {"name": "prefill", "target": "8"},
        **{
            "spec.targetRef.name": "qwen-pd",
            "spec.roles": [{"name": "prefill", "maxReplicas": 4}, {"name": "decode", "maxReplicas": 4}],
            "spec.ratios": [{"numeratorRole": "decode", "denominatorRole": "prefill", "target": "1"}],
        },
    ),
)
def uncovered(review: ScalerReview) -> Iterator[Refusal]:
    """MD127 | spec.roles[*].name | Under Proportional, a scaled role has a target, or a ratio to a role that has one.

    Without either, nothing says how many replicas the role should have. The ratio may stand either way round; through a
    third role it does not count. Source: spec 3 §Proportional.
    """
    block = review.new.spec.algorithm.proportional
    if chosen(review) is not AlgorithmType.PROPORTIONAL or block is None:
        return
    targeted = {target.name for target in block.role_targets}
    covered = set(targeted)
    for ratio in review.new.spec.ratios:
        ends = {ratio.numerator_role, ratio.denominator_role}
        if ends & targeted:
            covered |= ends
    for name, index in review.scaled.items():
        if name not in covered:
            yield Refusal(
                "MD127",
                f"spec.roles[{index}].name",
                name,
                why=f"the role {name} has no target in {_FIELD} and no direct ratio to a role that has one, so nothing "
                "says how many replicas it should have",
                way_out=f"give {name} a target there, or a ratio to a role that has one",
            )


RULES: Final[tuple[Row[Any, Any], ...]] = (named_twice, not_scaled, not_positive, uncovered)
