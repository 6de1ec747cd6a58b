"""Deployments and scalers for Hypothesis: ones the schema stores, and ones that somebody damaged."""

from copy import deepcopy
from typing import Any, Final

from hypothesis import strategies as st
from modeldeployment.admission.examples import DEPLOYMENT, SCALER

NAMES: Final = st.one_of(
    st.sampled_from(("prefill", "decode", "server", "router", "x", "x-r0", "a" * 63, "a" * 54, "9lives", "r-0-m-1")),
    st.from_regex(r"[a-z0-9]([-a-z0-9]{0,20}[a-z0-9])?", fullmatch=True),
)
TYPES: Final = st.sampled_from(
    ("h20-8x", "h20-other", "l40s-slices", "a100-mig", "ascend-910b", "mi300x", "cpu", "gone")
)
FLAGS: Final = (
    "--kv-transfer-config", "--kv_transfer_config", "--kv-transfer-config.kv_role", "--kv-events-config",
    "--kv-cache-dtype", "--kv-cache-dtype-skip-layers", "--disaggregation-mode", "--hicache-storage-backend",
    "--tensor-parallel-size", "-tp", "--data-parallel-size", "-dp", "-dpl", "-dpe", "-dph", "-dpm", "--nnodes", "-n2",
    "--port", "--host", "--ssl-keyfile", "--served-model-name", "--enable-scale-out", "--model", "--revision",
    "--config", "--api-key", "--", "-", "",
)  # fmt: skip
VALUES: Final = (
    "2",
    "0",
    "-1",
    "1_0",
    "x",
    "8000",
    "8998",
    "99999",
    "fp8",
    "{}",
    "$(A)",
    "Qwen/Qwen2.5-72B-Instruct",
    "日本",
)


@st.composite
def arguments(draw: st.DrawFn) -> list[str]:
    """A command line that imitates owned keys by prefix, underscore, dot, `=` and glued value."""
    line: list[str] = []
    for _ in range(draw(st.integers(0, 6))):
        flag = draw(st.one_of(st.sampled_from(FLAGS), st.text(max_size=12)))
        match draw(st.integers(0, 4)):
            case 0:
                flag = flag[: draw(st.integers(0, len(flag)))]
            case 1:
                flag = flag.replace("-", "_", draw(st.integers(0, 3)))
            case 2:
                flag += draw(st.sampled_from((".kv_role", "=", "=" + draw(st.sampled_from(VALUES)), "2", "-more")))
        line.append(flag)
        if draw(st.booleans()):
            line.append(draw(st.sampled_from(VALUES)))
    return line


@st.composite
def roles(draw: st.DrawFn) -> dict[str, Any]:
    """One role that the schema stores."""
    role: dict[str, Any] = {"name": draw(NAMES), "instanceType": draw(TYPES)}
    optional: dict[str, st.SearchStrategy[Any]] = {
        "kind": st.sampled_from(("Server", "Prefill", "Decode", "Encode")),
        "replicas": st.sampled_from((1, 2, 10, 1024)),
        "size": st.sampled_from((1, 2, 64)),
        "resources": resources(),
        "image": st.sampled_from(("", "gpustack/runner:cuda12.9-vllm0.10.0", "registry/own:latest")),
        "ports": st.lists(
            st.sampled_from((8000, 8100, 5557, 5558, 8998, 65535)).map(lambda port: {"port": port}),
            max_size=2,
            unique_by=lambda entry: entry["port"],
        ),
        "command": arguments(),
        "extraArgs": arguments(),
        "env": st.lists(
            st.sampled_from(
                ("MOONCAKE_CONFIG_PATH", "MC_TE_METRIC", "VLLM_DP_SIZE", "GPUSTACK_MEMBER_INDEX", "HF_TOKEN")
            ),
            max_size=3,
            unique=True,
        ).map(lambda names: [{"name": name, "value": "2"} for name in names]),
        "additionalVolumes": st.lists(volumes(), max_size=2),
        "privileged": st.booleans(),
        "topology": st.sampled_from(({}, {"requiredLevel": "cloud.provider.com/topology-rack"})),
        "terminationGracePeriodSeconds": st.sampled_from((15, 30, 45, 3600)),
        "elasticEp": st.just({"width": 2}),
    }
    for field in draw(st.lists(st.sampled_from(sorted(optional)), max_size=5, unique=True)):
        role[field] = draw(optional[field])
    return role


def resources() -> st.SearchStrategy[dict[str, Any]]:
    """What a role may ask for."""
    return st.fixed_dictionaries(
        {},
        optional={
            "accelerator": st.sampled_from((0, 1, 2, 9, "4", "1k")),
            "acceleratorSlicedMemoryPercentage": st.sampled_from((0, 50, 100)),
            "acceleratorSlicedCoresPercentage": st.sampled_from((0, 25)),
            "acceleratorPartitionedProfile": st.sampled_from(("1g.10gb", "9g.80gb")),
            "interface": st.sampled_from((0, 1, "2")),
        },
    )


def volumes() -> st.SearchStrategy[dict[str, Any]]:
    """An additional volume."""
    return st.fixed_dictionaries(
        {"mountPath": st.sampled_from(("/data", "/etc/gpustack/kvcache", "/var/lib/gpustack/model", "/var"))},
        optional={
            "subPath": st.sampled_from(("a/../b", "..", "a..b")),
            "secret": st.just({"name": "s"}),
            "hostPath": st.just({"path": "/srv"}),
        },
    )


