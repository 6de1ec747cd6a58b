"""Our own rows for a scaler's algorithm and its defaults, without and with a target (facts api-scaler §2 and §3)."""

from typing import Any, Final

from admission_case import Case, Refused
from admission_table_own_scaler_ratios import accepted, bounds, epd, ratio, refused
from modeldeployment.admission.examples import GONE

NO_TARGET: Final = {"qwen-72b": None}
"""A cluster without the base's target; the base's scaler of the same name is gone with it, and nobody misses it."""

TOKENS: Final = {"serverTargetTokensPerSecond": "2000"}
SERVER: Final = {"name": "server", "target": "8"}


def proportional(*targets: dict[str, Any], **more: Any) -> dict[str, Any]:
    block = {"metric": "QueueDepth", "roleTargets": list(targets), **more}
    return {"spec.algorithm": {"type": "Proportional", "proportional": block}}


def tokens(**more: Any) -> dict[str, Any]:
    return {"spec.algorithm": {"type": "TokenThroughput", "tokenThroughput": TOKENS | more}}


def predictive(**more: Any) -> dict[str, Any]:
    block = {"tokenThroughput": TOKENS, "serverTokenCapacityPerReplica": "2000", **more}
    return {"spec.algorithm": {"type": "Predictive", "predictive": block}}


THREE: Final = {"encode": (1, 4), "prefill": (1, 4), "decode": (1, 4)}

BLOCKS: Final = (
    accepted("NS20-proportional", proportional(SERVER)),
    accepted("NS20-token-throughput", tokens()),
    accepted("NS20-predictive", predictive()),
    refused(
        "NS21-a-block-nothing-reads",
        {"spec.algorithm": {"type": "TokenThroughput", "tokenThroughput": TOKENS, "predictive": {}}},
        Refused("MD120", "spec.algorithm.predictive", ("TokenThroughput", "tokenThroughput")),
    ),
    refused(
        "NS21-two-blocks-without-a-type",
        {"spec.algorithm": {"proportional": {"metric": "QueueDepth", "roleTargets": [SERVER]}, "predictive": {}}},
        Refused("MD120", "spec.algorithm.predictive", ("Proportional",)),
        defaulted={"spec.algorithm.type": "Proportional"},
    ),
    refused(
        "NS21-throughput-beside-predictive",
        {
            "spec.algorithm": {
                "type": "Predictive",
                "predictive": {"tokenThroughput": TOKENS, "serverTokenCapacityPerReplica": "2000"},
                "tokenThroughput": TOKENS,
            }
        },
        Refused("MD120", "spec.algorithm.tokenThroughput", ("Predictive", "predictive.tokenThroughput")),
    ),
    refused(
        "NS22-proportional-without-its-block",
        {"spec.algorithm": {"type": "Proportional"}},
        Refused("MD121", "spec.algorithm.proportional", ("metric", "roleTargets")),
    ),
    refused(
        "NS22-proportional-with-another-block",
        {"spec.algorithm": {"type": "Proportional", "tokenThroughput": TOKENS}},
        Refused("MD120", "spec.algorithm.tokenThroughput", ("Proportional",)),
        Refused("MD121", "spec.algorithm.proportional"),
    ),
)

NUMBERS: Final = (
    accepted("NS23-tolerance-of-one", proportional(SERVER, tolerance="1")),
    refused(
        "NS23-tolerance-of-zero",
        proportional(SERVER, tolerance="0"),
        Refused("MD122", "spec.algorithm.proportional.tolerance", ("above 0", "at most 1")),
    ),
    refused(
        "NS23-tolerance-above-one",
        proportional(SERVER, tolerance="1001m"),
        Refused("MD122", "spec.algorithm.proportional.tolerance", ("1001m",)),
    ),
    refused(
        "NS24-nothing-positive",
        tokens(
            serverTargetTokensPerSecond="0",
            prefillTargetTokensPerSecond="-1",
            decodeTargetTokensPerSecond=0,
            panicThreshold="0",
            ttftTargetMilliseconds="-500",
            itlTargetMilliseconds="0",
        ),
        *(
            Refused("MD123", f"spec.algorithm.tokenThroughput.{name}", (name, "positive", *default))
            for name, default in (
                ("serverTargetTokensPerSecond", ()),
                ("prefillTargetTokensPerSecond", ()),
                ("decodeTargetTokensPerSecond", ()),
                ("panicThreshold", ("default of 2",)),
                ("ttftTargetMilliseconds", ("default of 500",)),
                ("itlTargetMilliseconds", ("default of 50",)),
            )
        ),
    ),
    refused(
        "NS24-nested-and-capacity",
        predictive(tokenThroughput=TOKENS | {"panicThreshold": "0"}, serverTokenCapacityPerReplica="0"),
        Refused("MD123", "spec.algorithm.predictive.tokenThroughput.panicThreshold"),
        Refused("MD123", "spec.algorithm.predictive.serverTokenCapacityPerReplica"),
    ),
    accepted(
        "NS25-noise-that-is-not-positive-stays-stored",
        predictive(qLevel="0", qTrend="-1", measurementNoise="0"),
        defaulted={
            "spec.algorithm.predictive.qLevel": "0",
            "spec.algorithm.predictive.qTrend": "-1",
            "spec.algorithm.predictive.measurementNoise": "0",
        },
    ),
)

