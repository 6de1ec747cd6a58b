"""Pairs and what moves between the halves."""

from collections.abc import Iterator
from typing import Any, Final

from modeldeployment.admission.examples import GONE, Change, Example
from modeldeployment.admission.facts import Needs, Policy
from modeldeployment.admission.lints.cautioning import lint
from modeldeployment.admission.lints.seen import ASCEND, halves, maker, on_ascend
from modeldeployment.admission.patching import put
from modeldeployment.admission.rule import Row
from modeldeployment.admission.subjects import DeploymentReview
from modeldeployment.admission.verdict import Caution, brief
from modeldeployment.api import RoleKind
from modeldeployment.api.choices import EngineName, RouterName, StoreProtocol
from modeldeployment.render import TRANSPORTS, Use, transfer_transport

_SPLIT_GRACE: Final = 45
"""Seconds in which an SGLang half of a pair drains and then ends by itself (facts shutdown §1)."""
_DEFAULT_GRACE: Final = 30


def _role(kind: str, instance_type: str = "h20-8x", **more: Any) -> dict[str, Any]:
    name = kind.lower()
    return {"name": name, "kind": kind, "instanceType": instance_type, "resources": {"accelerator": 1}, **more}


def _counted(kind: str, **more: Any) -> dict[str, Any]:
    return _role(kind, extraArgs=["--enable-scale-out"], **more)


_LLM_D: Final = {"name": "llm-d-router"}
PAIR: Final[Change] = {"spec.roles": [_counted("Prefill"), _counted("Decode")], "spec.router": _LLM_D}
_ASCEND_PAIR: Final[Change] = {
    "spec.roles": [
        _counted("Prefill", instance_type="ascend-910b"),
        _counted("Decode", instance_type="ascend-910b"),
    ],
    "spec.kvCache": GONE,
    "spec.router": _LLM_D,
}
_SGLANG_PAIR: Final[Change] = {
    "spec.engine": {"name": "SGLang", "version": "0.5.18"},
    "spec.roles": [
        _role("Prefill", terminationGracePeriodSeconds=45),
        _role("Decode", terminationGracePeriodSeconds=45),
    ],
    "spec.router": {"name": "sglang-gateway"},
    "spec.kvTransfer": {"protocol": "RDMA"},
}
_ENCODED: Final[Change] = {
    "spec.roles": [_role("Encode"), _role("Prefill"), _role("Decode")],
    "spec.kvCache": GONE,
    "spec.router": _LLM_D,
}


@lint(
    trigger=Example({**PAIR, "spec.router": GONE}),
    near_miss=Example(PAIR),
    needs=Needs.INSTANCE_TYPES,
)
def pair_without_router(review: DeploymentReview) -> Iterator[Caution]:
    """MDW01 | spec.router | Prefill and Decode roles without a router: nothing splits a request between them.

    A cache pool is no substitute: each role gets the store connector with its part in it, and no request is ever split
    across them. Callers reach whichever role they dial, and get answers, which hides it.

    Way out: name a router in `spec.router`; it may be added at any time.

    Source: spec 2 §Router configuration.
    """
    pair = halves(review)
    if pair and review.router is None and not on_ascend(review, pair):
        yield Caution(
            "MDW01",
            "spec.router",
            None,
            why="nothing splits a request between Prefill and Decode: whichever role a caller dials answers it whole, "
            "and no block moves",
            way_out="name a router in spec.router",
        )


@lint(
    trigger=Example({**_ASCEND_PAIR, "spec.router": {"name": "vllm-router"}}),
    near_miss=Example(_ASCEND_PAIR),
    needs=Needs.INSTANCE_TYPES,
)
def ascend_pair_without_its_router(review: DeploymentReview) -> Iterator[Caution]:
    """MDW02 | spec.router | A vLLM pair on Ascend hands blocks over behind llm-d-router alone.

    Behind `vllm-router` the handshake is one the Ascend connector rejects, and behind no router nothing pairs the
    roles. The deployment becomes Ready, every request is answered, and the two roles never exchange a block.

    Way out: `llm-d-router`. The name is fixed while the block stays: remove `spec.router`, then add it again.

    Source: spec 2 §Pair connections.
    """
    pair = halves(review)
    router = review.router
    if pair and not (router and router.pairs_ascend) and on_ascend(review, pair):
        yield Caution(
            "MDW02",
            "spec.router.name" if router else "spec.router",
            router.name.value if router else None,
            why="a pair on Ascend hands blocks over behind llm-d-router alone: requests will be answered and no block "
            "will ever move",
            way_out="remove spec.router and add it with llm-d-router" if router else "name llm-d-router in spec.router",
        )