@st.composite
def deployments(draw: st.DrawFn) -> dict[str, Any]:
    """A deployment that the schema stores."""
    spec: dict[str, Any] = {
        "model": {"name": draw(st.sampled_from(("Qwen/Qwen2.5-72B-Instruct", "m", "模型")))},
        "engine": {"name": draw(st.sampled_from(("vLLM", "SGLang")))},
        "roles": draw(st.lists(roles(), min_size=1, max_size=11, unique_by=lambda role: role["name"])),
    }
    if draw(st.booleans()):
        spec["engine"]["version"] = draw(st.sampled_from(("0.30.0", "0.9", "0.30.0rc1", "main")))
    if draw(st.booleans()):
        spec["model"]["artifactRef"] = {"name": "weights"}
    if draw(st.booleans()):
        spec["kvCache"] = {"poolRef": {"name": draw(st.sampled_from(("shared-kv", "gone")))}}
    if draw(st.booleans()):
        spec["router"] = {
            "name": draw(st.sampled_from(("llm-d-router", "vllm-router", "sglang-gateway"))),
            "extraArgs": draw(st.lists(st.sampled_from(("--host", "--epd-config={}", "--verbose")), max_size=2)),
        }
        if draw(st.booleans()):
            spec["router"] |= {"replicas": 2, "disaggregationThresholdTokens": draw(st.sampled_from((0, 8)))}
    if draw(st.booleans()):
        spec["kvTransfer"] = {"protocol": draw(st.sampled_from(("Auto", "TCP", "RDMA", "EFA", "CANN", "ROCM")))}
    name = draw(st.sampled_from(("qwen-72b", "team.model.serving", "a" * 63, "x")))
    return {**deepcopy(DEPLOYMENT), "metadata": {"name": name, "namespace": "team-a"}, "spec": spec}


QUANTITIES: Final = st.sampled_from(("0", "1", "2", "0.5", "-1", "2000", "1e3", 1))


@st.composite
def scalers(draw: st.DrawFn) -> dict[str, Any]:
    """A scaler that the schema stores."""
    names = draw(
        st.lists(st.sampled_from(("server", "prefill", "decode", "encode")), min_size=1, max_size=4, unique=True)
    )
    bounds = st.sampled_from((1, 2, 3, 16, 1024))
    spec: dict[str, Any] = {
        "targetRef": {"name": draw(st.sampled_from(("qwen-72b", "later")))},
        "roles": [{"name": name, "minReplicas": draw(bounds), "maxReplicas": draw(bounds)} for name in names],
    }
    if draw(st.booleans()):
        ratio = st.fixed_dictionaries(
            {"numeratorRole": st.sampled_from(names), "denominatorRole": st.sampled_from(names)},
            optional={"target": QUANTITIES, "min": QUANTITIES, "max": QUANTITIES},
        )
        spec["ratios"] = draw(st.lists(ratio, max_size=3))
    tokens = st.fixed_dictionaries(
        {},
        optional={
            "serverTargetTokensPerSecond": QUANTITIES,
            "prefillTargetTokensPerSecond": QUANTITIES,
            "decodeTargetTokensPerSecond": QUANTITIES,
            "panicWindowSeconds": st.sampled_from((10, 300)),
            "stableWindowSeconds": st.sampled_from((30, 600)),
            "panicThreshold": QUANTITIES,
        },
    )
    proportional = st.fixed_dictionaries(
        {"metric": st.sampled_from(("QueueDepth", "TotalTokensPerSecond"))},
        optional={
            "tolerance": QUANTITIES,
            "roleTargets": st.lists(
                st.fixed_dictionaries({"name": st.sampled_from(names), "target": QUANTITIES}), max_size=2
            ),
        },
    )
    algorithm = st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(("Proportional", "TokenThroughput", "Predictive")),
            "proportional": proportional,
            "tokenThroughput": tokens,
            "predictive": st.fixed_dictionaries({}, optional={"tokenThroughput": tokens, "minPoints": st.just(6)}),
        },
    )
    if draw(st.booleans()):
        spec["algorithm"] = draw(algorithm)
    if draw(st.booleans()):
        spec["behavior"] = {
            "scaleUp": {
                "maxStepReplicas": draw(st.sampled_from((0, 4))),
                "maxStepPercent": draw(st.sampled_from((0, 50))),
            },
            "scaleDown": {"stabilizationWindowSeconds": draw(st.sampled_from((0, 1800)))},
        }
    if draw(st.booleans()):
        spec["rebalance"] = {
            "policy": "Priority",
            "priority": draw(st.lists(st.sampled_from((*names, "other")), max_size=3)),
        }
    return {**deepcopy(SCALER), "spec": spec}


ANYTHING: Final = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@st.composite
def damaged(draw: st.DrawFn, body: dict[str, Any]) -> dict[str, Any]:
    """A copy of `body` in which up to three values, anywhere below the kind, are replaced by anything."""
    broken = deepcopy(body)
    for _ in range(draw(st.integers(1, 3))):
        holder: Any = broken
        key: Any = draw(st.sampled_from(("metadata", "spec", "status")))
        while isinstance(holder.get(key) if isinstance(holder, dict) else holder[key], dict | list) and draw(
            st.booleans()
        ):
            inner = holder[key]
            if not inner:
                break
            holder = inner
            key = draw(st.sampled_from(sorted(inner) if isinstance(inner, dict) else range(len(inner))))
        holder[key] = draw(ANYTHING)
    return broken