COVERAGE: Final = (
    refused(
        "NS26-a-target-twice",
        proportional(SERVER, SERVER | {"target": "9"}),
        Refused("MD124", "spec.algorithm.proportional.roleTargets[1].name", ("server", "roleTargets[0]")),
    ),
    refused(
        "NS26-a-target-of-no-scaled-role",
        proportional(SERVER, {"name": "decode", "target": "8"}),
        Refused("MD125", "spec.algorithm.proportional.roleTargets[1].name", ("decode", "server")),
    ),
    refused(
        "NS26-a-target-of-zero",
        proportional({"name": "server", "target": "0"}),
        Refused("MD126", "spec.algorithm.proportional.roleTargets[0].target", ("server", "positive")),
    ),
    refused(
        "NS27-no-target-at-all",
        proportional(),
        Refused("MD127", "spec.roles[0].name", ("server", "target", "ratio")),
        known=NO_TARGET,
    ),
    refused(
        "NS27-only-through-a-third-role",
        epd(ratio("encode", "prefill"), ratio("prefill", "decode"), **THREE)
        | proportional({"name": "decode", "target": "8"}),
        Refused("MD127", "spec.roles[0].name", ("encode", "direct")),
    ),
    refused(
        "NS27-only-through-a-third-role-whatever-the-order",
        epd(ratio("prefill", "decode"), ratio("encode", "prefill"), **THREE)
        | proportional({"name": "decode", "target": "8"}),
        Refused("MD127", "spec.roles[0].name", ("encode", "direct")),
    ),
    accepted(
        "NS27-every-role-tied-to-a-targeted-one",
        epd(ratio("encode", "prefill"), ratio("decode", "prefill"), **THREE)
        | proportional({"name": "prefill", "target": "8"}),
    ),
    accepted(
        "NS27-an-encode-role-with-a-target-needs-no-ratio",
        epd(**THREE)
        | {"spec.ratios": []}
        | proportional(*({"name": name, "target": "8"} for name in ("encode", "prefill", "decode"))),
    ),
)

