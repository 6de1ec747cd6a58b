"""Rows of our own: fabric interfaces and the legs that use them, pools of mixed transports.

Sources: facts admission §4 rows 38 and 39, facts kv-cache §1, facts api-dependencies §4.
"""

from typing import Any, Final

from admission_case import Case, Refused
from modeldeployment.admission.examples import GONE, Change

_INTERFACE: Final = "spec.roles[0].resources.interface"
_POOL: Final = "spec.kvCache.poolRef.name"
_ASK: Final = {_INTERFACE: 1}
_RDMA: Final = {"mooncake": {"spec.transport.protocol": "RDMA"}}
_DELETED: Final = {"metadata.deletionTimestamp": "2026-01-02T03:04:05Z"}
_SGLANG: Final = {"spec.engine": {"name": "SGLang", "version": "0.5.23"}}
_TAKEN_OVER: Final = {"spec.roles[0].command": ["vllm", "serve", "/models/qwen"]}


def _groups(*protocols: str | None) -> dict[str, Change]:
    transports = ({"transport": {"protocol": protocol}} if protocol else {} for protocol in protocols)
    members = [{"medium": "DRAM", "capacityPerMember": "64Gi", **transport} for transport in transports]
    return {"mooncake": {"spec.connection.managed.members": members}}


_MIXED: Final = _groups("TCP", "RDMA")


def _pair(
    protocol: str | None,
    *,
    router: str | None = "llm-d-router",
    instance_type: str = "h20-8x",
    cache: bool = False,
    **first: Any,
) -> dict[str, Any]:
    prefill, decode = (
        {"name": kind.lower(), "kind": kind, "instanceType": instance_type, "resources": {"accelerator": 1}}
        for kind in ("Prefill", "Decode")
    )
    asked = {**prefill, "resources": {"accelerator": 1, "interface": 2}, **first}
    return {
        "spec.roles": [asked, decode],
        **({"spec.router": {"name": router}} if router else {}),
        **({"spec.kvTransfer": {"protocol": protocol}} if protocol else {}),
        **({} if cache else {"spec.kvCache": GONE}),
    }


def _no_leg(*names: str, spares: tuple[str, ...] = ()) -> tuple[Refused, ...]:
    return (Refused("MD038", _INTERFACE, names, spares),)


def _mixed(*names: str) -> tuple[Refused, ...]:
    return (Refused("MD039", _POOL, names),)


