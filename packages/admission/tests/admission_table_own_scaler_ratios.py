"""Our own rows for a scaler's target, bounds, ratios and priorities (facts api-scaler §2 and §3)."""

from collections.abc import Mapping
from typing import Any, Final

from admission_case import Case, Refused
from modeldeployment.admission.examples import GONE

SERVER: Final = {"name": "server", "minReplicas": 2, "maxReplicas": 16}
TOKENS: Final = {"prefillTargetTokensPerSecond": "2000", "decodeTargetTokensPerSecond": "800"}


def bounds(name: str, low: int, high: int) -> dict[str, Any]:
    return {"name": name, "minReplicas": low, "maxReplicas": high}


def ratio(numerator: str = "prefill", denominator: str = "decode", **quantities: Any) -> dict[str, Any]:
    return {"numeratorRole": numerator, "denominatorRole": denominator, **quantities}


def epd(
    *ratios: Mapping[str, Any], encode: tuple[int, int], prefill: tuple[int, int], decode: tuple[int, int]
) -> dict[str, Any]:
    """A scaler of the three roles, whose Encode role is always tied to prefill by a preference."""
    tie = [] if any("encode" in each.values() for each in ratios) else [ratio("encode", "prefill", target="1")]
    return {
        "spec.targetRef.name": "qwen-epd",
        "spec.roles": [bounds("encode", *encode), bounds("prefill", *prefill), bounds("decode", *decode)],
        "spec.ratios": [*ratios, *tie],
        "spec.algorithm": {"type": "TokenThroughput", "tokenThroughput": TOKENS},
    }


def pair(*ratios: Mapping[str, Any], prefill: tuple[int, int] = (2, 16), decode: tuple[int, int] = (2, 16)) -> Any:
    """A scaler of the two roles."""
    return {
        "spec.targetRef.name": "qwen-pd",
        "spec.roles": [bounds("prefill", *prefill), bounds("decode", *decode)],
        "spec.ratios": list(ratios),
        "spec.algorithm": {"type": "TokenThroughput", "tokenThroughput": TOKENS},
    }


def accepted(name: str, new: Mapping[str, Any], **more: Any) -> Case:
    return Case(name, new, scaler=True, **more)


def refused(name: str, new: Mapping[str, Any], *refusals: Refused, **more: Any) -> Case:
    return Case(name, new, refused=refusals, scaler=True, **more)


IDENTITY: Final = (
    accepted("NS1-as-stored", {}, old={}),
    accepted("NS1-other-fields", {"spec.mode": "Active", "spec.suspend": True}, old={}),
    refused(
        "NS2-retargeted",
        {"spec.targetRef.name": "qwen-pd", "spec.roles[0].name": "prefill", "spec.algorithm": GONE},
        Refused("MD160", "spec.targetRef", ("qwen-pd", "qwen-72b", "create another scaler")),
        Refused("MD130", "spec.algorithm.tokenThroughput.prefillTargetTokensPerSecond", ("prefill",)),
        old={},
    ),
    refused(
        "NS2-retargeted-to-nothing",
        {"spec.targetRef.name": "later"},
        Refused("MD160", "spec.targetRef", ("later", "qwen-72b")),
        old={},
    ),
)

BOUNDS: Final = (
    refused(
        "NS3-a-role-bounded-twice",
        {"spec.roles": [SERVER, SERVER | {"maxReplicas": 8}]},
        Refused("MD101", "spec.roles[1].name", ("server", "spec.roles[0]")),
    ),
    accepted("NS4-equal-bounds", {"spec.roles[0]": bounds("server", 4, 4)}),
    refused(
        "NS4-floor-above-ceiling",
        {"spec.roles[0]": bounds("server", 9, 8)},
        Refused("MD102", "spec.roles[0].minReplicas", ("server", "9", "8")),
    ),
    refused(
        "NS4-with-a-ratio",
        pair(ratio(min="2"), prefill=(3, 2)),
        Refused("MD102", "spec.roles[0].minReplicas", ("prefill", "3", "2")),
    ),
    accepted("NS4-the-default-floor", {"spec.roles[0]": {"name": "server", "maxReplicas": 1}}),
)

