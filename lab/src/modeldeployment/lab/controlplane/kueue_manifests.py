"""Kueue's own manifests, adapted to a controller that runs as a bare process (facts control-plane §6). Pure."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any, Final

from modeldeployment.lab.controlplane.configurations import KUEUE_NAMESPACE

Manifest = dict[str, Any]

_CONVERTED: Final = frozenset({"workloads", "clusterqueues", "localqueues", "cohorts", "multikueueclusters"})
_POD_HOOKS: Final = frozenset({"mpod.kb.io", "vpod.kb.io"})
_HOOKS: Final = _POD_HOOKS | {
    "mclusterqueue.kb.io",
    "vclusterqueue.kb.io",
    "vcohort.kb.io",
    "mresourceflavor.kb.io",
    "vresourceflavor.kb.io",
    "mworkload.kb.io",
    "vworkload.kb.io",
}
_UNTOUCHED_NAMESPACES: Final = ("kube-system", KUEUE_NAMESPACE)


def definition(manifest: Mapping[str, Any], url: str, authority: str) -> Manifest:
    """Return a CRD to apply: no status; where Kueue converts, conversion asks `url`, trusting the base64 CA bundle."""
    crd = deepcopy(dict(manifest))
    crd.pop("status", None)
    if crd["spec"]["names"]["plural"] in _CONVERTED:
        client = {"url": f"{url}/convert", "caBundle": authority}
        webhook = {"clientConfig": client, "conversionReviewVersions": ["v1"]}
        crd["spec"]["conversion"] = {"strategy": "Webhook", "webhook": webhook}
    return crd


def hook_configuration(manifest: Mapping[str, Any], url: str, authority: str) -> Manifest:
    """Return a webhook configuration to apply: only the hooks of Pods and Kueue's kinds, called at `url`.

    Other hooks would make every Deployment or Job write depend on Kueue. System namespaces are left alone.
    """
    configuration = deepcopy(dict(manifest))
    configuration["metadata"] = {"name": f"kueue-{manifest['metadata']['name']}"}
    configuration["webhooks"] = [_hook(hook, url, authority) for hook in manifest["webhooks"] if hook["name"] in _HOOKS]
    return configuration


def established(crds: Sequence[Mapping[str, Any]]) -> bool:
    """Tell whether every CRD is served; a fresh one has null conditions."""
    return all(
        any(
            condition["type"] == "Established" and condition["status"] == "True"
            for condition in (crd.get("status") or {}).get("conditions") or ()
        )
        for crd in crds
    )


def _hook(hook: Mapping[str, Any], url: str, authority: str) -> Manifest:
    path = hook["clientConfig"]["service"]["path"]
    changed: Manifest = deepcopy(dict(hook)) | {"clientConfig": {"url": f"{url}{path}", "caBundle": authority}}
    if hook["name"] in _POD_HOOKS:
        not_ours = {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": list(_UNTOUCHED_NAMESPACES)}
        changed["namespaceSelector"] = {"matchExpressions": [not_ours]}
    return changed
