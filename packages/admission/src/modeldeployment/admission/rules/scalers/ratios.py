"""Ratios between roles, each on its own; whether they fit the bounds together is `fitting`.

Source: spec 3 §Bounds and ratios, facts api-scaler §2 (ratios).
"""

from collections.abc import Iterator
from typing import Any, Final

from modeldeployment.admission import patching
from modeldeployment.admission.examples import Example
from modeldeployment.admission.rule import Row, row
from modeldeployment.admission.subjects import ScalerReview
from modeldeployment.admission.verdict import Cause, Refusal
from modeldeployment.api.quantity import Quantity
from modeldeployment.api.scaler import Ratio

ZERO: Final = Quantity(0)

_PAIR: Final = {
    "spec.roles": [
        {"name": "prefill", "minReplicas": 2, "maxReplicas": 16},
        {"name": "decode", "minReplicas": 2, "maxReplicas": 16},
    ],
    "spec.algorithm": {
        "type": "TokenThroughput",
        "tokenThroughput": {"prefillTargetTokensPerSecond": "2000", "decodeTargetTokensPerSecond": "800"},
    },
    "spec.targetRef.name": "qwen-pd",
}


def _ratio(numerator: str = "prefill", denominator: str = "decode", **quantities: str) -> dict[str, str]:
    return {"numeratorRole": numerator, "denominatorRole": denominator, **quantities}


@row(
    trigger=Example(_PAIR | {"spec.ratios": [_ratio(denominator="encode", target="1")]}, scaler=True),
    near_miss=Example(_PAIR | {"spec.ratios": [_ratio(target="1")]}, scaler=True),
)
def unscaled_end(review: ScalerReview) -> Iterator[Refusal]:
    """MD110 | spec.ratios[*].numeratorRole, spec.ratios[*].denominatorRole | Both roles of a ratio are scaled.

    A ratio holds counts that this scaler decides against each other; a role without bounds in `spec.roles` has none.
    Source: spec 3 §Bounds and ratios.
    """
    for index, ratio in enumerate(review.new.spec.ratios):
        for end, name in (("numeratorRole", ratio.numerator_role), ("denominatorRole", ratio.denominator_role)):
            if name not in review.scaled:
                yield Refusal(
                    "MD110",
                    f"spec.ratios[{index}].{end}",
                    name,
                    why=f"{name} is not among the scaled roles: {', '.join(review.scaled)}",
                    way_out=f"name a role of spec.roles, or give {name} bounds there",
                    cause=Cause.NOT_FOUND,
                )


@row(
    trigger=Example(_PAIR | {"spec.ratios": [_ratio(denominator="prefill")]}, scaler=True),
    near_miss=Example(_PAIR | {"spec.ratios": [_ratio("decode", "prefill")]}, scaler=True),
)
def one_role(review: ScalerReview) -> Iterator[Refusal]:
    """MD111 | spec.ratios[*].denominatorRole | A ratio is between two roles.

    A role divided by itself is 1 whatever its count. Source: spec 3 §Bounds and ratios.
    """
    for index, ratio in enumerate(review.new.spec.ratios):
        if ratio.numerator_role == ratio.denominator_role:
            yield Refusal(
                "MD111",
                f"spec.ratios[{index}].denominatorRole",
                ratio.denominator_role,
                why=f"the ratio of {ratio.numerator_role} to itself is always 1",
                way_out="name another scaled role, or take the ratio out",
                patch=(patching.remove(f"spec.ratios[{index}]"),),
            )


@row(
    trigger=Example(_PAIR | {"spec.ratios": [_ratio(min="0.5"), _ratio(max="2")]}, scaler=True),
    near_miss=Example(
        _PAIR | {"spec.ratios": [_ratio(min="0.5"), _ratio("decode", "prefill", min="0.5")]}, scaler=True
    ),
)
def related_twice(review: ScalerReview) -> Iterator[Refusal]:
    """MD112 | spec.ratios[*] | An ordered pair of roles has one ratio.

    `min`, `target` and `max` of one pair stand in one entry. The same two roles the other way round are another pair.
    The schema's list key refuses a second entry first; this is its backstop. Source: spec 3 §Bounds and ratios.
    """
    seen: dict[tuple[str, str], int] = {}
    ratios = review.new.spec.ratios
    for index, ratio in enumerate(ratios):
        first = seen.setdefault((ratio.numerator_role, ratio.denominator_role), index)
        if first != index:
            yield Refusal(
                "MD112",
                f"spec.ratios[{index}]",
                named(ratio),
                why=f"spec.ratios[{first}] already relates {ratio.numerator_role} to {ratio.denominator_role}",
                way_out="write target, min and max of the pair into one entry",
                cause=Cause.DUPLICATE,
                patch=(patching.remove(f"spec.ratios[{index}]"),) if ratio == ratios[first] else (),
            )


