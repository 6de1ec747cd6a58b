"""The operator's rights, made of what each part of it says it asks of the API server.

No wildcard, nothing cluster-wide about Secrets, and no `pods/exec` (decisions D23).
"""

from collections.abc import Iterable
from typing import Any

from modeldeployment import reconcile, scaler
from modeldeployment.admission import lookups
from modeldeployment.admission.webhook import installing
from modeldeployment.kube import Grant, events, leader, rules
from modeldeployment.operator import admitting, controlling, scaling

NAME = "modeldeployment-operator"
"""Name of the ServiceAccount and of every object that gives it rights."""


def grants() -> tuple[Grant, ...]:
    """Everything the operator asks for."""
    return (
        *reconcile.GRANTS,
        *scaler.GRANTS,
        *events.GRANTS,
        *leader.grants(controlling.LEASE),
        *leader.grants(scaling.LEASE),
        *leader.grants(admitting.LEASE),
        *lookups.GRANTS,
        *installing.grants(),
    )


def manifests(namespace: str, name: str = NAME) -> tuple[dict[str, Any], ...]:
    """A ServiceAccount in `namespace` and the roles and bindings it needs, in apply order."""
    asked = grants()
    subject = {"kind": "ServiceAccount", "name": name, "namespace": namespace}
    local = {"name": name, "namespace": namespace}
    return (
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": local},
        _role("ClusterRole", {"name": name}, (each for each in asked if not each.own_namespace)),
        _binding("ClusterRole", {"name": f"{name}:{namespace}"}, name, subject),
        _role("Role", local, (each for each in asked if each.own_namespace)),
        _binding("Role", local, name, subject),
    )


def _role(kind: str, metadata: dict[str, Any], asked: Iterable[Grant]) -> dict[str, Any]:
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": kind,
        "metadata": metadata,
        "rules": rules(asked),
    }


def _binding(role: str, metadata: dict[str, Any], name: str, subject: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": f"{role}Binding",
        "metadata": metadata,
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": role, "name": name},
        "subjects": [subject],
    }
