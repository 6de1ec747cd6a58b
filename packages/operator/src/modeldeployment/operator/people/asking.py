"""What only the cluster knows: the stored object of a name, and whatever a review looks up."""

import json
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from modeldeployment import kube
from modeldeployment.admission import lookups, schema
from modeldeployment.admission.errors import Unreadable
from modeldeployment.admission.facts import Facts, Policy
from modeldeployment.admission.lookups import Named
from modeldeployment.admission.schema import structure
from modeldeployment.api import ModelArtifact, keys
from modeldeployment.operator.errors import UsageError
from modeldeployment.operator.people.manifests import Manifest

_ARTIFACTS: Final = kube.custom(keys.GROUP, keys.VERSION, "modelartifacts", "ModelArtifact")
_RUNTIME_CLASSES: Final = kube.custom("node.k8s.io", "v1", "runtimeclasses", "RuntimeClass", namespaced=False)


async def stored(client: kube.Client, manifest: Manifest, namespace: str) -> dict[str, Any] | None:
    """The object of that kind and name as it is now, None where there is none; raises KubeError."""
    kind = structure.KINDS.get(manifest.kind)
    if kind is None or any(each.field.startswith("metadata.name") for each in schema.violations(manifest.body)):
        return None  # nothing can be called that, and the way to it might lead elsewhere
    where = kube.custom(keys.GROUP, keys.VERSION, kind.plural, kind.name, namespaced=kind.namespaced)
    request = kube.request_for(kube.Verb.GET, where, namespace if kind.namespaced else None, manifest.name)
    try:
        found: dict[str, Any] = json.loads(await client.raw(request))
    except kube.NotFound:
        return None
    return found


async def facts(client: kube.Client, named: Named, namespace: str, policy: Policy) -> Facts:
    """Look up what is named; raises UsageError where the cluster does not say."""
    try:
        return await lookups.read(client, named, namespace, policy)
    except Unreadable as error:
        raise UsageError(str(error)) from error


async def artifact(client: kube.Client, name: str, namespace: str) -> ModelArtifact | None:
    """The artifact of that name, None where there is none; raises KubeError, and UsageError where it is unreadable."""
    try:
        return ModelArtifact.model_validate_json(
            await client.raw(kube.request_for(kube.Verb.GET, _ARTIFACTS, namespace, name))
        )
    except kube.NotFound:
        return None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(step) for step in first["loc"])
        raise UsageError(f"ModelArtifact {name} could not be read: {where}: {first['msg']}") from error


async def runtime_classes(client: kube.Client) -> frozenset[str]:
    """The names of all RuntimeClasses; raises KubeError."""
    return frozenset(each.metadata.name for each in (await client.list_metadata(_RUNTIME_CLASSES)).items)


async def native_sidecars(client: kube.Client) -> bool:
    """Whether its Kubernetes starts sidecars first, asked as the controller asks it; raises KubeError."""
    from modeldeployment.reconcile import servers  # only who asks a cluster pays for it

    return await servers.native_sidecars(client)


def client(kubeconfig: Path | None, context: str | None) -> kube.Client:
    """A client of the cluster a kubeconfig names; raises AccessError."""
    return kube.Client(kube.load(kubeconfig=kubeconfig, context=context), field_manager="kubectl-md")
