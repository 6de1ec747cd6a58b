"""Scalers whose numbers will surprise."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from modeldeployment.admission.examples import GONE, Change, Example
from modeldeployment.admission.facts import Needs
from modeldeployment.admission.lints.cautioning import lint
from modeldeployment.admission.patching import found, put, remove
from modeldeployment.admission.rule import Row
from modeldeployment.admission.subjects import ScalerReview
from modeldeployment.admission.verdict import Caution, brief
from modeldeployment.api.algorithms import Predictive, TokenThroughput
from modeldeployment.api.document import Document
from modeldeployment.api.quantity import Quantity
from modeldeployment.api.scaler import RebalancePolicy, ScaleDown, ScaleUp

MOST_READ: Final = 64
"""Members of one role that the sampler reads (spec 3 §Limitations)."""

_BLOCK: Final = "spec.algorithm.tokenThroughput"
_NESTED: Final = "spec.algorithm.predictive.tokenThroughput"
_NANO: Final = 10**9

_EPD: Final[Change] = {
    "spec.targetRef.name": "qwen-epd",
    "spec.roles": [{"name": name, "maxReplicas": 8} for name in ("encode", "prefill", "decode")],
    "spec.ratios": [{"numeratorRole": "encode", "denominatorRole": "prefill", "target": "1"}],
    "spec.algorithm.tokenThroughput": {"prefillTargetTokensPerSecond": "2000", "decodeTargetTokensPerSecond": "800"},
}


def _number(quantity: Quantity) -> str:
    """A ratio in decimals; Kubernetes' own spelling of 1.5 is 1500m."""
    return f"{quantity.nanos / _NANO:g}"


def _plain(default: Any) -> str:
    return _number(default) if isinstance(default, Quantity) else str(default)


def _defaults(model: type[Document], path: str, *names: str) -> dict[str, str]:
    """The defaults of some fields of a block, as JSON spells them, by field path."""
    fields = model.model_fields
    return {f"{path}.{fields[name].alias}": _plain(fields[name].default) for name in names}


_STORED: Final = _defaults(ScaleUp, "spec.behavior.scaleUp", "max_step_replicas", "max_step_percent")
_READ: Final = {
    **_defaults(
        ScaleDown,
        "spec.behavior.scaleDown",
        "stabilization_window_seconds",
        "cooldown_after_abort_seconds",
        "decode_post_scale_up_grace_seconds",
    ),
    **_defaults(Predictive, "spec.algorithm.predictive", "q_level", "q_trend", "measurement_noise"),
}


@lint(
    trigger=Example({"spec.behavior.scaleUp.maxStepReplicas": 0}, scaler=True),
    near_miss=Example({"spec.behavior.scaleUp.stepPolicy": {"type": "Pods", "value": 0}}, scaler=True),
)
def zero_stored_as_default(review: ScalerReview) -> Iterator[Caution]:
    """MDW51 | spec.behavior.scaleUp | A zero step does not switch the bound off: it is stored as the default.

    `maxStepReplicas: 0` is stored as 4 and `maxStepPercent: 0` as 100, and the larger of the two counts.

    Way out: a `stepPolicy`, which replaces both by one unit and whose zero does stop growth.

    Source: spec 3 §Pacing and guards, decisions D43.
    """
    yield from zeros_stored(review.submitted)


@lint(
    trigger=Example({"spec.behavior.scaleDown.stabilizationWindowSeconds": 0}, scaler=True),
    near_miss=Example({"spec.behavior.scaleUp.stabilizationWindowSeconds": 0}, scaler=True),
)
def zero_read_as_default(review: ScalerReview) -> Iterator[Caution]:
    """MDW52 | spec.behavior.scaleDown, spec.algorithm.predictive | A zero that is stored and read as the default.

    The three guards of shrinkage read zero as 300, 300 and 120 seconds, and the noises of `predictive` read whatever is
    not positive as 1, 0.1 and 10. None of them is switched off. Growth differs: a zero window there does wait for
    nothing.

    Way out: the smallest value that does what is meant, such as 1 second.

    Source: spec 3 §Pacing and guards, spec 3 §Predictive, decisions D43.
    """
    for field, default in _READ.items():
        value = found(review.body, field)
        if _is_zero(value):
            yield Caution(
                "MDW52",
                field,
                value,
                why=f'{brief(str(value))} is not "off": it stays stored and is read as the default, {default}',
                way_out="write a positive value, or leave the field out",
                patch=(remove(field),),
            )


