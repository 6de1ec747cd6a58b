"""What joins a role to others. Vector B9 of facts rendering §14, and the predicates of its §2."""

from typing import Any

import pytest
from modeldeployment.api.choices import EngineName
from modeldeployment.api.conditions import RefusalReason
from modeldeployment.api.modeldeployment import ModelDeployment
from modeldeployment.render import ENGINES, RenderRefusal, Store, joins
from modeldeployment.render.joins import Joins
from render_connectors import epd
from render_worlds import deployment, joined, pair, role, store

VLLM, SGLANG = ENGINES[EngineName.VLLM], ENGINES[EngineName.SGLANG]
LLM_D, OWN, GATEWAY = "llm-d-router", "vllm-router", "sglang-gateway"


def of(spec: ModelDeployment, name: str, maker: str = "nvidia", known: Store | None = None) -> Joins:
    backend = ENGINES[spec.spec.engine.name].backend(maker)
    return joins.of(spec, spec.spec.role(name), backend, known)


@pytest.mark.parametrize(
    ("spec", "maker", "leg"),
    [
        (pair(router=LLM_D), "nvidia", "tcp"),
        (pair(router=OWN, protocol="RDMA"), "amd", "rdma"),
        (pair(), "nvidia", ""),
        (pair(cache=True), "nvidia", ""),
        (pair(router=LLM_D), "ascend", "tcp"),
        (pair(router=OWN), "ascend", ""),
        (pair(router=GATEWAY, engine="SGLang"), "ascend", "tcp"),
        (pair(router=LLM_D, command=["run"]), "nvidia", ""),
        (epd(LLM_D), "nvidia", "tcp"),
        (epd(OWN), "nvidia", ""),
    ],
)
@pytest.mark.parametrize("half", ["prefill", "decode"])
def test_a_leg_needs_a_router_a_pair_and_a_vendor_that_router_pairs(
    spec: ModelDeployment, half: str, maker: str, leg: str
) -> None:
    assert of(spec, half, maker).leg == leg


@pytest.mark.parametrize("kind", ["Server", "Prefill", "Decode"])
def test_a_role_without_its_other_half_has_no_leg(kind: str) -> None:
    found = of(deployment(role(kind=kind), spec=joined(router=LLM_D)), "server")
    assert (found.leg, found.split, found.handover, found.connected) == ("", False, "", False)


@pytest.mark.parametrize(
    ("router", "kind", "maker", "engine", "events"),
    [
        (LLM_D, "Server", "nvidia", "vLLM", True),
        (LLM_D, "Prefill", "nvidia", "vLLM", True),
        (LLM_D, "Decode", "nvidia", "vLLM", False),
        (LLM_D, "Encode", "nvidia", "vLLM", False),
        (LLM_D, "Server", "ascend", "vLLM", False),
        (LLM_D, "Server", "nvidia", "SGLang", False),
        (OWN, "Server", "nvidia", "vLLM", False),
        (None, "Server", "nvidia", "vLLM", False),
    ],
)
def test_events_are_published_by_native_vllm_for_the_one_router_that_listens(
    router: str | None, kind: str, maker: str, engine: str, events: bool
) -> None:
    spec = deployment(role(kind=kind), engine=engine, spec=joined(router=router))
    assert of(spec, "server", maker).events is events


@pytest.mark.parametrize(
    ("router", "kind", "fields", "proxied"),
    [
        (LLM_D, "Decode", {}, True),
        (LLM_D, "Decode", {"command": ["run"]}, False),
        (LLM_D, "Prefill", {}, False),
        (OWN, "Decode", {}, False),
        (None, "Decode", {}, False),
    ],
)
@pytest.mark.parametrize("maker", ["nvidia", "ascend"])
def test_the_routing_proxy_stands_before_every_managed_decoder_of_its_router(
    router: str | None, kind: str, fields: Any, proxied: bool, maker: str
) -> None:
    assert of(deployment(role(kind=kind, **fields), spec=joined(router=router)), "server", maker).proxied is proxied


@pytest.mark.parametrize(
    ("offers", "maker", "transport"),
    [
        (("tcp",), "nvidia", "tcp"),
        (("rdma", "tcp"), "nvidia", "rdma"),
        (("", "rdma"), "nvidia", "rdma"),
        (("tcp", "ascend"), "ascend", "ascend"),
    ],
)
def test_a_client_takes_the_first_transport_on_offer_that_it_accepts(
    offers: tuple[str, ...], maker: str, transport: str
) -> None:
    known = Store("master:50051", offers, "t", "bfloat16")
    assert of(deployment(spec=joined(cache=True)), "server", maker, known).transport == transport


@pytest.mark.parametrize("offers", [(), ("",)])
@pytest.mark.parametrize("maker", ["nvidia", "ascend"])
def test_a_store_that_offers_nothing_is_no_store_and_no_error(offers: tuple[str, ...], maker: str) -> None:
    found = of(deployment(spec=joined(cache=True)), "server", maker, Store("master:50051", offers, "t", "bfloat16"))
    assert (found.store, found.transport, found.connected) == (None, "", False)


def test_b9_a_store_that_ascend_cannot_read_is_refused_until_it_offers_what_it_reads() -> None:
    with pytest.raises(RenderRefusal) as refusal:
        of(deployment(spec=joined(cache=True)), "server", "ascend", store("tcp", "rdma", "tcp"))
    assert (refusal.value.reason, refusal.value.role, refusal.value.retryable) == (
        RefusalReason.TRANSPORT_UNSUPPORTED,
        "server",
        True,
    )
    assert refusal.value.message == (
        "spec.roles[server]: the cache's store offers tcp, rdma and vllm-ascend reads blocks over ascend alone; give "
        "one group of the KVCacheBackend the transport.protocol CANN, or create a deployment without spec.kvCache"
    )


def test_sglang_on_ascend_reads_every_transport() -> None:
    spec = deployment(engine="SGLang", spec=joined(cache=True))
    assert of(spec, "server", "ascend", store("tcp")).transport == "tcp"


@pytest.mark.parametrize(
    ("spec", "name", "by_address"),
    [
        (epd(OWN), "prefill", True),
        (epd(OWN), "decode", True),
        (epd(OWN), "encode", False),
        (epd(LLM_D), "prefill", False),
        (epd(GATEWAY, engine="SGLang"), "prefill", False),
        (pair(router=OWN), "prefill", False),
    ],
)
def test_halves_are_joined_by_address_beside_an_encode_role_whose_router_discovers_no_pods(
    spec: ModelDeployment, name: str, by_address: bool
) -> None:
    found = of(spec, name)
    assert (found.by_address, found.by_address and found.connected) == (by_address, False)


def test_unknown_makers_are_as_any_other() -> None:
    assert (VLLM.backend("").name, VLLM.backend("nobody").name, VLLM.backend("ascend").name) == (
        "vllm",
        "vllm",
        "vllm-ascend",
    )
    assert SGLANG.backend("ascend") is SGLANG.backend("nvidia")
