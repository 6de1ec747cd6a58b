"""What only the cluster knows: the stored object of a name, and whatever a review looks up."""

import json
from pathlib import Path
from typing import Any

from modeldeployment import kube
from modeldeployment.admission import lookups, schema
from modeldeployment.admission.errors import Unreadable
from modeldeployment.admission.facts import Facts, Policy
from modeldeployment.admission.lookups import Named
from modeldeployment.admission.schema import structure
from modeldeployment.api import keys
from modeldeployment.operator.errors import UsageError
from modeldeployment.operator.people.manifests import Manifest


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


def client(kubeconfig: Path | None, context: str | None) -> kube.Client:
    """A client of the cluster a kubeconfig names; raises AccessError."""
    return kube.Client(kube.load(kubeconfig=kubeconfig, context=context), field_manager="kubectl-md")