@lint(
    trigger=Example({**PAIR, "spec.router": {"name": "vllm-router"}}),
    near_miss=Example({**PAIR, "spec.router": {"name": "vllm-router", "image": "registry.local/vllm-router:lookup"}}),
    needs=Needs.INSTANCE_TYPES,
)
def vllm_pair_behind_stock_vllm_router(review: DeploymentReview) -> Iterator[Caution]:
    """MDW03 | spec.router.name | A stock vllm-router never hands a discovered vLLM pair its Mooncake parameters.

    Measured on 0.1.15 to 0.1.17 with Kubernetes discovery: the router never asks a prefiller for its engine id, so
    Decode gets no transfer parameters, computes the prompt itself and answers 200. The router logs one warning a
    request; the engines' transfer counters stay at zero.

    Way out: `llm-d-router`, or a router image that looks up each prefiller, named in `spec.router.image`; a stated
    image is taken to be one and is not warned about. With an Encode role the pair hands over by NIXL, which works.

    Source: facts routers-measured §6, decisions D47.
    """
    pair = halves(review)
    router = review.new.spec.router
    if (
        pair
        and router
        and router.name is RouterName.VLLM
        and not router.image
        and RoleKind.ENCODE not in review.kinds
        and ASCEND not in (maker(review, pair[0]), maker(review, pair[1]))
    ):
        yield Caution(
            "MDW03",
            "spec.router.name",
            router.name.value,
            why="a stock vllm-router, 0.1.15 to 0.1.17, never sends Decode what it needs to fetch blocks, so Decode "
            "serves alone",
            way_out="use llm-d-router, or name an image with the prefill lookup in spec.router.image",
        )


@lint(
    trigger=Example(
        {
            "spec.roles": [_counted("Prefill"), _counted("Decode", instance_type="mi300x")],
            "spec.kvCache": GONE,
            "spec.router": _LLM_D,
        }
    ),
    near_miss=Example({**PAIR, "spec.kvCache": GONE}),
    needs=Needs.INSTANCE_TYPES,
)
def makers_mixed_in_a_pair(review: DeploymentReview) -> Iterator[Caution]:
    """MDW04 | spec.roles | Prefill and Decode on cards of two makers are not known to hand blocks over.

    With Ascend on one side the two connectors speak different handshakes and never form a transfer. Between two other
    makers both sides render the path, and whether blocks move was never measured.

    Way out: run both roles on one maker's cards, or watch the engines' transfer counters before relying on the pair.

    Source: spec 2 §Different hardware per role.
    """
    pair = halves(review)
    if not pair:
        return
    prefill, decode = maker(review, pair[0]), maker(review, pair[1])
    if not prefill or not decode or prefill == decode:
        return
    never = ASCEND in (prefill, decode) and review.engine.name is EngineName.VLLM
    yield Caution(
        "MDW04",
        "spec.roles",
        [each.role.name for each in pair],
        why=f"Prefill is on {brief(prefill)} and Decode on {brief(decode)}: "
        + (
            "their connectors speak different handshakes and no block will ever move"
            if never
            else "whether blocks move between them was never measured"
        ),
        way_out="put both on one maker's cards" + ("" if never else ", or watch the transfer counters"),
    )


@lint(
    trigger=Example({"spec.kvTransfer": {"protocol": "TCP"}}),
    near_miss=Example({**PAIR, "spec.kvTransfer": {"protocol": "TCP"}}),
    needs=Needs.INSTANCE_TYPES,
)
def transfer_protocol_unread(review: DeploymentReview) -> Iterator[Caution]:
    """MDW05 | spec.kvTransfer.protocol | The transport of a direct transfer that this deployment does not have.

    The field is read for a Prefill and a Decode role behind a router. Elsewhere it is accepted and renders nothing; a
    pair on Ascend ignores it and uses `ascend`. A pool has a transport of its own, on its KVCacheBackend.

    Way out: leave `spec.kvTransfer` out, or declare the pair and its router.

    Source: spec 2 §Direct transfer transport.
    """
    transfer = review.new.spec.kv_transfer
    if transfer is None or transfer.protocol is None:
        return
    pair = halves(review)
    ascend = pair is not None and on_ascend(review, pair)
    if pair and review.router and not ascend:
        return
    yield Caution(
        "MDW05",
        "spec.kvTransfer.protocol",
        transfer.protocol.value,
        why="a pair on Ascend uses its own transport and ignores this field"
        if ascend
        else "it is the transport from Prefill to Decode behind a router, which this deployment does not have, so it "
        "renders nothing",
        way_out="leave spec.kvTransfer out" + ("" if ascend else "; a pool's transport is set on its KVCacheBackend"),
    )


