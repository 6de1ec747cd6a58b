"""What token-driven algorithms need to know of each kind that is scaled; the kinds are the target's.

Source: spec 3 §Token throughput and §Predictive, facts api-scaler §2 and §3.
"""

from collections.abc import Iterator
from typing import Any, Final

from modeldeployment.admission.examples import GONE, Example
from modeldeployment.admission.facts import Needs
from modeldeployment.admission.rule import Row, row
from modeldeployment.admission.rules.scalers.algorithm import BLOCKS, FIELD, chosen
from modeldeployment.admission.subjects import ScalerReview
from modeldeployment.admission.verdict import Cause, Refusal
from modeldeployment.api import RoleKind
from modeldeployment.api.algorithms import AlgorithmType, Predictive, TokenThroughput

_TOKEN_DRIVEN: Final = (AlgorithmType.TOKEN_THROUGHPUT, AlgorithmType.PREDICTIVE)
_SERVED: Final = {
    RoleKind.SERVER: "prompt and generation tokens",
    RoleKind.PREFILL: "prompt tokens",
    RoleKind.DECODE: "generation tokens",
}
"""What a replica of each kind is measured by; Encode by nothing, so it follows a ratio."""

_TOKENS: Final = {"serverTargetTokensPerSecond": "2000"}
_FORECAST: Final = {
    "type": "Predictive",
    "predictive": {"tokenThroughput": _TOKENS, "serverTokenCapacityPerReplica": "2000"},
}


def _scaled_kinds(review: ScalerReview) -> Iterator[tuple[RoleKind, str]]:
    """Each kind that is scaled and measured, with the first scaled role of it."""
    first: dict[RoleKind, str] = {}
    for _, scaled, role in review.matched:
        first.setdefault(role.kind, scaled.name)
    return ((kind, name) for kind, name in first.items() if kind in _SERVED)


@row(
    trigger=Example({f"{FIELD}.tokenThroughput.serverTargetTokensPerSecond": GONE}, scaler=True),
    near_miss=Example({FIELD: GONE}, scaler=True, known={"qwen-72b": None}),
    needs=Needs.TARGET,
)
def target_of_a_kind(review: ScalerReview) -> Iterator[Refusal]:
    """MD130 | spec.algorithm.tokenThroughput.*TargetTokensPerSecond | Every measured kind needs its token target.

    Measured are all kinds but Encode. TokenThroughput divides demand by what one replica serves, and Predictive falls
    back to the same under `predictive.tokenThroughput`. Which kinds are scaled is read from the target, so nothing is
    asked for before it exists. Source: spec 3 §Token throughput and §Predictive.
    """
    algorithm = review.new.spec.algorithm
    in_force = chosen(review)
    if in_force not in _TOKEN_DRIVEN:
        return
    forecast = in_force is AlgorithmType.PREDICTIVE
    nested = algorithm.predictive.token_throughput if algorithm.predictive else None
    block = nested if forecast else algorithm.token_throughput
    path = f"{FIELD}.{BLOCKS[AlgorithmType.PREDICTIVE]}.tokenThroughput" if forecast else f"{FIELD}.tokenThroughput"
    for kind, name in _scaled_kinds(review):
        attribute = f"{kind.label}_target_tokens_per_second"
        if block is None or getattr(block, attribute) is None:
            yield Refusal(
                "MD130",
                f"{path}.{TokenThroughput.model_fields[attribute].alias}",
                None,
                why=f"the role {name} of {review.new.spec.target_ref.name} is a {kind.value} role, and its "
                f"demand is divided by the {_SERVED[kind]} per second that one replica serves",
                way_out="write the rate one replica serves, as a positive quantity such as "
                '"2000", or choose Proportional',
                cause=Cause.REQUIRED,
            )


@row(
    trigger=Example({FIELD: {"type": "Predictive", "predictive": {"tokenThroughput": _TOKENS}}}, scaler=True),
    near_miss=Example({FIELD: _FORECAST}, scaler=True),
    needs=Needs.TARGET,
)
def capacity_of_a_kind(review: ScalerReview) -> Iterator[Refusal]:
    """MD131 | spec.algorithm.predictive.*TokenCapacityPerReplica | Predictive needs every kind's capacity.

    All but Encode: the forecast demand is divided by it. It stands beside the target of the nested `tokenThroughput`,
    and may differ from it. Source: spec 3 §Predictive.
    """
    if chosen(review) is not AlgorithmType.PREDICTIVE:
        return
    block = review.new.spec.algorithm.predictive
    for kind, name in _scaled_kinds(review):
        attribute = f"{kind.label}_token_capacity_per_replica"
        if block is None or getattr(block, attribute) is None:
            yield Refusal(
                "MD131",
                f"{FIELD}.{BLOCKS[AlgorithmType.PREDICTIVE]}.{Predictive.model_fields[attribute].alias}",
                None,
                why=f"the role {name} of {review.new.spec.target_ref.name} is a {kind.value} role, and its forecast is "
                f"divided by the {_SERVED[kind]} per second that one replica is planned with",
                way_out="write that rate as a positive quantity; the token target of the same kind is a good start",
                cause=Cause.REQUIRED,
            )


def _epd(*ratios: dict[str, str]) -> Example:
    tokens = {"prefillTargetTokensPerSecond": "2000", "decodeTargetTokensPerSecond": "800"}
    return Example(
        {
            "spec.targetRef.name": "qwen-epd",
            "spec.roles": [{"name": name, "maxReplicas": 4} for name in ("encode", "prefill", "decode")],
            "spec.ratios": list(ratios),
            FIELD: {"type": "TokenThroughput", "tokenThroughput": tokens},
        },
        scaler=True,
    )


@row(
    trigger=_epd(),
    near_miss=_epd({"numeratorRole": "decode", "denominatorRole": "encode", "target": "1"}),
    needs=Needs.TARGET,
)
def encode_follows_nothing(review: ScalerReview) -> Iterator[Refusal]:
    """MD132 | spec.roles[*].name | A scaled Encode role has a direct ratio to a scaled Prefill or Decode role.

    An encoder counts no tokens, so TokenThroughput and Predictive have no recommendation of its own for it; it follows
    the ratio, which may stand either way round. Under Proportional a role target does as well.
    Source: spec 3 §Token throughput.
    """
    if chosen(review) not in _TOKEN_DRIVEN:
        return
    led = {scaled.name for _, scaled, role in review.matched if role.kind in (RoleKind.PREFILL, RoleKind.DECODE)}
    followers: set[str] = set()
    for ratio in review.new.spec.ratios:
        ends = {ratio.numerator_role, ratio.denominator_role}
        if ends & led:
            followers |= ends
    for index, scaled, role in review.matched:
        if role.kind is RoleKind.ENCODE and scaled.name not in followers:
            yield Refusal(
                "MD132",
                f"spec.roles[{index}].name",
                scaled.name,
                why=f"{scaled.name} is an Encode role, which counts no tokens, and no ratio ties it to a Prefill or "
                "Decode role that is scaled",
                way_out=f"add a ratio between {scaled.name} and "
                + (f"one of {', '.join(sorted(led))}" if led else "a Prefill or Decode role, and bounds for that role"),
            )


RULES: Final[tuple[Row[Any, Any], ...]] = (target_of_a_kind, capacity_of_a_kind, encode_follows_nothing)
