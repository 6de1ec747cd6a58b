import pytest
from modeldeployment.api.modeldeployment import EngineName, RouterName
from modeldeployment.api.roles import RoleKind
from modeldeployment.render import BOOTSTRAP_PORT, ENGINES, KV_EVENTS_PORT, KV_EVENTS_REPLAY_PORT, reserved_ports

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