@lint(
    trigger=Example({**_SGLANG_PAIR, "spec.roles[1].terminationGracePeriodSeconds": 30}),
    near_miss=Example(_SGLANG_PAIR),
)
def sglang_pair_with_short_grace(review: DeploymentReview) -> Iterator[Caution]:
    """MDW06 | spec.roles[*].terminationGracePeriodSeconds | An SGLang pair needs 45 seconds to leave by itself.

    From 0.5.14 a Prefill or Decode engine takes up to about 20 seconds after SIGTERM, even when idle. The drain may
    take all but the last 3 seconds of the grace period before that, so at 30 seconds (the value when unset) a replica
    that was still draining after 10 is killed rather than ended.

    Way out: 45 or more on both roles. The edit rolls the role once.

    Source: facts shutdown §1.
    """
    if review.engine.name is not EngineName.SGLANG or not review.pair:
        return
    for each in review.of_kind(RoleKind.PREFILL, RoleKind.DECODE):
        stated = each.role.termination_grace_period_seconds
        grace = _DEFAULT_GRACE if stated is None else stated
        if each.role.managed and grace < _SPLIT_GRACE:
            field = f"{each.path}.terminationGracePeriodSeconds"
            yield Caution(
                "MDW06",
                field,
                stated,
                why=f"an SGLang half of a pair ends up to 20 s after SIGTERM even when idle, so of {grace} s only "
                f"{max(grace - 20, 0)} are left to drain before it is killed",
                way_out=f"set {_SPLIT_GRACE} or more",
                patch=(put(field, _SPLIT_GRACE),),
            )


@lint(
    trigger=Example({**_SGLANG_PAIR, "spec.kvTransfer": {"protocol": "TCP"}}),
    near_miss=Example({**_SGLANG_PAIR, "spec.kvTransfer": {"protocol": "TCP"}}, policy=Policy(reuse_time_wait=True)),
    needs=Needs.INSTANCE_TYPES,
)
def ports_run_out(review: DeploymentReview) -> Iterator[Caution]:
    """MDW25 | spec.kvTransfer.protocol | An SGLang pair over TCP runs out of local ports under load.

    Its Prefill half opens a connection for every transfer, with a cache pool or without one. Closed ones stay in
    TIME-WAIT, and once they fill the range of local ports every request through the pair fails until its Pods restart:
    measured after 183 to 940 short requests. TCP is also what an unset protocol means.

    Way out: the setting `model-deployment-tcp-tw-reuse`, by which Prefill Pods get the sysctl `net.ipv4.tcp_tw_reuse`;
    nodes must allow it first, or those Pods are rejected. Or another transport.

    Source: facts engine-versions §3.
    """
    joined = review.router is not None or (review.engine.pairs_unrouted and review.new.spec.kv_cache is not None)
    if not (review.pair and joined) or review.facts.policy.reuse_time_wait:
        return
    if transfer_transport(review.new.spec) != TRANSPORTS[StoreProtocol.TCP]:
        return
    for each in review.of_kind(RoleKind.PREFILL):
        failures = review.engine.backend(maker(review, each)).failures
        known = next((failure for failure in failures if failure.use is Use.PAIRED_OVER_TCP), None)
        if known and each.role.managed:
            transfer = review.new.spec.kv_transfer
            yield Caution(
                "MDW25",
                "spec.kvTransfer.protocol",
                transfer.protocol.value if transfer and transfer.protocol else None,
                why=known.what,
                way_out=f"turn on {known.way_out}",
            )


@lint(
    trigger=Example(_ENCODED),
    near_miss=Example({**PAIR, "spec.kvCache": GONE}),
)
def encode_unverified(review: DeploymentReview) -> Iterator[Caution]:
    """MDW07 | spec.roles[*].kind | An Encode role is rendered from its projects' documents and was never run.

    What could not be verified: whether a runner image carries `nixl` and a `vllm-router` image `--epd-config`; the
    oldest SGLang that serves an encoder; `zmq_to_tokenizer` behind a Service address; a cache pool or `kvTransfer`
    beside NIXL; audio and video. Whether an encoder was used is seen in the engines' and the router's counters only: an
    answer alone proves nothing, since Prefill encodes by itself when no encoder did.

    Way out: send one image and read the counters before relying on it.

    Source: facts encode §7, decisions D46.
    """
    for each in review.of_kind(RoleKind.ENCODE):
        yield Caution(
            "MDW07",
            f"{each.path}.kind",
            each.role.kind.value,
            why="serving with an Encode role follows its projects' documents and was never run: image support and the "
            "embedding transfer are unverified",
            way_out="send an image and see the encoder's counters move; `explain MDW07` lists what is open",
        )


LINTS: Final[tuple[Row[Any, Any], ...]] = (
    pair_without_router,
    ascend_pair_without_its_router,
    vllm_pair_behind_stock_vllm_router,
    makers_mixed_in_a_pair,
    transfer_protocol_unread,
    sglang_pair_with_short_grace,
    ports_run_out,
    encode_unverified,
)
