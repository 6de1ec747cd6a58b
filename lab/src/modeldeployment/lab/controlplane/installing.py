"""Installing Kueue's CRDs and webhooks, and proving that they are really called (facts control-plane §5, §6)."""

import asyncio
from pathlib import Path
from typing import Any, Final

import yaml

from modeldeployment.api import kueue
from modeldeployment.lab.controlplane import kueue_manifests
from modeldeployment.lab.controlplane.api import Api
from modeldeployment.lab.controlplane.configurations import KUEUE_NAMESPACE

_CRDS: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_HOOKS: Final = "/apis/admissionregistration.k8s.io/v1"
_PROBE_PATH: Final = f"/apis/{kueue.API_VERSION}/resourceflavors?dryRun=All"
_PROBE: Final = {
    "apiVersion": kueue.API_VERSION,
    "kind": "ResourceFlavor",
    "metadata": {"name": "lab-probe"},
}
_PROBE_FINALIZER: Final = b"kueue.x-k8s.io/resource-in-use"


def _documents(file: Path) -> list[dict[str, Any]]:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return [document for document in yaml.load_all(file.read_bytes(), Loader=loader) if document]


async def install_definitions(api: Api, config: Path, url: str, authority: str) -> None:
    """Apply Kueue's CRDs and its namespace; return once every CRD is served."""
    manifests = [
        document for file in sorted((config / "crd" / "bases").glob("*.yaml")) for document in _documents(file)
    ]
    crds = [kueue_manifests.definition(manifest, url, authority) for manifest in manifests]
    paths = [f"{_CRDS}/{crd['metadata']['name']}" for crd in crds]
    await asyncio.gather(*(api.apply(path, crd) for path, crd in zip(paths, crds, strict=True)))
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": KUEUE_NAMESPACE}}
    await api.apply(f"/api/v1/namespaces/{KUEUE_NAMESPACE}", namespace)
    while True:
        served = await asyncio.gather(*(api.get(path) for path in paths))
        if kueue_manifests.established([crd or {} for crd in served]):
            return
        await asyncio.sleep(0.05)


async def install_hooks(api: Api, config: Path, url: str, authority: str) -> None:
    """Apply Kueue's webhook configurations; the API server takes up to two seconds to heed them."""
    for manifest in _documents(config / "webhook" / "manifests.yaml"):
        hooks = kueue_manifests.hook_configuration(manifest, url, authority)
        plural = f"{manifest['kind'].lower()}s"
        await api.apply(f"{_HOOKS}/{plural}/{hooks['metadata']['name']}", hooks)


async def hooks_are_called(api: Api) -> bool:
    """Tell whether a ResourceFlavor created in a dry run comes back with Kueue's finalizer."""
    return await api.accepts(_PROBE_PATH, _PROBE, _PROBE_FINALIZER)