RATIOS: Final = (
    accepted("NS5-all-three-ends", pair(ratio(min="0.5", target="1", max="2"))),
    accepted("NS5-both-ways-round", pair(ratio(min="0.5"), ratio("decode", "prefill", min="0.5"))),
    accepted("NS5-one-fixed-value", pair(ratio(min="1", target="1000m", max=1))),
    accepted("NS5-a-preference-no-count-reaches", pair(ratio(target="1000"))),
    refused(
        "NS6-numerator-not-scaled",
        pair(ratio("encode", "prefill", target="1")),
        Refused("MD110", "spec.ratios[0].numeratorRole", ("encode", "prefill, decode")),
    ),
    refused(
        "NS6-neither-scaled",
        pair(ratio("encode", "router")),
        Refused("MD110", "spec.ratios[0].numeratorRole", ("encode",)),
        Refused("MD110", "spec.ratios[0].denominatorRole", ("router",)),
    ),
    refused(
        "NS7-one-role",
        pair(ratio("decode", "decode", min="2")),
        Refused("MD111", "spec.ratios[0].denominatorRole", ("decode", "itself")),
    ),
    refused(
        "NS8-one-pair-twice",
        pair(ratio(min="0.5"), ratio(max="2")),
        Refused("MD112", "spec.ratios[1]", ("prefill", "decode", "spec.ratios[0]")),
    ),
    refused(
        "NS9-nothing-positive",
        pair(ratio(target="-1", min="0", max="-2m")),
        Refused("MD113", "spec.ratios[0].target", ("-1", "positive")),
        Refused("MD113", "spec.ratios[0].min", ("0", "prefill/decode")),
        Refused("MD113", "spec.ratios[0].max", ("-2m",)),
    ),
    accepted("NS9-a-nano-unit", pair(ratio(min="1n"))),
    refused(
        "NS10-target-below-min",
        pair(ratio(target="0.4", min="0.5")),
        Refused("MD114", "spec.ratios[0].target", ("400m", "500m", "min", "below")),
    ),
    refused(
        "NS10-target-above-max",
        pair(ratio(target="3", max="2")),
        Refused("MD114", "spec.ratios[0].target", ("3", "2", "max", "above")),
    ),
    refused(
        "NS11-min-above-max",
        pair(ratio(target="1", min="2", max="0.5")),
        Refused("MD115", "spec.ratios[0].min", ("2", "500m", "prefill/decode")),
    ),
)