TABLE: Final = (
    # The cache leg.
    Case("N-leg-cache-rdma", _ASK, known=_RDMA),
    Case("N-leg-cache-efa", {_INTERFACE: 4}, known={"mooncake": {"spec.transport.protocol": "EFA"}}),
    Case("N-leg-cache-groups-override", _ASK, known=_groups("RDMA", "RDMA")),
    Case("N-leg-cache-tcp", _ASK, refused=_no_leg("TCP", "no RDMA or EFA", "leave interface out")),
    Case(
        "N-leg-cache-auto",
        _ASK,
        known={"mooncake": {"spec.transport": GONE}},
        refused=_no_leg("the cache uses TCP"),
    ),
    Case("N-leg-no-cache", {**_ASK, "spec.kvCache": GONE}, refused=_no_leg("no RDMA or EFA", "nothing the operator")),
    Case("N-leg-taken-over", {**_ASK, **_TAKEN_OVER}, known=_RDMA, refused=_no_leg("nothing the operator")),
    Case(
        "N-leg-groups-disagree",
        {**_ASK, "spec.roles[0].instanceType": "ascend-910b"},
        known=_groups("CANN", "RDMA"),
        refused=_no_leg("CANN, RDMA", "different transports"),
    ),
    Case(
        "N-leg-ascend-takes-no-rdma",
        {**_ASK, "spec.roles[0].instanceType": "ascend-910b"},
        known=_RDMA,
        refused=_no_leg("no RDMA or EFA"),
    ),
    Case("N-leg-sglang-cache", {**_ASK, **_SGLANG}, known=_RDMA),
    Case("N-leg-no-binding", _ASK, known={"shared-kv": None}, refused=_no_leg('KVCachePoolBinding "shared-kv"')),
    Case("N-leg-no-pool", _ASK, known={"dram": None}, refused=_no_leg('KVCachePool "dram"')),
    Case("N-leg-no-backend", _ASK, known={"mooncake": None}, refused=_no_leg('KVCacheBackend "mooncake"')),
    # The direct leg.
    Case("N-leg-direct-rdma", _pair("RDMA")),
    Case("N-leg-direct-efa", _pair("EFA")),
    Case("N-leg-direct-tcp", _pair(None), refused=_no_leg("the direct transfer uses TCP")),
    Case("N-leg-direct-amd", _pair("RDMA", instance_type="mi300x")),
    Case("N-leg-direct-ascend", _pair("RDMA", instance_type="ascend-910b"), refused=_no_leg("no RDMA or EFA")),
    Case("N-leg-direct-sglang", {**_pair("RDMA"), **_SGLANG}, refused=_no_leg("no RDMA or EFA")),
    Case("N-leg-direct-no-router", _pair("RDMA", router=None), refused=_no_leg("no RDMA or EFA")),
    Case("N-leg-direct-taken-over", _pair("RDMA", command=["vllm"]), refused=_no_leg("no RDMA or EFA")),
    Case("N-leg-direct-no-pair", {**_pair("RDMA"), "spec.roles[1]": GONE}, refused=_no_leg("no RDMA or EFA")),
    Case(
        "N-leg-direct-not-observed",
        _pair("RDMA", instance_type="unobserved"),
        unready=("unobserved", "not ready", "RDMA", "retry"),
    ),
    Case("N-leg-tcp-cache-rdma-direct", _pair("RDMA", cache=True)),
    Case("N-leg-both-rdma", _pair("RDMA", cache=True), known=_RDMA),
    Case(
        "N-leg-rdma-and-efa",
        _pair("EFA", cache=True),
        known=_RDMA,
        refused=_no_leg("the cache uses RDMA", "the direct transfer uses EFA", "one fabric"),
    ),
    # When it is judged.
    Case("N-leg-stored", {**_ASK, "spec.roles[0].replicas": 5}, old=_ASK),
    Case(
        "N-leg-transfer-changed",
        {**_ASK, "spec.kvTransfer.protocol": "TCP"},
        old=_ASK,
        refused=_no_leg("TCP"),
    ),
    Case(
        "N-leg-router-removed",
        _pair("RDMA", router=None),
        old=_pair("RDMA"),
        refused=_no_leg("no RDMA or EFA"),
    ),
    Case("N-leg-while-deleting", {**_ASK, **_DELETED, "spec.kvTransfer.protocol": "TCP"}, old={**_ASK, **_DELETED}),
    Case(
        "N-leg-after-another-refusal",
        {**_ASK, "spec.engine.version": GONE},
        refused=(Refused("MD010", "spec.engine.version"),),
    ),
    # Pools of mixed transports.
    Case(
        "N-pool-mixed",
        known=_MIXED,
        refused=_mixed("TCP, RDMA", "vLLM", "h20-8x", "cannot read blocks", "another pool"),
    ),
    Case("N-pool-mixed-sglang", _SGLANG, known=_MIXED, refused=_mixed("TCP, RDMA", "SGLang")),
    Case("N-pool-mixed-three", known=_groups("RDMA", None, "EFA"), refused=_mixed("RDMA, TCP, EFA")),
    Case("N-pool-auto-is-tcp", known=_groups("Auto", "TCP", None)),
    Case("N-pool-mixed-ascend", {"spec.roles[0].instanceType": "ascend-910b"}, known=_groups("TCP", "CANN")),
    Case(
        "N-pool-mixed-one-of-two-types",
        {"spec.roles": [{"name": "a", "instanceType": "ascend-910b"}, {"name": "b", "instanceType": "mi300x"}]},
        known=_groups("TCP", "CANN"),
        refused=_mixed("TCP, CANN", "mi300x"),
    ),
    Case(
        "N-pool-mixed-not-observed",
        {"spec.roles[0].instanceType": "unobserved"},
        known=_MIXED,
        unready=("unobserved", "not ready", "TCP, RDMA", "retry"),
    ),
    Case(
        "N-pool-mixed-sglang-not-observed",
        {**_SGLANG, "spec.roles[0].instanceType": "unobserved"},
        known=_MIXED,
        refused=_mixed("SGLang"),
    ),
    Case("N-pool-mixed-stored", {"spec.roles[0].replicas": 5}, old={}, known=_MIXED),
    Case("N-pool-mixed-while-deleting", _DELETED, known=_MIXED),
    Case("N-pool-binding-missing", known={"shared-kv": None}),
    Case("N-pool-pool-missing", known={"dram": None}),
    Case("N-pool-backend-missing", known={"mooncake": None}),
)