@row(
    trigger=Example(_PAIR | {"spec.ratios": [_ratio(min="0", target="1")]}, scaler=True),
    near_miss=Example(_PAIR | {"spec.ratios": [_ratio(min="1m", target="1")]}, scaler=True),
)
def not_positive(review: ScalerReview) -> Iterator[Refusal]:
    """MD113 | spec.ratios[*].target, spec.ratios[*].min, spec.ratios[*].max | The quantities of a ratio are positive.

    Both counts are at least 1, so a lower bound of zero says nothing, and an upper bound or a target of zero cannot be
    reached. Source: spec 3 §Bounds and ratios.
    """
    for index, ratio in enumerate(review.new.spec.ratios):
        for name in ("target", "min", "max"):
            quantity: Quantity | None = getattr(ratio, name)
            if quantity is not None and quantity <= ZERO:
                field = f"spec.ratios[{index}].{name}"
                yield Refusal(
                    "MD113",
                    field,
                    patching.found(review.body, field),
                    why=f"a ratio of {named(ratio)} is positive, since no role is scaled to zero",
                    way_out="write a positive quantity such as 500m or 2, or leave it out",
                    patch=(patching.remove(field),) if name == "min" else (),
                )


@row(
    trigger=Example(_PAIR | {"spec.ratios": [_ratio(target="3", max="2")]}, scaler=True),
    near_miss=Example(_PAIR | {"spec.ratios": [_ratio(target="2", max="2")]}, scaler=True),
)
def target_outside(review: ScalerReview) -> Iterator[Refusal]:
    """MD114 | spec.ratios[*].target | The preferred ratio lies within the bounds of the ratio.

    `min` and `max` are kept, `target` is preferred among what they leave; equal values fix the ratio.
    Source: spec 3 §Bounds and ratios.
    """
    for index, ratio in enumerate(review.new.spec.ratios):
        if ratio.target is None or ratio.target <= ZERO or _inverted(ratio):
            continue
        for name, bound, missed in (
            ("min", ratio.min, ratio.min is not None and ratio.target < ratio.min),
            ("max", ratio.max, ratio.max is not None and ZERO < ratio.max < ratio.target),
        ):
            if missed:
                field = f"spec.ratios[{index}].target"
                side = "below" if name == "min" else "above"
                yield Refusal(
                    "MD114",
                    field,
                    patching.found(review.body, field),
                    why=f"the preferred ratio {ratio.target} of {named(ratio)} is {side} its {name} {bound}, so it "
                    "could never be reached",
                    way_out=f"move target to {bound}, or {name} to {ratio.target}",
                )


@row(
    trigger=Example(_PAIR | {"spec.ratios": [_ratio(min="2", max="500m")]}, scaler=True),
    near_miss=Example(_PAIR | {"spec.ratios": [_ratio(min="1000m", max="1")]}, scaler=True),
)
def inverted(review: ScalerReview) -> Iterator[Refusal]:
    """MD115 | spec.ratios[*].min | The lower bound of a ratio is at most its upper bound.

    Equal bounds fix the ratio. Source: facts api-scaler §2 (ratios).
    """
    for index, ratio in enumerate(review.new.spec.ratios):
        if _inverted(ratio):
            field = f"spec.ratios[{index}].min"
            yield Refusal(
                "MD115",
                field,
                patching.found(review.body, field),
                why=f"min {ratio.min} of {named(ratio)} is above its max {ratio.max}, so no ratio fits",
                way_out="exchange the two, or leave one out",
            )


def named(ratio: Ratio) -> str:
    """How a message names a ratio."""
    return f"{ratio.numerator_role}/{ratio.denominator_role}"


def sound(ratio: Ratio) -> bool:
    """Whether a ratio by itself means something, so that it can be held against bounds."""
    positive = all(end is None or end > ZERO for end in (ratio.min, ratio.max))
    return positive and ratio.numerator_role != ratio.denominator_role and not _inverted(ratio)


def _inverted(ratio: Ratio) -> bool:
    return ratio.min is not None and ratio.max is not None and ZERO < ratio.max < ratio.min


RULES: Final[tuple[Row[Any, Any], ...]] = (
    unscaled_end,
    one_role,
    related_twice,
    not_positive,
    target_outside,
    inverted,
)
