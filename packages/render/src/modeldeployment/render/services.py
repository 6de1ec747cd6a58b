"""The Services of a deployment: one in front of it, one per role, and a headless one per replica of several Pods.

Sources: facts rendering §10, facts encode §6, decisions D4 and D31.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from modeldeployment.api import keys, names
from modeldeployment.api.choices import RoleKind
from modeldeployment.render.engine import Opening
from modeldeployment.render.listener import TCP, Listener
from modeldeployment.render.ownership import namespace, owner_references, selector_labels

if TYPE_CHECKING:
    from modeldeployment.api.modeldeployment import ModelDeployment
    from modeldeployment.api.roles import Role

LONGEST_NAME: Final = 63
"""What a hostname and a Service name may measure."""


def deployment_service(deployment: ModelDeployment, first: Role, listener: Listener) -> dict[str, Any]:
    """Front the first role that answers callers, which Encode never does, under the deployment's own name."""
    return _front(deployment, first, names.deployment_service(deployment.metadata.name), _ports(listener))


def role_service(
    deployment: ModelDeployment, role: Role, listener: Listener, published: Sequence[Opening]
) -> dict[str, Any]:
    """Front the answering Pods of one role, with those of its own listeners that others subscribe to."""
    events = [
        {"name": opening.name, "protocol": TCP, "port": opening.number, "targetPort": opening.number}
        for opening in published
    ]
    return _front(deployment, role, names.role_service(deployment.metadata.name, role.name), _ports(listener) + events)


def replica_service(deployment: ModelDeployment, role: Role, listener: Listener, ordinal: int) -> dict[str, Any] | None:
    """Name every member of one replica, ready or not, so they find each other while starting; None at size 1."""
    if role.size == 1:
        return None
    owner = deployment.metadata.name
    spec = {
        "type": "ClusterIP",
        "clusterIP": "None",
        "publishNotReadyAddresses": True,
        "selector": selector_labels(owner, role.name) | {keys.ORDINAL: str(ordinal)},
        "ports": _ports(listener),
    }
    return _service(deployment, role, names.replica_service(owner, role.name, ordinal), spec)


def endpoint(deployment: ModelDeployment, listener: Listener) -> str:
    """Answer the URL at which callers in the cluster reach the deployment."""
    name = names.deployment_service(deployment.metadata.name)
    return f"{listener.serving_scheme}://{name}.{namespace(deployment)}.svc:{listener.service_port}"


def role_endpoint(deployment: ModelDeployment, role: Role, listener: Listener) -> str:
    """Answer the URL at which one role is reached directly."""
    name = names.role_service(deployment.metadata.name, role.name)
    return f"{listener.serving_scheme}://{name}.{namespace(deployment)}.svc:{listener.service_port}"


def _front(deployment: ModelDeployment, role: Role, name: str, ports: list[dict[str, Any]]) -> dict[str, Any]:
    selector = selector_labels(deployment.metadata.name, role.name)
    if role.kind is not RoleKind.ENCODE:  # which never carries the label (decisions D4)
        selector[keys.ELIGIBLE] = keys.TRUE
    if role.size > 1:
        selector[keys.MEMBER_INDEX] = "0"
    spec = {"type": "ClusterIP", "selector": selector, "ports": ports}
    return _service(deployment, role, name, spec)


def _ports(listener: Listener) -> list[dict[str, Any]]:
    serving = listener.serving
    return [
        {
            "name": serving.name,
            "protocol": serving.protocol,
            "port": listener.service_port,
            "targetPort": serving.number,
        }
    ]


def _service(deployment: ModelDeployment, role: Role, name: str, spec: Mapping[str, Any]) -> dict[str, Any]:
    labels = selector_labels(deployment.metadata.name, role.name) | {keys.RESOURCE_TYPE: keys.RESOURCE_TYPE_VALUE}
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": name,
            "namespace": namespace(deployment),
            "labels": labels,
            "annotations": {keys.NOTE_ROLE: role.name},
            "ownerReferences": owner_references(deployment),
        },
        "spec": spec,
    }
