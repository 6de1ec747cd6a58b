"""The operator's own account: a ServiceAccount that may do what `modeldeployment-operator rbac` says, and no more."""

from pathlib import Path
from typing import Final

from modeldeployment.kube import Client, PatchType, custom, load
from modeldeployment.lab import identities
from modeldeployment.lab.controlplane import ControlPlane
from modeldeployment.operator import rbac

_GROUP: Final = "rbac.authorization.k8s.io"
_KINDS: Final = {
    "ServiceAccount": custom("", "v1", "serviceaccounts", "ServiceAccount"),
    "ClusterRole": custom(_GROUP, "v1", "clusterroles", "ClusterRole", namespaced=False),
    "ClusterRoleBinding": custom(_GROUP, "v1", "clusterrolebindings", "ClusterRoleBinding", namespaced=False),
    "Role": custom(_GROUP, "v1", "roles", "Role"),
    "RoleBinding": custom(_GROUP, "v1", "rolebindings", "RoleBinding"),
}


async def account(control_plane: ControlPlane, namespace: str, folder: Path) -> Path:
    """Make the operator's account in `namespace` and return a kubeconfig of it."""
    async with Client(load(control_plane.kubeconfig), field_manager="modeldeployment-test") as client:
        for manifest in rbac.manifests(namespace):
            name, where = manifest["metadata"]["name"], manifest["metadata"].get("namespace")
            await client.patch(_KINDS[manifest["kind"]], name, manifest, where, how=PatchType.APPLY, force=True)
        bearer = await identities.token(client, rbac.NAME, namespace)
    return identities.write_kubeconfig(control_plane, bearer, folder / f"{namespace}.kubeconfig")


def user(namespace: str) -> str:
    """The account's user name."""
    return f"system:serviceaccount:{namespace}:{rbac.NAME}"
