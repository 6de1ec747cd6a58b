"""The deployments that the suite makes, and the bodies of their Pods."""

import json
from collections.abc import Sequence
from typing import Any, Final

from modeldeployment.api import keys
from modeldeployment.api.instancetype import InstanceType
from modeldeployment.api.modeldeployment import ModelDeployment
from modeldeployment.render import Facts, RoleRendering, render

ROLE: Final = "server"


def deployment(
    name: str, namespace: str, instance_type: str, *, replicas: int, size: int = 1, roles: Sequence[str] = (ROLE,)
) -> dict[str, Any]:
    """A deployment as a user writes it: Server roles that are equal but for their names, one card a Pod."""
    return {
        "apiVersion": keys.API_VERSION,
        "kind": "ModelDeployment",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "model": {"name": "Qwen/Qwen2.5-7B-Instruct"},
            "engine": {"name": "vLLM", "version": "0.29.0"},
            "roles": [
                {
                    "name": role,
                    "replicas": replicas,
                    "size": size,
                    "instanceType": instance_type,
                    "resources": {"accelerator": 1},
                    "extraArgs": ["--max-model-len=32768", "--gpu-memory-utilization=0.92", "--enable-prefix-caching"],
                }
                for role in roles
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


def compact(document: dict[str, Any]) -> bytes:
    """The bytes of a manifest."""
    return json.dumps(document, separators=(",", ":")).encode()
