"""The algorithm, its one block and its numbers; what hangs on the kinds of the target's roles is `capacity`.

Source: spec 3 §Algorithms, facts api-scaler §2 (algorithm).
"""

from collections.abc import Iterator
from typing import Any, Final

from modeldeployment.admission import patching
from modeldeployment.admission.examples import Example
from modeldeployment.admission.rule import Row, row
from modeldeployment.admission.subjects import ScalerReview
from modeldeployment.admission.verdict import Cause, Refusal
from modeldeployment.api.algorithms import Algorithm, AlgorithmType, Predictive, TokenThroughput
from modeldeployment.api.quantity import Quantity

FIELD: Final = "spec.algorithm"
BLOCKS: Final = {
    AlgorithmType.PROPORTIONAL: "proportional",
    AlgorithmType.TOKEN_THROUGHPUT: "tokenThroughput",
    AlgorithmType.PREDICTIVE: "predictive",
}
"""The parameter block of each algorithm."""

ZERO: Final = Quantity(0)
ONE: Final = Quantity.whole(1)

_TOKENS: Final = {"serverTargetTokensPerSecond": "2000"}
_PROPORTIONAL: Final = {"metric": "QueueDepth", "roleTargets": [{"name": "server", "target": "8"}]}


def chosen(review: ScalerReview) -> AlgorithmType | None:
    """The algorithm in force; None only before it is defaulted."""
    return review.new.spec.algorithm.type


def given(algorithm: Algorithm) -> list[AlgorithmType]:
    """The algorithms whose block is there."""
    blocks = (algorithm.proportional, algorithm.token_throughput, algorithm.predictive)
    return [kind for kind, block in zip(BLOCKS, blocks, strict=True) if block is not None]


@row(
    trigger=Example({f"{FIELD}.type": "Proportional", f"{FIELD}.proportional": _PROPORTIONAL}, scaler=True),
    near_miss=Example({FIELD: {"type": "Proportional", "proportional": _PROPORTIONAL}}, scaler=True),
)
def foreign_block(review: ScalerReview) -> Iterator[Refusal]:
    """MD120 | spec.algorithm.* | Only the parameter block of the algorithm in force is accepted.

    Without a `type`, a `proportional` block means Proportional, a `predictive` block Predictive, and anything else
    TokenThroughput. A block that nothing reads would be mistaken for one that is. Under Predictive, the token
    throughput it falls back to is `predictive.tokenThroughput`. Source: spec 3 §Algorithms.
    """
    in_force = chosen(review)
    blocks = given(review.new.spec.algorithm)
    for kind in blocks:
        if in_force is None or kind is in_force:
            continue
        field = f"{FIELD}.{BLOCKS[kind]}"
        nested = ", or move it into predictive.tokenThroughput" if in_force is AlgorithmType.PREDICTIVE else ""
        other = f"take the block out{nested}, or set type to {kind.value}"
        alone = blocks == [kind]
        yield Refusal(
            "MD120",
            field,
            patching.found(review.body, field),
            why=f"the algorithm is {in_force.value}, which reads {BLOCKS[in_force]} alone",
            way_out=other,
            cause=Cause.FORBIDDEN,
            patch=(patching.put(f"{FIELD}.type", kind.value) if alone else patching.remove(field),),
        )


@row(
    trigger=Example({FIELD: {"type": "Proportional"}}, scaler=True),
    near_miss=Example({FIELD: {"proportional": _PROPORTIONAL}}, scaler=True),
)
def nothing_to_measure(review: ScalerReview) -> Iterator[Refusal]:
    """MD121 | spec.algorithm.proportional | Proportional needs its block.

    It holds the metric, which has no default, and the targets. Source: spec 3 §Proportional.
    """
    algorithm = review.new.spec.algorithm
    if chosen(review) is AlgorithmType.PROPORTIONAL and algorithm.proportional is None:
        yield Refusal(
            "MD121",
            f"{FIELD}.proportional",
            None,
            why="Proportional compares one metric with a target per role, and neither is given",
            way_out="write proportional.metric and proportional.roleTargets, or choose another type",
            cause=Cause.REQUIRED,
        )


@row(
    trigger=Example(
        {FIELD: {"type": "Proportional", "proportional": _PROPORTIONAL | {"tolerance": "1.1"}}}, scaler=True
    ),
    near_miss=Example(
        {FIELD: {"type": "Proportional", "proportional": _PROPORTIONAL | {"tolerance": "1"}}}, scaler=True
    ),
)
def tolerance(review: ScalerReview) -> Iterator[Refusal]:
    """MD122 | spec.algorithm.proportional.tolerance | The tolerance is above 0 and at most 1.

    It is a share of the target: 0.1, the default, holds the count between 90 % and 110 % of it.
    Source: spec 3 §Proportional.
    """
    block = review.new.spec.algorithm.proportional
    if block is not None and not ZERO < block.tolerance <= ONE:
        field = f"{FIELD}.proportional.tolerance"
        yield Refusal(
            "MD122",
            field,
            patching.found(review.body, field),
            why="the tolerance is the share of the target by which load may miss it, above 0 and at most 1",
            way_out='write a share such as "0.1", or leave tolerance out for that default',
        )


@row(
    trigger=Example({f"{FIELD}.tokenThroughput": _TOKENS | {"panicThreshold": "0"}}, scaler=True),
    near_miss=Example({f"{FIELD}.tokenThroughput": _TOKENS | {"panicThreshold": "1500m"}}, scaler=True),
)
def not_positive(review: ScalerReview) -> Iterator[Refusal]:
    """MD123 | spec.algorithm.tokenThroughput, spec.algorithm.predictive | Rates, capacities, thresholds are positive.

    Demand is divided by a capacity, and a latency target of zero is always missed. The noise parameters of Predictive
    are the exception: what is not positive there reads as the default. Source: spec 3 §Algorithms.
    """
    algorithm = review.new.spec.algorithm
    predictive = algorithm.predictive
    nested = predictive.token_throughput if predictive else None
    for block, path, names in (
        (algorithm.token_throughput, f"{FIELD}.tokenThroughput", _THROUGHPUT),
        (nested, f"{FIELD}.predictive.tokenThroughput", _THROUGHPUT),
        (predictive, f"{FIELD}.predictive", _CAPACITIES),
    ):
        if block is None:
            continue
        for attribute, name in names.items():
            quantity: Quantity | None = getattr(block, attribute)
            if quantity is not None and quantity <= ZERO:
                default = type(block).model_fields[attribute].default
                yield Refusal(
                    "MD123",
                    f"{path}.{name}",
                    patching.found(review.body, f"{path}.{name}"),
                    why=f"{name} is positive",
                    way_out="write a positive quantity"
                    + ("" if default is None else f", or leave it out for the default of {default}"),
                )


def _spelled(block: type[TokenThroughput | Predictive], *endings: str) -> dict[str, str]:
    """JSON names of a block's fields with those endings, by attribute."""
    return {name: str(field.alias) for name, field in block.model_fields.items() if name.endswith(endings)}


_THROUGHPUT: Final = _spelled(TokenThroughput, "_per_second", "_threshold", "_milliseconds")
_CAPACITIES: Final = _spelled(Predictive, "_per_replica")


RULES: Final[tuple[Row[Any, Any], ...]] = (
    foreign_block,
    nothing_to_measure,
    tolerance,
    not_positive,
)
