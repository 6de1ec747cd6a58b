"""Keeps kwok's hands off the Pods of some namespaces, so that somebody else can play their kubelet.

The API server itself puts kwok's annotations on every new Pod of a deployment (facts control-plane §7), as nobody else
could without a race.
"""

import asyncio
import contextlib
from typing import Any, Final

import msgspec

from modeldeployment.api import keys
from modeldeployment.kube import AlreadyExists, Client, NotFound, Verb, custom, request_for
from modeldeployment.kube.kinds import PODS
from modeldeployment.lab.serving.errors import PolicyIgnored

POLICIES: Final = custom("admissionregistration.k8s.io", "v1", "mutatingadmissionpolicies", "", namespaced=False)
BINDINGS: Final = custom("admissionregistration.k8s.io", "v1", "mutatingadmissionpolicybindings", "", namespaced=False)
HANDS_OFF: Final = {"lab/never-ready": "true", "lab/never-terminates": "true"}
_PATIENCE: Final = 60.0


def _name(namespace: str) -> str:
    return f"{namespace}-serving"


def _policy(namespace: str) -> dict[str, Any]:
    values = ", ".join(f"'{key}': '{value}'" for key, value in HANDS_OFF.items())
    patch = f"Object{{metadata: Object.metadata{{annotations: {{{values}}}}}}}"
    is_ours = f"has(object.metadata.labels) && '{keys.NAME}' in object.metadata.labels"
    return {
        "apiVersion": POLICIES.api_version,
        "kind": "MutatingAdmissionPolicy",
        "metadata": {"name": _name(namespace)},
        "spec": {
            "failurePolicy": "Fail",
            "reinvocationPolicy": "Never",
            "matchConstraints": {
                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
                "resourceRules": [
                    {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"], "operations": ["CREATE"]}
                ],
            },
            "matchConditions": [{"name": "ours", "expression": is_ours}],
            "mutations": [{"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": patch}}],
        },
    }


async def install(client: Client, namespace: str) -> None:
    """Take the Pods of a namespace from kwok, from its next Pod on. Raises PolicyIgnored and the client's errors."""
    binding = {
        "apiVersion": BINDINGS.api_version,
        "kind": "MutatingAdmissionPolicyBinding",
        "metadata": {"name": _name(namespace)},
        "spec": {"policyName": _name(namespace)},
    }
    with contextlib.suppress(AlreadyExists):
        await client.create(POLICIES, _policy(namespace))
    with contextlib.suppress(AlreadyExists):
        await client.create(BINDINGS, binding)
    try:
        await _until(client, namespace, holds=True)
    except TimeoutError:
        message = f"for {_PATIENCE:.0f} s the API server annotated no Pod of namespace {namespace}"
        raise PolicyIgnored(f"{message}; MutatingAdmissionPolicy has to be served as v1") from None


async def remove(client: Client, namespace: str) -> None:
    """Give new Pods of a namespace back to kwok, a moment later."""
    for kind in (BINDINGS, POLICIES):
        with contextlib.suppress(NotFound):
            await client.delete(kind, _name(namespace))


async def given_back(client: Client, namespace: str) -> None:
    """Wait until the next Pod of a namespace is kwok's, once nobody serves it. Raises PolicyIgnored."""
    try:
        await _until(client, namespace, holds=False)
    except TimeoutError:
        message = f"for {_PATIENCE:.0f} s the API server went on annotating Pods of namespace {namespace}"
        raise PolicyIgnored(f"{message}; see whether somebody serves them") from None


async def _until(client: Client, namespace: str, *, holds: bool) -> None:
    # The API server takes a policy up a moment after it was stored; nothing but a try tells when.
    async with asyncio.timeout(_PATIENCE):
        while await _holds(client, namespace) is not holds:  # noqa: ASYNC110 -- as above
            await asyncio.sleep(0.1)


async def _holds(client: Client, namespace: str) -> bool:
    probe = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"generateName": "probe-", "labels": {keys.NAME: keys.NAME_VALUE}},
        "spec": {"containers": [{"name": "main", "image": "lab/probe"}]},
    }
    request = request_for(Verb.CREATE, PODS, namespace, body=probe, query={"dryRun": "All"})
    made = msgspec.json.decode(await client.raw(request))
    return bool(HANDS_OFF.items() <= made["metadata"].get("annotations", {}).items())
