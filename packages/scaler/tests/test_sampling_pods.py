"""What is asked of a Pod's engine, and in which life (decisions D23)."""

from typing import Any

import msgspec
from modeldeployment.api import RoleKind, keys
from modeldeployment.api.choices import EngineName
from modeldeployment.kube import shapes
from modeldeployment.scaler.sampling import Engine
from modeldeployment.scaler.sampling.pods import engine


def pod(address: str = "10.0.0.7", restarts: int = 0) -> shapes.Pod:
    body: dict[str, Any] = {
        "metadata": {
            "name": "chat-decode-1",
            "namespace": "team",
            "uid": "u",
            "annotations": {
                keys.SCRAPE: "true",
                keys.SCRAPE_PATH: "/metrics",
                keys.SCRAPE_PORT: "8200",
                keys.SCRAPE_SCHEME: "http",
            },
        },
        "status": {
            "podIP": address,
            "containerStatuses": [
                {"name": "engine", "containerID": "containerd://e", "restartCount": restarts},
                {"name": "other", "containerID": "containerd://o", "restartCount": 1},
            ],
        },
    }
    return msgspec.convert(body, shapes.Pod)


def asked(of: shapes.Pod) -> Engine:
    return engine(of, "decode", RoleKind.DECODE, EngineName.SGLANG)


def test_an_engine_is_asked_at_its_pods_own_address_where_its_annotations_say() -> None:
    assert asked(pod()) == Engine(
        role="decode",
        kind=RoleKind.DECODE,
        name=EngineName.SGLANG,
        pod="chat-decode-1",
        uid="u",
        container="containerd://e containerd://o",
        restarts=1,
        url="http://10.0.0.7:8200/metrics",
    )


def test_a_pod_without_an_address_is_not_asked() -> None:
    assert asked(pod(address="")).url is None


def test_a_restart_is_another_life() -> None:
    assert asked(pod()).life == ("u", "containerd://e containerd://o", 1)
    assert asked(pod(restarts=1)).life != asked(pod()).life
