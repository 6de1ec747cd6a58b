from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from modeldeployment.api.choices import EngineName, RoleKind, RouterName
from modeldeployment.api.conditions import RefusalReason
from modeldeployment.api.modeldeployment import ModelDeployment
from modeldeployment.render import (
    BOOTSTRAP_PORT,
    ENGINES,
    KV_EVENTS_PORT,
    KV_EVENTS_REPLAY_PORT,
    ContainerPort,
    RenderRefusal,
    Seat,
    listener,
    render,
    reserved_ports,
)
from modeldeployment.render import joins as joining
from modeldeployment.render.ports import opened
from modeldeployment.router import ROUTERS
from render_worlds import ASCEND, deployment, facts, instance_type, joined, pair, role, store

VLLM, SGLANG = EngineName.VLLM, EngineName.SGLANG
LLM_D, OWN, GATEWAY = RouterName.LLM_D, RouterName.VLLM, RouterName.SGLANG
SERVER, PREFILL, DECODE, ENCODE = RoleKind
EVENTS = (5557, 5558)


def reserved(
    engine: EngineName,
    router: RouterName | None,
    kind: RoleKind,
    *,
    pair: bool = True,
    has_cache: bool = False,
    managed: bool = True,
    encode: bool = False,
) -> tuple[int, ...]:
    return reserved_ports(ENGINES[engine], router, kind, pair=pair, has_cache=has_cache, managed=managed, encode=encode)


def test_the_ports_have_names() -> None:
    assert (KV_EVENTS_PORT, KV_EVENTS_REPLAY_PORT, BOOTSTRAP_PORT) == (5557, 5558, 8998)


@pytest.mark.parametrize(
    ("engine", "router", "kind", "ports"),
    [
        (VLLM, LLM_D, SERVER, EVENTS),
        (VLLM, LLM_D, PREFILL, (*EVENTS, 8998)),
        (VLLM, LLM_D, DECODE, ()),
        (VLLM, LLM_D, ENCODE, ()),
        (VLLM, OWN, SERVER, ()),
        (VLLM, OWN, PREFILL, (8998,)),
        (VLLM, OWN, DECODE, ()),
        (VLLM, None, SERVER, ()),
        (VLLM, None, PREFILL, ()),
        (SGLANG, LLM_D, SERVER, ()),
        (SGLANG, LLM_D, PREFILL, (8998,)),
        (SGLANG, LLM_D, DECODE, ()),
        (SGLANG, GATEWAY, PREFILL, (8998,)),
        (SGLANG, None, PREFILL, ()),
    ],
)
def test_a_pair_without_a_cache(
    engine: EngineName, router: RouterName | None, kind: RoleKind, ports: tuple[int, ...]
) -> None:
    assert reserved(engine, router, kind) == ports


def test_a_cache_alone_connects_an_sglang_pair_and_no_vllm_pair() -> None:
    assert reserved(SGLANG, None, PREFILL, has_cache=True) == (8998,)
    assert reserved(SGLANG, None, DECODE, has_cache=True) == ()
    assert reserved(VLLM, None, PREFILL, has_cache=True) == ()


@pytest.mark.parametrize("engine", [VLLM, SGLANG])
def test_a_lone_prefill_has_no_bootstrap_port(engine: EngineName) -> None:
    assert 8998 not in reserved(engine, LLM_D, PREFILL, pair=False, has_cache=True)


@pytest.mark.parametrize("engine", [VLLM, SGLANG])
@pytest.mark.parametrize("router", [None, *RouterName])
@pytest.mark.parametrize("kind", RoleKind)
def test_a_taken_over_role_keeps_every_port(engine: EngineName, router: RouterName | None, kind: RoleKind) -> None:
    assert reserved(engine, router, kind, has_cache=True, encode=True, managed=False) == ()


def test_an_encode_role_adds_listeners() -> None:
    assert reserved(VLLM, LLM_D, ENCODE, encode=True) == (5601,)
    assert reserved(VLLM, LLM_D, PREFILL, encode=True) == (5557, 5558, 8998)
    assert reserved(VLLM, OWN, ENCODE, encode=True) == (5601,)
    assert reserved(SGLANG, GATEWAY, PREFILL, encode=True) == (8997, 8998)
    assert reserved(SGLANG, GATEWAY, ENCODE, encode=True) == ()


def test_halves_that_are_joined_by_address_have_no_bootstrap_port() -> None:
    assert reserved(VLLM, OWN, PREFILL) == (8998,)
    assert reserved(VLLM, OWN, PREFILL, encode=True) == ()


def declared(pod: dict[str, Any]) -> list[tuple[str, int]]:
    (main,) = (each for each in pod["spec"]["containers"] if each["name"] == "main")
    return [(each["name"], each["containerPort"]) for each in main["ports"]]


def ports_of(given: ModelDeployment, name: str, **world: Any) -> list[tuple[str, int]]:
    (found,) = (each for each in render(given, facts(**world)).roles if each.name == name)
    return declared(found.template.pod(Seat(0, 0)))


def test_b8_a_publishing_prefill_half_opens_its_listeners_after_its_own_ports() -> None:
    given = pair(router="llm-d-router", cache=True, ports=[{"port": 8000}, {"port": 9000}])
    assert ports_of(given, "prefill", store=store()) == [
        ("tcp-8000", 8000),
        ("tcp-9000", 9000),
        ("mc-bootstrap", 8998),
        ("kv-events", 5557),
        ("kv-replay", 5558),
    ]


