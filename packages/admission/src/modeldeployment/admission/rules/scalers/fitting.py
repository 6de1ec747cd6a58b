"""Whether bounds and ratios can hold together.

Source: spec 3 §Bounds and ratios, facts api-scaler §3.
"""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

from modeldeployment.admission import feasibility, patching
from modeldeployment.admission.examples import Example
from modeldeployment.admission.feasibility import Band, Impossible, Possible, Push, Span
from modeldeployment.admission.rule import Row, row
from modeldeployment.admission.rules.scalers import ratios
from modeldeployment.admission.subjects import ScalerReview
from modeldeployment.admission.verdict import Refusal
from modeldeployment.api.quantity import Quantity
from modeldeployment.api.scaler import Ratio

LARGEST: Final = 1024
"""Most replicas a role can ever have (facts api-scaler §2)."""

_UNIT: Final = Quantity.whole(1).nanos
_SHOWN: Final = 3
_LESS: Final = 8
"""How much less is tried to find a way out than to find the refusal."""


def _roles(prefill: int) -> dict[str, Any]:
    return {
        "spec.targetRef.name": "qwen-pd",
        "spec.roles": [
            {"name": "prefill", "minReplicas": 1, "maxReplicas": prefill},
            {"name": "decode", "minReplicas": 4, "maxReplicas": 16},
        ],
        "spec.ratios": [{"numeratorRole": "prefill", "denominatorRole": "decode", "min": "2"}],
        "spec.algorithm": {
            "type": "TokenThroughput",
            "tokenThroughput": {"prefillTargetTokensPerSecond": "2000", "decodeTargetTokensPerSecond": "800"},
        },
    }


_COUNTS: Final = {"qwen-pd": {"spec.roles[0].replicas": 8, "spec.roles[1].replicas": 4}}


@row(
    trigger=Example(_roles(prefill=7), scaler=True, known=_COUNTS),
    near_miss=Example(_roles(prefill=8), scaler=True, known=_COUNTS),
)
def impossible(review: ScalerReview) -> Iterator[Refusal]:
    """MD116 | spec.ratios[*] | Some whole counts within the bounds keep every ratio.

    Counted exactly, in whole replicas: from the minimum of each role, the ratios say how many of the others there must
    be at least. Where that passes a maximum, no counts fit, and the scaler could never plan. Roles that ratios connect
    are judged together. Only what is proved impossible is refused; a search that takes too long lets the object in.
    A ratio with a `target` alone is a preference and excludes nothing. Source: spec 3 §Bounds and ratios.
    """
    if not review.new.spec.ratios:
        return
    spans = {
        role.name: Span(role.min_replicas, role.max_replicas)
        for index, role in enumerate(review.new.spec.roles)
        if review.scaled[role.name] == index and role.min_replicas <= role.max_replicas
    }
    named = [
        (index, ratio)
        for index, ratio in enumerate(review.new.spec.ratios)
        if ratios.sound(ratio) and {ratio.numerator_role, ratio.denominator_role} <= spans.keys()
    ]
    whole = [_band(ratio) for _, ratio in named]
    first = feasibility.solve(spans, whole)
    if isinstance(first, Possible):
        return
    groups = tuple(feasibility.components(whole))
    limit = feasibility.LIMIT // len(groups)
    for roles, members in groups:
        within = {role: spans[role] for role in spans if role in roles}
        # A band of another group has no ends here, so that all keep the number they have.
        bands = [band if at in members else Band(band.numerator, band.denominator) for at, band in enumerate(whole)]
        known = isinstance(first, Impossible) and first.last.role in roles
        outcome = first if known else feasibility.solve(within, bands, limit)
        if isinstance(outcome, Impossible):
            chain = outcome.last.chain
            field = f"spec.ratios[{named[outcome.last.band][0]}].{_end(outcome.last)}"
            yield Refusal(
                "MD116",
                field,
                patching.found(review.body, field),
                why=f"no whole counts within the bounds keep {_and(_ratios(chain, named))}: "
                f"{_proof(chain, named, within)}",
                way_out=_way_out(chain, within, bands, limit // _LESS),
            )


def _band(ratio: Ratio) -> Band:
    least, most = (None if end is None else Fraction(end.nanos, _UNIT) for end in (ratio.min, ratio.max))
    return Band(ratio.numerator_role, ratio.denominator_role, least, most)


def _proof(chain: Sequence[Push], joined: Sequence[tuple[int, Ratio]], spans: Mapping[str, Span]) -> str:
    last = chain[-1]
    start = f"minReplicas {chain[0].given} of {chain[0].source}"
    end = f"above its maxReplicas {spans[last.role].ceiling}"
    if len(chain) > _SHOWN:
        roles = _and(list(dict.fromkeys(push.role for push in chain)))
        return f"from {start} on, they push the counts of {roles} up in turn, and {last.role} {end}"
    pushes = [
        f"{_asking(push, joined)} asks for {push.replicas} of {push.role}"
        + (f" where there are {push.given} of {push.source}" if position else "")
        for position, push in enumerate(chain)
    ]
    return f"with {start}, {', then '.join(pushes)}, {end}"


def _asking(push: Push, joined: Sequence[tuple[int, Ratio]]) -> str:
    ratio = joined[push.band][1]
    return f"{_end(push)} {ratio.max if push.upper else ratio.min} of {ratios.named(ratio)}"


def _ratios(chain: Sequence[Push], joined: Sequence[tuple[int, Ratio]]) -> list[str]:
    used = sorted({push.band for push in chain})
    return [f"the ratio {ratios.named(joined[band][1])} (spec.ratios[{joined[band][0]}])" for band in used]


def _way_out(chain: Sequence[Push], spans: Mapping[str, Span], bands: Sequence[Band], limit: int) -> str:
    """What would help, tried out: higher maxima, else lower minima as well, else neither."""
    floor = chain[0].source
    lower = f", lower minReplicas of {floor}" if spans[floor].floor > 1 else ""
    highest = {role: Span(span.floor, LARGEST) for role, span in spans.items()}
    raised = Impossible(chain[-1]) if highest == spans else feasibility.solve(highest, bands, limit)
    if isinstance(raised, Possible):
        needed = [
            f"maxReplicas of {role} to {count} or more"
            for role, count in raised.counts.items()
            if count > spans[role].ceiling
        ]
        return f"raise {_and(needed)}{lower}, or widen the ratio"
    if lower and isinstance(feasibility.solve(dict.fromkeys(spans, Span(1, LARGEST)), bands, limit), Possible):
        return f"widen a ratio{lower}, or do both"
    if isinstance(raised, Impossible):
        return "widen a ratio: no bounds that a role can have would help"
    return "widen a ratio"


def _end(push: Push) -> str:
    return "max" if push.upper else "min"


def _and(words: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


RULES: Final[tuple[Row[Any, Any], ...]] = (impossible,)
