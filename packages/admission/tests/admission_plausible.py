"""Deployments that were written with care, for Hypothesis: most get in, and each stands near an edge of some rule."""

from copy import deepcopy
from typing import Any, Final

from hypothesis import strategies as st
from modeldeployment.admission.examples import DEPLOYMENT

NAME: Final = "Qwen/Qwen2.5-72B-Instruct"

_KINDS: Final = (
    ("Server",),
    ("Server", "Server"),
    ("Prefill",),
    ("Decode",),
    ("Prefill", "Decode"),
    ("Prefill", "Decode"),
    ("Decode", "Prefill"),
    ("Encode", "Prefill", "Decode"),
)
_COMMON: Final = ("h20-8x", "ascend-910b")
_TYPES: Final = (*_COMMON * 3, "h20-other", "l40s-slices", "a100-mig", "mi300x", "new", "cpu")
_ARGUMENTS: Final = (
    ["-tp", "2"], ["--tensor-parallel-size=4"], ["--tp-size", "2"], ["-dp", "2"], ["--dp-size=2"],
    ["-tp", "2"], ["-tp", "4"], ["--port", "9100"], ["--port=5557"],
    ["--host", "::"], ["--nnodes", "2"], ["--enable-scale-out"], ["--max-model-len", "4096"],
    ["--served-model-name", NAME], ["--ssl-keyfile", "/tls/key.pem"], ["--kv-cache-dtype", "fp8"],
)  # fmt: skip
_PORTS: Final = (8000, 9100, 8200, 8998, 5557, 5558, 5601, 8997)
_RESOURCES: Final = (
    {"accelerator": 0},
    {"accelerator": 1},
    {"accelerator": 2},
    {"accelerator": 4},
    {"accelerator": 4},
    {"accelerator": 4},
    {"accelerator": 1, "interface": 1},
    {"accelerator": 1, "acceleratorSlicedMemoryPercentage": 50},
    {"accelerator": 1, "acceleratorPartitionedProfile": "1g.10gb"},
)


@st.composite
def _roles(draw: st.DrawFn, kind: str, index: int, shared: dict[str, Any]) -> dict[str, Any]:
    """One role; what routed roles must have in common is `shared`, so that they mostly do."""
    role: dict[str, Any] = {"name": f"{kind.lower()}-{index}", "kind": kind, **deepcopy(shared)}
    if "resources" not in role or draw(st.integers(0, 3)) == 3:
        role["resources"] = draw(st.sampled_from(_RESOURCES))
    if kind in ("Prefill", "Decode"):
        role["extraArgs"] = draw(st.sampled_from(([], ["-tp", "2"], ["-tp", "4"], ["--tensor-parallel-size=2"])))
    optional: dict[str, st.SearchStrategy[Any]] = {
        "instanceType": st.sampled_from(_TYPES),
        "size": st.sampled_from((1, 2)),
        "ports": st.lists(st.sampled_from(_PORTS), min_size=1, max_size=3, unique=True).map(
            lambda numbers: [{"port": number} for number in numbers]
        ),
        "command": st.just(["vllm", "serve", "/models/own", "--port", "9000"]),
        "env": st.sampled_from(("VLLM_DP_SIZE", "MC_TE_METRIC", "HF_HUB_OFFLINE")).map(
            lambda name: [{"name": name, "value": "1"}]
        ),
        "extraArgs": st.lists(st.sampled_from(_ARGUMENTS), min_size=1, max_size=2).map(
            lambda lines: [argument for line in lines for argument in line]
        ),
    }
    for field in draw(st.lists(st.sampled_from(sorted(optional)), max_size=2, unique=True)):
        role[field] = draw(optional[field])
    if kind == "Decode" and draw(st.integers(0, 5)) == 0:
        own, further = draw(st.sampled_from(_PORTS)), draw(st.sampled_from(_PORTS[1:]))
        role |= {"ports": [{"port": 8000}, {"port": further}], "extraArgs": ["--port", str(own)]}
    return role


@st.composite
def plausible(draw: st.DrawFn) -> dict[str, Any]:
    """A deployment whose fields suit each other, but for one or two that may not."""
    engine = draw(st.sampled_from(({"name": "vLLM", "version": "0.30.0"}, {"name": "SGLang", "version": "0.5.18"})))
    shared: dict[str, Any] = {"instanceType": draw(st.sampled_from(_TYPES))}
    if draw(st.integers(0, 3)):
        shared["resources"] = {"accelerator": 4}
    if draw(st.booleans()):
        shared["ports"] = [{"port": draw(st.sampled_from(_PORTS))}]
    kinds = draw(st.sampled_from(_KINDS))
    spec: dict[str, Any] = {
        "model": {"name": NAME},
        "engine": dict(engine),
        "roles": [draw(_roles(kind, index, shared)) for index, kind in enumerate(kinds)],
    }
    if draw(st.booleans()):
        spec["engine"]["image"] = "registry.example/runner:1"
    if draw(st.integers(0, 3)) == 0:
        spec["model"]["artifactRef"] = {"name": draw(st.sampled_from(("weights", "weights", "weights", "")))}
    if draw(st.booleans()):
        spec["kvCache"] = {"poolRef": {"name": "shared-kv"}}
    if draw(st.integers(0, 3)):
        own = "vllm-router" if engine["name"] == "vLLM" else "sglang-gateway"
        spec["router"] = {"name": draw(st.sampled_from(("llm-d-router", own)))}
    if draw(st.booleans()):
        spec["kvTransfer"] = {"protocol": draw(st.sampled_from(("Auto", "TCP", "RDMA", "EFA")))}
    return {**deepcopy(DEPLOYMENT), "metadata": {"name": "qwen-72b", "namespace": "team-a", "uid": "u-1"}, "spec": spec}


@st.composite
def edited(draw: st.DrawFn, body: dict[str, Any]) -> dict[str, Any]:
    """The same deployment after an edit of what may be edited."""
    new, other = deepcopy(body), draw(plausible())
    for field in ("router", "kvTransfer"):
        if draw(st.booleans()):
            new["spec"].pop(field, None)
            if field in other["spec"]:
                new["spec"][field] = other["spec"][field]
    for role in new["spec"]["roles"]:
        source = draw(st.sampled_from(other["spec"]["roles"]))
        for field in draw(st.lists(st.sampled_from(("ports", "extraArgs", "env", "replicas")), max_size=2)):
            role.pop(field, None)
            if field in source:
                role[field] = source[field]
    return new
