"""The pool that the pinned picker of `llm-d-router` wants in the place of a selector, and the rights to read it.

A picker of the routers' own version needs none of this. Source: facts control-plane §10.
"""

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from typing import Any, Final

from modeldeployment.kube import AlreadyExists, Client, NotFound, Verb, custom, request_for
from modeldeployment.kube.kinds import CUSTOM_RESOURCE_DEFINITIONS

_GROUP: Final = "inference.networking.k8s.io"
_POOLS: Final = custom(_GROUP, "v1", "inferencepools", "InferencePool")
_RIGHTS: Final = "rbac.authorization.k8s.io"
_ROLES: Final = custom(_RIGHTS, "v1", "roles", "Role")
_BINDINGS: Final = custom(_RIGHTS, "v1", "rolebindings", "RoleBinding")
_PICKER_PORT: Final = 9002
_PATIENCE: Final = 60.0
_POLL: Final = 0.05

JSON = dict[str, Any]


async def pooled(
    client: Client, namespace: str, name: str, labels: Mapping[str, str], ports: Sequence[int], account: str
) -> None:
    """Let there be a pool of the Pods with these labels, which an account may read. Raises the client's errors."""
    with contextlib.suppress(AlreadyExists):
        await client.create(CUSTOM_RESOURCE_DEFINITIONS, _definition())
    async with asyncio.timeout(_PATIENCE):
        # An API server calls a definition Established a moment before it serves the kind.
        while True:
            with contextlib.suppress(NotFound):
                await client.raw(request_for(Verb.LIST, _POOLS, namespace, query={"limit": "1"}))
                break
            await asyncio.sleep(_POLL)
    for kind, body in (
        (_ROLES, _role(name)),
        (_BINDINGS, _binding(name, namespace, account)),
        (_POOLS, _pool(name, labels, ports)),
    ):
        with contextlib.suppress(AlreadyExists):
            await client.create(kind, body, namespace)


def _definition() -> JSON:
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    return {
        "apiVersion": CUSTOM_RESOURCE_DEFINITIONS.api_version,
        "kind": "CustomResourceDefinition",
        "metadata": {"name": str(_POOLS), "annotations": {"api-approved.kubernetes.io": "unapproved, of a lab"}},
        "spec": {
            "group": _GROUP,
            "names": {"kind": "InferencePool", "listKind": "InferencePoolList", "plural": "inferencepools"},
            "scope": "Namespaced",
            "versions": [version],
        },
    }


def _pool(name: str, labels: Mapping[str, str], ports: Sequence[int]) -> JSON:
    return {
        "apiVersion": _POOLS.api_version,
        "kind": "InferencePool",
        "metadata": {"name": name},
        "spec": {
            "selector": {"matchLabels": dict(labels)},
            "targetPorts": [{"number": port} for port in ports],
            "endpointPickerRef": {"name": name, "port": {"number": _PICKER_PORT}},
        },
    }


def _role(name: str) -> JSON:
    rule = {"apiGroups": [_GROUP], "resources": [_POOLS.plural], "verbs": ["get", "list", "watch"]}
    return {"apiVersion": _ROLES.api_version, "kind": "Role", "metadata": {"name": f"{name}-pool"}, "rules": [rule]}


def _binding(name: str, namespace: str, account: str) -> JSON:
    return {
        "apiVersion": _BINDINGS.api_version,
        "kind": "RoleBinding",
        "metadata": {"name": f"{name}-pool"},
        "roleRef": {"apiGroup": _RIGHTS, "kind": "Role", "name": f"{name}-pool"},
        "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": namespace}],
    }
