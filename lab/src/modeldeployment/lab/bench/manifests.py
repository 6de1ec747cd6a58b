"""The deployments and the Job that the suite makes, and the bodies of their Pods."""

import json
from typing import Any, Final

from modeldeployment.api import keys
from modeldeployment.api.instancetype import InstanceType
from modeldeployment.api.modeldeployment import ModelDeployment
from modeldeployment.render import Facts, RoleRendering, Seat, render

ROLE: Final = "server"


def deployment(name: str, namespace: str, instance_type: str, *, replicas: int, size: int = 1) -> dict[str, Any]:
    """A deployment as a user writes it: one Server role, one card a Pod."""
    return {
        "apiVersion": keys.API_VERSION,
        "kind": "ModelDeployment",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "model": {"name": "Qwen/Qwen2.5-7B-Instruct"},
            "engine": {"name": "vLLM", "version": "0.29.0"},
            "roles": [
                {
                    "name": ROLE,
                    "replicas": replicas,
                    "size": size,
                    "instanceType": instance_type,
                    "resources": {"accelerator": 1},
                    "extraArgs": ["--max-model-len=32768", "--gpu-memory-utilization=0.92", "--enable-prefix-caching"],
                }
            ],
        },
    }


def rendered(stored: ModelDeployment, instance_type: InstanceType) -> RoleRendering:
    """Render the only role of a deployment; raises RenderRefusal."""
    (role,) = render(stored, Facts({instance_type.metadata.name: instance_type})).roles
    return role


def bodies(role: RoleRendering) -> list[bytes]:
    """The bytes of every Pod, exactly as the operator sends them."""
    return [role.template.body(seat) for seat in role.seats()]


def job(name: str, namespace: str, role: RoleRendering) -> dict[str, Any]:
    """An Indexed Job of as many Pods like the role's first one.

    The Pods keep the queue, so that Kueue's webhooks and controllers work as much for them as for ours; group and
    ordinal, which all Pods of a template would share, are left out, and each Pod is a Workload of its own.
    """
    pod = role.template.pod(Seat(0, 0))
    metadata, spec = pod["metadata"], pod["spec"]
    left_out = {keys.GROUP_NAME, keys.ORDINAL, keys.MEMBER_INDEX, keys.GROUP_TOTAL, keys.GROUP_SERVING}
    for part in ("labels", "annotations"):
        metadata[part] = {key: value for key, value in metadata[part].items() if key not in left_out}
    # Ours by no label: the operator's watch of the next round must not see these Pods.
    metadata["labels"].pop(keys.NAME, None)
    spec["restartPolicy"] = "Never"
    for named in ("hostname", "subdomain"):
        spec.pop(named, None)
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "completionMode": "Indexed",
            "completions": role.replicas,
            "parallelism": role.replicas,
            "backoffLimit": 1_000_000,
            "template": {"metadata": {part: metadata[part] for part in ("labels", "annotations")}, "spec": spec},
        },
    }


def compact(document: dict[str, Any]) -> bytes:
    """The bytes of a manifest."""
    return json.dumps(document, separators=(",", ":")).encode()
