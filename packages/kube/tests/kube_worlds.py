"""Builders with settled defaults: objects as the API server writes them, and lines of a watch."""

import json
from typing import Any

import msgspec
from hypothesis import HealthCheck, settings
from modeldeployment.kube import requests, shapes

POD_LINE = msgspec.json.Decoder(requests.WatchLine[shapes.Pod])


# A busy machine is no failure.
UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def pod_body(
    name: str = "engine-0",
    *,
    namespace: str = "models",
    uid: str = "u1",
    version: int = 10,
    labels: dict[str, str] | None = None,
    **status: Any,
) -> dict[str, Any]:
    """A Pod as JSON, with fields no shape reads."""
    return {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "uid": uid,
            "resourceVersion": str(version),
            "creationTimestamp": "2026-11-29T19:23:13Z",
            "labels": {"role": "prefill"} if labels is None else labels,
            "managedFields": [{"manager": "kubelet", "fieldsV1": {"f:status": {}}}],
        },
        "spec": {"nodeName": "node-1", "containers": [{"name": "main", "image": "engine"}]},
        "status": {"phase": "Running", "podIP": "127.1.0.1", **status},
    }


def pod(name: str = "engine-0", **fields: Any) -> shapes.Pod:
    """The same Pod, decoded."""
    return msgspec.json.decode(wire(pod_body(name, **fields)), type=shapes.Pod)


def wire(value: Any) -> bytes:
    """JSON as the API server writes it: compact, key order kept."""
    return json.dumps(value, separators=(",", ":")).encode()


def watch_line(type_: str, value: Any) -> bytes:
    """One line of a watch, without its line end."""
    return wire({"type": type_, "object": value})


def status_body(code: int, reason: str, message: str = "no", **more: Any) -> dict[str, Any]:
    """A Status object as the server refuses with."""
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason,
        "code": code,
        **more,
    }


def gated(name: str, **labels: str) -> bytes:
    """A Pod nobody will ever run."""
    spec = {
        "automountServiceAccountToken": False,
        "schedulingGates": [{"name": "lab/never"}],
        "containers": [{"name": "main", "image": "none"}],
    }
    return json.dumps(
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": labels}, "spec": spec}
    ).encode()