FITTING: Final = (
    refused(
        "NS12-min-out-of-reach",
        pair(ratio(min="2"), prefill=(1, 7), decode=(4, 8)),
        Refused("MD116", "spec.ratios[0].min", ("prefill/decode", "minReplicas 4 of decode", "8 of prefill", "7")),
    ),
    accepted("NS12-min-just-in-reach", pair(ratio(min="2"), prefill=(1, 8), decode=(4, 8))),
    refused(
        "NS12-max-out-of-reach",
        pair(ratio(max="0.5"), prefill=(8, 16), decode=(1, 15)),
        Refused("MD116", "spec.ratios[0].max", ("minReplicas 8 of prefill", "16 of decode", "maxReplicas 15")),
    ),
    accepted("NS12-max-just-in-reach", pair(ratio(max="0.5"), prefill=(8, 16), decode=(1, 16))),
    refused(
        "NS13-no-whole-counts-in-the-ratio",
        pair(ratio(min="1.5", max="1.5"), prefill=(1, 2), decode=(1, 8)),
        Refused("MD116", "spec.ratios[0].min", ("raise maxReplicas of prefill to 3 or more",)),
    ),
    accepted("NS13-a-fixed-ratio-that-divides", pair(ratio(min="1.5", max="1.5"), prefill=(1, 3), decode=(1, 8))),
    refused(
        "NS14-through-a-third-role",
        epd(
            ratio(min="2"),
            ratio("encode", "prefill", min="1"),
            encode=(1, 4),
            prefill=(1, 16),
            decode=(3, 16),
        ),
        Refused(
            "MD116",
            "spec.ratios[1].min",
            ("spec.ratios[0]", "spec.ratios[1]", "minReplicas 3 of decode", "6 of encode", "maxReplicas 4"),
        ),
    ),
    refused(
        "NS15-ratios-that-contradict-each-other",
        pair(ratio(min="2"), ratio("decode", "prefill", min="2"), prefill=(1, 1024), decode=(1, 1024)),
        Refused("MD116", "spec.ratios[1].min", ("prefill/decode", "decode/prefill", "widen a ratio"), ("raise",)),
    ),
    refused(
        "NS15-a-minimum-no-maximum-answers",
        pair(ratio(min="2"), prefill=(1, 1024), decode=(513, 1024)),
        Refused(
            "MD116", "spec.ratios[0].min", ("1026 of prefill", "widen a ratio, lower minReplicas of decode"), ("raise",)
        ),
    ),
    refused(
        "NS19-a-third-in-decimals-is-no-third",
        pair(ratio(min="0.333", max="0.333"), prefill=(1, 16), decode=(1, 16)),
        Refused(
            "MD116", "spec.ratios[0].max", ("prefill/decode", "raise maxReplicas of prefill to 333", "decode to 1000")
        ),
    ),
    accepted("NS19-a-band-around-a-third", pair(ratio(min="0.333", max="0.334"), prefill=(1, 5), decode=(3, 16))),
    accepted(
        "NS19-decimals-that-counts-reach", pair(ratio(min="333m", max="333m"), prefill=(1, 333), decode=(1, 1000))
    ),
    refused(
        "NS19-just-above-what-counts-reach",
        pair(ratio(min="0.333333334"), prefill=(1, 1), decode=(3, 3)),
        Refused("MD116", "spec.ratios[0].min", ("2 of prefill",)),
    ),
    accepted("NS19-just-below-what-counts-reach", pair(ratio(min="0.333333333"), prefill=(1, 1), decode=(3, 3))),
)

_FOUR: Final = ("one", "two", "three", "four")

APART: Final = (
    refused(
        "NS18-each-group-of-roles-on-its-own",
        pair(
            ratio("one", "two", min="3"),
            ratio("three", "four", target="1"),
            ratio("two", "one", max="1"),
            ratio("four", "three", max="0.5"),
        )
        | {
            "spec.targetRef.name": "later",
            "spec.roles": [{"name": name, "minReplicas": 2, "maxReplicas": 3} for name in _FOUR],
        },
        Refused("MD116", "spec.ratios[0].min", ("one/two", "6 of one"), ("three", "four")),
        Refused("MD116", "spec.ratios[3].max", ("four/three", "4 of three"), ("one", "two")),
    ),
)

PRIORITIES: Final = (
    accepted("NS16-priorities", pair() | {"spec.rebalance": {"policy": "Priority", "priority": ["decode", "prefill"]}}),
    accepted("NS16-not-every-role", pair() | {"spec.rebalance": {"policy": "Priority", "priority": ["decode"]}}),
    refused(
        "NS16-judged-whatever-the-policy",
        pair() | {"spec.rebalance": {"policy": "Disabled", "priority": ["decode", "decode", "encode"]}},
        Refused("MD150", "spec.rebalance.priority[1]", ("decode",)),
        Refused("MD151", "spec.rebalance.priority[2]", ("encode",)),
    ),
    refused(
        "NS16-listed-twice",
        pair() | {"spec.rebalance": {"policy": "Opposing", "priority": ["decode", "prefill", "decode"]}},
        Refused("MD150", "spec.rebalance.priority[2]", ("decode", "spec.rebalance.priority[0]")),
    ),
    refused(
        "NS17-not-scaled",
        pair() | {"spec.rebalance": {"policy": "Priority", "priority": ["decode", "encode"]}},
        Refused("MD151", "spec.rebalance.priority[1]", ("encode", "prefill, decode")),
    ),
)

TABLE: Final[tuple[Case, ...]] = (*IDENTITY, *BOUNDS, *RATIOS, *FITTING, *APART, *PRIORITIES)