@pytest.mark.parametrize(
    ("router", "extra"),
    [
        pytest.param("llm-d-router", [("mc-bootstrap", 8998)], id="leg"),
        pytest.param("vllm-router", [], id="no-leg"),
    ],
)
def test_a_prefill_half_on_ascend_opens_the_bootstrap_port_with_its_leg(
    router: str, extra: list[tuple[str, int]]
) -> None:
    (found, _) = render(pair(router=router), facts(instance_type(status=ASCEND))).roles
    assert declared(found.template.pod(Seat(0, 0))) == [("http", 8000), *extra]


@pytest.mark.parametrize(
    ("given", "extra"),
    [
        pytest.param(pair(engine="SGLang", cache=True), [("bootstrap", 8998)], id="C3-store"),
        pytest.param(pair(engine="SGLang", router="sglang-gateway"), [("bootstrap", 8998)], id="C3-router"),
        pytest.param(pair(engine="SGLang"), [], id="not-connected"),
        pytest.param(
            deployment(role("prefill", kind="Prefill"), engine="SGLang", spec=joined(cache=True)), [], id="C5-lone"
        ),
    ],
)
def test_a_split_sglang_prefill_half_opens_its_bootstrap_port(
    given: ModelDeployment, extra: list[tuple[str, int]]
) -> None:
    assert ports_of(given, "prefill", store=store()) == [("http", 8000), *extra]


def test_decode_halves_open_nothing() -> None:
    assert ports_of(pair(router="vllm-router"), "decode") == [("http", 8000)]
    assert ports_of(pair(engine="SGLang", cache=True), "decode", store=store()) == [("http", 8000)]


def epd(engine: str, router: str) -> ModelDeployment:
    roles = [role(kind.lower(), kind=kind) for kind in ("Encode", "Prefill", "Decode")]
    return deployment(*roles, engine=engine, spec=joined(router=router))


def test_encoders_and_those_that_list_them_open_a_port() -> None:
    assert ports_of(epd("vLLM", "llm-d-router"), "encode") == [("http", 8000), ("ec-nixl", 5601)]
    assert ports_of(epd("SGLang", "sglang-gateway"), "encode") == [("http", 8000)]
    assert ports_of(epd("SGLang", "sglang-gateway"), "prefill") == [
        ("http", 8000),
        ("bootstrap", 8998),
        ("encoder-boot", 8997),
    ]


@pytest.mark.parametrize(
    ("fields", "where", "number", "name"),
    [
        pytest.param({"ports": [{"port": 8000}, {"port": 5557}]}, "ports", 5557, "kv-events", id="F11"),
        pytest.param({"ports": [{"port": 8000}, {"port": 8998}]}, "ports", 8998, "mc-bootstrap", id="bootstrap"),
        pytest.param({"extraArgs": ["--port=5558"]}, "extraArgs", 5558, "kv-replay", id="own-port"),
    ],
)
def test_f11_a_port_that_a_listener_takes_is_refused(
    fields: dict[str, Any], where: str, number: int, name: str
) -> None:
    with pytest.raises(RenderRefusal) as refusal:
        render(pair(router="llm-d-router", prefill=fields), facts())
    assert (refusal.value.reason, refusal.value.role) == (RefusalReason.PORT_CONFLICT, "prefill")
    assert refusal.value.message == (
        f"spec.roles[prefill].{where}: port {number} is where {name} listens, which the operator adds to this role; "
        "use a port other than 8998, 5557, 5558"
    )


def test_a_listener_that_is_there_under_its_own_name_is_not_opened_twice() -> None:
    given = deployment(spec=joined(router="llm-d-router"))
    (one,), engine = given.spec.roles, ENGINES[VLLM]
    how = joining.of(given, one, engine.backend("nvidia"), None)
    there = replace(listener(one, engine), ports=(ContainerPort("kv-events", 5557, "TCP", declared=True),))
    assert [each.name for each in opened(one, engine, how, there)] == ["kv-replay"]


def test_a_taken_over_role_opens_its_own_ports_alone() -> None:
    command = ["vllm", "serve", "m", "--port", "5557"]
    assert ports_of(pair(router="llm-d-router", prefill={"command": command}), "prefill") == [("http", 5557)]


SHAPES = {
    (False, False): (SERVER,),
    (True, False): (PREFILL, DECODE),
    (False, True): (ENCODE, DECODE),
    (True, True): (ENCODE, PREFILL, DECODE),
}
"""Kinds by whether a pair and whether an Encode role is declared; each is judged beside them."""


@pytest.mark.parametrize("engine", EngineName)
@pytest.mark.parametrize("router", [None, *RouterName])
def test_a_port_is_reserved_exactly_where_some_cluster_has_it_opened(
    engine: EngineName, router: RouterName | None
) -> None:
    if router is not None and engine not in ROUTERS[router].engines:
        return
    compared = 0
    for has_cache, managed, (shape, kinds) in product((False, True), (False, True), SHAPES.items()):
        spec = joined(router=router, cache=has_cache)
        for kind in kinds:
            taken = {"command": ["x"]} if not managed else {}
            given = deployment(
                *(role(each.value.lower(), kind=each.value, **taken) for each in kinds), engine=engine, spec=spec
            )
            found: set[int] = set()
            for backend, attached in product(
                ENGINES[engine].backends.values(), (None, store("tcp"), store("ascend"), store("rdma"))
            ):
                one = given.spec.role(kind.value.lower())
                try:
                    how = joining.of(given, one, backend, attached)
                except RenderRefusal:
                    continue
                where = listener(one, ENGINES[engine], proxied=how.proxied)
                found |= {each.number for each in opened(one, ENGINES[engine], how, where)}
            expected = reserved(
                engine, router, kind, pair=shape[0], has_cache=has_cache, managed=managed, encode=shape[1]
            )
            assert tuple(sorted(found)) == expected, (has_cache, managed, kinds, kind)
            compared += 1
    assert compared == 4 * sum(map(len, SHAPES.values()))