@lint(
    trigger=Example({f"{_BLOCK}.panicWindowSeconds": 180}, scaler=True),
    near_miss=Example({f"{_BLOCK}.panicWindowSeconds": 179}, scaler=True),
)
def panic_window_not_shorter(review: ScalerReview) -> Iterator[Caution]:
    """MDW53 | spec.algorithm.tokenThroughput.panicWindowSeconds | It sees no burst when as long as the stable one.

    Panic compares recent demand with capacity. Averaged over as long as the stable window or longer, it rises no
    sooner, and the burst is answered late. Each window's range is checked, their order is not.

    Way out: a panic window well below the stable one; the defaults are 60 and 180 seconds.

    Source: spec 3 §Token throughput.
    """
    for path, block in _blocks(review):
        if block.panic_window_seconds >= block.stable_window_seconds:
            yield Caution(
                "MDW53",
                f"{path}.panicWindowSeconds",
                block.panic_window_seconds,
                why=f"{block.panic_window_seconds} s is not shorter than the stable window of "
                f"{block.stable_window_seconds} s, so a burst is seen no sooner",
                way_out="set a shorter panic window or a longer stable one",
            )


@lint(
    trigger=Example({f"{_BLOCK}.panicThreshold": "1"}, scaler=True),
    near_miss=Example({f"{_BLOCK}.panicThreshold": "1.5"}, scaler=True),
)
def panic_before_capacity(review: ScalerReview) -> Iterator[Caution]:
    """MDW54 | spec.algorithm.tokenThroughput.panicThreshold | At 1 or less there is panic below capacity.

    Panic starts when recent demand reaches the threshold times what the ready replicas can carry. At 1 or below, a role
    that is well used is in panic all the time, and a panicking role is never shrunk.

    Way out: above 1; the default is 2.

    Source: spec 3 §Token throughput.
    """
    for path, block in _blocks(review):
        if block.panic_threshold <= Quantity.whole(1):
            yield Caution(
                "MDW54",
                f"{path}.panicThreshold",
                str(block.panic_threshold),
                why=f"at {_number(block.panic_threshold)} times capacity panic starts before the role is full, and a "
                "role in panic is never shrunk",
                way_out="set more than 1; the default is 2",
            )


@lint(
    trigger=Example({"spec.roles[0].minReplicas": 5}, scaler=True),
    near_miss=Example({"spec.roles[0].minReplicas": 4}, scaler=True),
    needs=Needs.TARGET,
)
def bounds_exclude_current(review: ScalerReview) -> Iterator[Caution]:
    """MDW55 | spec.roles[*] | Bounds that the target's current count is outside of stop all planning.

    The planner starts from what runs. A count below `minReplicas` or above `maxReplicas` is not moved into the bounds:
    every role stays as it is, and the scaler reports `BoundsConflict`.

    Way out: bounds that include the current count, or scale the role first.

    Source: spec 3 §Bounds and ratios.
    """
    current = _current(review)
    for index, role in enumerate(review.new.spec.roles):
        count = current.get(role.name)
        if count is None or role.min_replicas <= count <= role.max_replicas:
            continue
        low = count < role.min_replicas
        field = f"spec.roles[{index}].{'minReplicas' if low else 'maxReplicas'}"
        yield Caution(
            "MDW55",
            field,
            role.min_replicas if low else role.max_replicas,
            why=f"{brief(role.name)} has {count} replicas, outside of {role.min_replicas} to {role.max_replicas}: "
            "nothing is planned for any role (BoundsConflict)",
            way_out=f"include {count}, or scale the role first",
            patch=(put(field, count),),
        )


@lint(
    trigger=Example({**_EPD, "spec.ratios[0].min": "1.5", "spec.ratios[0].target": "2"}, scaler=True),
    near_miss=Example({**_EPD, "spec.ratios[0].min": "1"}, scaler=True),
    needs=Needs.TARGET,
)
def ratio_excludes_current(review: ScalerReview) -> Iterator[Caution]:
    """MDW56 | spec.ratios[*] | A ratio band that the target's current counts are outside of stops all planning.

    The current counts must satisfy every `min` and `max`; otherwise the scaler reports `RatioConflict` and moves
    nothing. A `target` alone is a preference and stops nothing.

    Way out: a band that includes the current counts, or scale the roles first.

    Source: spec 3 §Bounds and ratios.
    """
    current = _current(review)
    for index, ratio in enumerate(review.new.spec.ratios):
        above, below = current.get(ratio.numerator_role), current.get(ratio.denominator_role)
        if not above or not below:
            continue
        for name, bound, beyond in (("min", ratio.min, _under), ("max", ratio.max, _over)):
            if bound is None or not beyond(above, below, bound):
                continue
            yield Caution(
                "MDW56",
                f"spec.ratios[{index}].{name}",
                str(bound),
                why=f"{brief(ratio.numerator_role)}:{brief(ratio.denominator_role)} is {above}:{below}, outside of the "
                f"{name} of {_number(bound)}: nothing is planned for any role (RatioConflict)",
                way_out="include the current counts, or scale the roles first",
            )


