"""What each combination of router, cache, kind and vendor renders: the table of facts rendering §4, row by row."""

from typing import Any

import pytest
from render_connectors import ascend, document, env, flags, nvidia, pods
from render_worlds import deployment, facts, instance_type, joined, main, pair, role, store

STORE, EVENTS, DTYPE = "--kv-transfer-config", "--kv-events-config", "--kv-cache-dtype"
CONFIG, BOOTSTRAP = "MOONCAKE_CONFIG_PATH", "VLLM_MOONCAKE_BOOTSTRAP_PORT"
COUNT, PIN = "MC_TE_METRIC", "MC_FORCE_TCP"
LLM_D, OWN = "llm-d-router", "vllm-router"
DRIVER = {"name": "gpustack-ascend-driver", "mountPath": "/usr/local/Ascend/driver", "readOnly": True}
CLIENT = {"name": "gpustack-kvcache-config", "mountPath": "/etc/gpustack/kvcache", "readOnly": True}


def pod(router: str | None, cache: bool, roles: str, known: Any) -> dict[str, Any]:
    """The first of these roles, by their kinds."""
    kinds = roles.split()
    of = deployment(*(role(kind.lower(), kind=kind) for kind in kinds), spec=joined(router=router, cache=cache))
    return pods(of, known)[kinds[0].lower()]


SERVER, LONE, LAST = "Server", "Prefill", "Decode"
PREFILL, DECODE = "Prefill Decode", "Decode Prefill"

NATIVE = [
    (None, False, SERVER, "", [], []),
    (None, False, PREFILL, "", [], []),
    (None, False, DECODE, "", [], []),
    (None, True, SERVER, "MooncakeStoreConnector", [STORE, DTYPE], [CONFIG, COUNT]),
    (None, True, PREFILL, "MooncakeStoreConnector", [STORE, DTYPE], [CONFIG, COUNT]),
    (None, True, DECODE, "MooncakeStoreConnector", [STORE, DTYPE], [CONFIG, COUNT]),
    (LLM_D, False, SERVER, "", [EVENTS], []),
    (LLM_D, False, PREFILL, "MooncakeConnector", [STORE, EVENTS], [BOOTSTRAP, COUNT, PIN]),
    (LLM_D, False, DECODE, "MooncakeConnector", [STORE], [COUNT, PIN]),
    (LLM_D, False, LONE, "", [EVENTS], []),
    (LLM_D, False, LAST, "", [], []),
    (LLM_D, True, SERVER, "MooncakeStoreConnector", [STORE, EVENTS, DTYPE], [CONFIG, COUNT]),
    (LLM_D, True, PREFILL, "MultiConnector", [STORE, EVENTS, DTYPE], [CONFIG, BOOTSTRAP, COUNT, PIN]),
    (LLM_D, True, DECODE, "MultiConnector", [STORE, DTYPE], [CONFIG, COUNT, PIN]),
    (LLM_D, True, LONE, "MooncakeStoreConnector", [STORE, EVENTS, DTYPE], [CONFIG, COUNT]),
    (OWN, False, SERVER, "", [], []),
    (OWN, False, PREFILL, "MooncakeConnector", [STORE], [BOOTSTRAP, COUNT, PIN]),
    (OWN, False, DECODE, "MooncakeConnector", [STORE], [COUNT, PIN]),
    (OWN, True, SERVER, "MooncakeStoreConnector", [STORE, DTYPE], [CONFIG, COUNT]),
    (OWN, True, PREFILL, "MultiConnector", [STORE, DTYPE], [CONFIG, BOOTSTRAP, COUNT, PIN]),
    (OWN, True, DECODE, "MultiConnector", [STORE, DTYPE], [CONFIG, COUNT, PIN]),
]
ON_ASCEND = [
    (None, False, SERVER, "", [], []),
    (None, True, SERVER, "AscendStoreConnector", [STORE, DTYPE], [CONFIG, COUNT]),
    (None, True, PREFILL, "AscendStoreConnector", [STORE, DTYPE], [CONFIG, COUNT]),
    (LLM_D, False, SERVER, "", [], []),
    (LLM_D, False, PREFILL, "MooncakeConnectorV1", [STORE], [COUNT]),
    (LLM_D, False, DECODE, "MooncakeConnectorV1", [STORE], [COUNT]),
    (LLM_D, True, SERVER, "AscendStoreConnector", [STORE, DTYPE], [CONFIG, COUNT]),
    (LLM_D, True, PREFILL, "MultiConnector", [STORE, DTYPE], [CONFIG, COUNT]),
    (LLM_D, True, DECODE, "MultiConnector", [STORE, DTYPE], [CONFIG, COUNT]),
    (OWN, False, PREFILL, "", [], []),
    (OWN, False, DECODE, "", [], []),
    (OWN, True, PREFILL, "AscendStoreConnector", [STORE, DTYPE], [CONFIG, COUNT]),
    (OWN, True, DECODE, "AscendStoreConnector", [STORE, DTYPE], [CONFIG, COUNT]),
]


@pytest.mark.parametrize(("router", "cache", "roles", "connector", "arguments", "variables"), NATIVE)
def test_every_combination_on_native_vllm(
    router: str | None, cache: bool, roles: str, connector: str, arguments: list[str], variables: list[str]
) -> None:
    shown = pod(router, cache, roles, nvidia())
    assert (document(shown) or {"kv_connector": ""})["kv_connector"] == connector
    assert flags(shown) == arguments
    assert list(env(shown)) == variables
    assert main(shown).get("volumeMounts", []) == ([CLIENT] if cache else [])


@pytest.mark.parametrize(("router", "cache", "roles", "connector", "arguments", "variables"), ON_ASCEND)
def test_every_combination_on_ascend(
    router: str | None, cache: bool, roles: str, connector: str, arguments: list[str], variables: list[str]
) -> None:
    shown = pod(router, cache, roles, ascend())
    assert (document(shown) or {"kv_connector": ""})["kv_connector"] == connector
    assert flags(shown) == arguments
    assert list(env(shown)) == variables
    leg = connector in ("MooncakeConnectorV1", "MultiConnector")
    assert main(shown).get("volumeMounts", []) == [CLIENT] * cache + [DRIVER] * leg


def test_the_driver_of_ascend_is_a_directory_of_the_node() -> None:
    prefill = pods(pair(router=LLM_D), ascend(stored=False))["prefill"]
    assert prefill["spec"]["volumes"] == [
        {
            "name": "gpustack-ascend-driver",
            "hostPath": {"path": "/usr/local/Ascend/driver", "type": "Directory"},
        }
    ]


@pytest.mark.parametrize("maker", ["amd", "metax", "hygon", "iluvatar", "mthreads", "thead", "cambricon", ""])
def test_every_other_maker_is_joined_as_nvidia_is(maker: str) -> None:
    known = facts(instance_type(status={"manufacturer": maker}), store=store())
    of = pair(router=LLM_D, cache=True, resources={"accelerator": 0})
    for half, shown in pods(of, known).items():
        alike = pods(of, nvidia())[half]
        assert (document(shown), flags(shown), env(shown)) == (document(alike), flags(alike), env(alike))
