"""A volume of a role's own at the path of one of the operator's: two mounts at one path are no Pod."""

from typing import Any

from modeldeployment.api import keys
from modeldeployment.render import Seat, render
from render_connectors import ascend, env, epd, nvidia, pods
from render_worlds import facts, main, pair

DRIVER, CLIENT, SHARED = "/usr/local/Ascend/driver", "/etc/gpustack/kvcache", "/dev/shm"


def mounting(path: str, **source: Any) -> dict[str, Any]:
    return {"additionalVolumes": [{"mountPath": path, **(source or {"hostPath": {"path": "/own"}})}]}


def mounts(pod: dict[str, Any]) -> list[tuple[str, str]]:
    found = [(mount["mountPath"], mount["name"]) for mount in main(pod)["volumeMounts"]]
    assert sorted(name for _, name in found) == sorted(volume["name"] for volume in pod["spec"]["volumes"])
    return found


def test_a_driver_the_role_mounts_itself_is_the_one_there() -> None:
    half = pods(pair(router="llm-d-router", **mounting(DRIVER)), ascend(stored=False))["prefill"]
    assert mounts(half) == [(DRIVER, "additional-0")]


def test_a_clients_document_of_the_users_own_is_the_one_read_and_ours_still_moves_replicas() -> None:
    half = pods(pair(cache=True, **mounting(CLIENT, configMap={"name": "own"})), nvidia())["prefill"]
    assert mounts(half) == [(CLIENT, "additional-0")]
    assert keys.CLIENT_CONFIG in half["metadata"]["annotations"]
    assert env(half)["MOONCAKE_CONFIG_PATH"] == f"{CLIENT}/mooncake.json"


def test_shared_memory_the_role_mounts_itself_holds_encoder_output() -> None:
    (encoder, *_) = render(epd("llm-d-router", encode=mounting(SHARED), prefill={}, decode={}), facts()).roles
    assert mounts(encoder.template.pod(Seat(0, 0))) == [(SHARED, "additional-0")]


def test_a_volume_beside_or_inside_or_without_a_source_stands_in_for_nothing() -> None:
    volumes = [{"mountPath": f"{CLIENT}-own", "secret": {"name": "own"}}, {"mountPath": CLIENT}]
    half = pods(pair(cache=True, additionalVolumes=volumes), nvidia())["prefill"]
    assert mounts(half) == [(f"{CLIENT}-own", "additional-0"), (CLIENT, "gpustack-kvcache-config")]