@lint(
    trigger=Example({"spec.roles[0].maxReplicas": 65}, scaler=True),
    near_miss=Example({"spec.roles[0].maxReplicas": 64}, scaler=True),
)
def more_than_the_sampler_reads(review: ScalerReview) -> Iterator[Caution]:
    """MDW57 | spec.roles[*].maxReplicas | A role of more than 64 replicas is never shrunk again.

    The sampler reads at most 64 answering Pods of a role, one a replica. Above that its coverage is incomplete, which
    holds every shrinkage of the role; growth goes on.

    Way out: 64 at most, or several deployments.

    Source: spec 3 §Limitations.
    """
    for index, role in enumerate(review.new.spec.roles):
        if role.max_replicas > MOST_READ:
            yield Caution(
                "MDW57",
                f"spec.roles[{index}].maxReplicas",
                role.max_replicas,
                why=f"{MOST_READ} replicas of a role are read at most, and above that it is never shrunk",
                way_out=f"set {MOST_READ} or less, or spread the load over several deployments",
            )


@lint(
    trigger=Example({**_EPD, "spec.roles[2]": GONE, f"{_BLOCK}.decodeTargetTokensPerSecond": GONE}, scaler=True),
    near_miss=Example(_EPD, scaler=True),
    needs=Needs.TARGET,
)
def roles_without_bounds(review: ScalerReview) -> Iterator[Caution]:
    """MDW58 | spec.roles | A role of the target that has no bounds stops all planning.

    An incomplete set is admitted, so that scaler and target can be written in any order, and then blocks with
    `BoundsConflict`.

    Way out: an entry for every role of the target; equal bounds hold one still.

    Source: spec 3 §Bounds and ratios.
    """
    scaled = {role.name for role in review.new.spec.roles}
    missing = [name for name in _current(review) if name not in scaled]
    if missing:
        yield Caution(
            "MDW58",
            "spec.roles",
            sorted(scaled),
            why=f"the target's {brief(', '.join(missing), 48)} has no bounds, so nothing is planned for any role "
            "(BoundsConflict)",
            way_out="add an entry for every role; equal bounds hold one still",
        )


@lint(
    trigger=Example({"spec.rebalance": {"priority": ["server"]}}, scaler=True),
    near_miss=Example({"spec.rebalance": {"policy": "Priority", "priority": ["server"]}}, scaler=True),
)
def priority_unread(review: ScalerReview) -> Iterator[Caution]:
    """MDW59 | spec.rebalance.priority | An order of roles that is read under the policy Priority alone.

    `Opposing`, the default, takes capacity from roles that shrink anyway, whatever their order; `Disabled` takes none.

    Way out: `policy: Priority`, or no list.

    Source: spec 3 §Resource rebalancing.
    """
    rebalance = review.new.spec.rebalance
    if rebalance.priority and rebalance.policy is not RebalancePolicy.PRIORITY:
        yield Caution(
            "MDW59",
            "spec.rebalance.priority",
            list(rebalance.priority),
            why=f"the order is read under the policy Priority alone, and the policy is {rebalance.policy.value}",
            way_out="set spec.rebalance.policy to Priority, or leave the list out",
        )


def zeros_stored(submitted: Mapping[str, Any]) -> Iterator[Caution]:
    """What MDW51 says of a scaler as JSON; the half that writes the defaults is the only one that sees the zeros."""
    for field, default in _STORED.items():
        if _is_zero(found(submitted, field)):
            yield Caution(
                "MDW51",
                field,
                0,
                why=f"0 does not switch this bound off: it is stored as the default, {default}",
                way_out="to step in one unit alone, or not at all, set spec.behavior.scaleUp.stepPolicy",
            )


def _blocks(review: ScalerReview) -> Iterator[tuple[str, TokenThroughput]]:
    """Every token throughput block with its field path."""
    algorithm = review.new.spec.algorithm
    if algorithm.token_throughput:
        yield _BLOCK, algorithm.token_throughput
    if algorithm.predictive and algorithm.predictive.token_throughput:
        yield _NESTED, algorithm.predictive.token_throughput


def _current(review: ScalerReview) -> dict[str, int]:
    """Replicas of every role of the target by name; nothing where the target is not known."""
    return {role.name: role.replicas for role in review.target.spec.roles} if review.target else {}


def _under(above: int, below: int, bound: Quantity) -> bool:
    """Whether a ratio is below a bound; the planner lets a billionth pass, so that 0.333333333 stands for a third."""
    return above * _NANO + 1 < bound.nanos * below


def _over(above: int, below: int, bound: Quantity) -> bool:
    """Whether a ratio is above a bound, but for the same billionth."""
    return above * _NANO - 1 > bound.nanos * below


def _is_zero(value: Any) -> bool:
    """Whether a JSON number or quantity is there and not positive."""
    if value is None or isinstance(value, bool) or not isinstance(value, int | float | str):
        return False
    try:
        return Quantity.parse(value).nanos <= 0
    except ValueError:
        return False


LINTS: Final[tuple[Row[Any, Any], ...]] = (
    zero_stored_as_default,
    zero_read_as_default,
    panic_window_not_shorter,
    panic_before_capacity,
    bounds_exclude_current,
    ratio_excludes_current,
    more_than_the_sampler_reads,
    roles_without_bounds,
    priority_unread,
)