CAPACITIES: Final = (
    refused(
        "NS28-throughput-of-a-server-not-given",
        {"spec.algorithm": GONE},
        Refused(
            "MD130",
            "spec.algorithm.tokenThroughput.serverTargetTokensPerSecond",
            ("server", "Server", "qwen-72b", "prompt and generation"),
        ),
    ),
    accepted("NS28-no-target-yet", {"spec.algorithm": GONE}, known=NO_TARGET),
    refused(
        "NS28-of-the-wrong-kind",
        {"spec.algorithm": {"tokenThroughput": {"prefillTargetTokensPerSecond": "2000"}}},
        Refused("MD130", "spec.algorithm.tokenThroughput.serverTargetTokensPerSecond"),
    ),
    refused(
        "NS28-of-each-kind-once-and-none-of-encode",
        epd(**THREE) | {"spec.algorithm": {"tokenThroughput": {}}},
        Refused("MD130", "spec.algorithm.tokenThroughput.prefillTargetTokensPerSecond", ("prompt tokens",)),
        Refused("MD130", "spec.algorithm.tokenThroughput.decodeTargetTokensPerSecond", ("generation tokens",)),
    ),
    refused(
        "NS29-forecast-without-fallback-or-capacity",
        {"spec.algorithm": {"type": "Predictive"}},
        Refused("MD130", "spec.algorithm.predictive.tokenThroughput.serverTargetTokensPerSecond"),
        Refused("MD131", "spec.algorithm.predictive.serverTokenCapacityPerReplica", ("server", "forecast")),
    ),
    refused(
        "NS29-the-fallback-stands-in-the-wrong-place",
        {
            "spec.algorithm": {
                "type": "Predictive",
                "tokenThroughput": TOKENS,
                "predictive": {"serverTokenCapacityPerReplica": "2000"},
            }
        },
        Refused("MD120", "spec.algorithm.tokenThroughput", ("move it into predictive.tokenThroughput",)),
        Refused("MD130", "spec.algorithm.predictive.tokenThroughput.serverTargetTokensPerSecond"),
    ),
    accepted("NS29-no-target-yet", {"spec.algorithm": {"type": "Predictive"}}, known=NO_TARGET),
    refused(
        "NS30-encode-follows-nothing",
        epd(**THREE) | {"spec.ratios": [ratio("prefill", "decode")]},
        Refused("MD132", "spec.roles[0].name", ("encode", "ratio", "decode, prefill")),
    ),
    accepted("NS30-encode-follows-decode", epd(ratio("decode", "encode", min="1"), **THREE)),
    accepted("NS30-no-target-yet", epd(**THREE) | {"spec.ratios": []}, known={"qwen-epd": None}),
    refused(
        "NS30-encode-alone",
        {
            "spec.targetRef.name": "qwen-epd",
            "spec.roles": [bounds("encode", 1, 4)],
            "spec.algorithm": {"type": "TokenThroughput"},
        },
        Refused("MD132", "spec.roles[0].name", ("Prefill or Decode",)),
    ),
)

DEFAULTS: Final = (
    accepted(
        "NS31-proportional-is-implied",
        {"spec.algorithm": {"proportional": {"metric": "QueueDepth", "roleTargets": [SERVER]}}},
        defaulted={"spec.algorithm.type": "Proportional"},
    ),
    accepted(
        "NS31-predictive-is-implied",
        {"spec.algorithm": {"predictive": predictive()["spec.algorithm"]["predictive"]}},
        defaulted={"spec.algorithm.type": "Predictive"},
    ),
    accepted(
        "NS31-token-throughput-otherwise",
        {"spec.algorithm": {"tokenThroughput": TOKENS}},
        defaulted={"spec.algorithm.type": "TokenThroughput"},
    ),
    accepted(
        "NS31-token-throughput-without-anything",
        {"spec.algorithm": GONE},
        known=NO_TARGET,
        defaulted={"spec.algorithm.type": "TokenThroughput"},
    ),
    accepted(
        "NS32-steps-left-out",
        {},
        defaulted={
            "spec.behavior.scaleUp.maxStepReplicas": 4,
            "spec.behavior.scaleUp.maxStepPercent": 100,
        },
    ),
    accepted(
        "NS32-steps-of-zero",
        {"spec.behavior": {"scaleUp": {"maxStepReplicas": 0, "maxStepPercent": 0}}},
        defaulted={
            "spec.behavior.scaleUp.maxStepReplicas": 4,
            "spec.behavior.scaleUp.maxStepPercent": 100,
        },
    ),
    accepted(
        "NS32-one-step-of-zero-on-an-update",
        {"spec.behavior": {"scaleUp": {"maxStepReplicas": 0, "maxStepPercent": 50}}},
        old={},
        defaulted={
            "spec.behavior.scaleUp.maxStepReplicas": 4,
            "spec.behavior.scaleUp.maxStepPercent": 50,
        },
    ),
    accepted(
        "NS33-zeros-that-stay-stored",
        {
            "spec.behavior": {
                "scaleUp": {"stepPolicy": {"type": "Pods", "value": 0}},
                "scaleDown": {
                    "stabilizationWindowSeconds": 0,
                    "cooldownAfterAbortSeconds": 0,
                    "decodePostScaleUpGraceSeconds": 0,
                },
            }
        },
        defaulted={
            "spec.behavior.scaleUp.stepPolicy.value": 0,
            "spec.behavior.scaleDown.stabilizationWindowSeconds": 0,
            "spec.behavior.scaleDown.cooldownAfterAbortSeconds": 0,
            "spec.behavior.scaleDown.decodePostScaleUpGraceSeconds": 0,
        },
    ),
)

TABLE: Final[tuple[Case, ...]] = (*BLOCKS, *NUMBERS, *COVERAGE, *CAPACITIES, *DEFAULTS)
