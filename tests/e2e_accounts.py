"""The operator's own account: a ServiceAccount that may do what `modeldeployment-operator rbac` says, and no more."""

import base64
import json
from pathlib import Path
from typing import Any, Final

import yaml
from modeldeployment.kube import Client, PatchType, Request, custom, load
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
    """Make the operator's account in `namespace` and return a kubeconfig of it, good for an hour."""
    async with Client(load(control_plane.kubeconfig), field_manager="modeldeployment-test") as client:
        for manifest in rbac.manifests(namespace):
            metadata = manifest["metadata"]
            await client.patch(
                _KINDS[manifest["kind"]],
                metadata["name"],
                manifest,
                metadata.get("namespace"),
                how=PatchType.APPLY,
                force=True,
            )
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 3600}}
        target = f"/api/v1/namespaces/{namespace}/serviceaccounts/{rbac.NAME}/token"
        answer = json.loads(await client.raw(Request("POST", target, json.dumps(body).encode())))
    return _kubeconfig(control_plane, answer["status"]["token"], folder / f"{namespace}.kubeconfig")


def _kubeconfig(control_plane: ControlPlane, token: str, file: Path) -> Path:
    authority = base64.b64encode(control_plane.authority.read_bytes()).decode()
    content: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "operator",
        "clusters": [
            {"name": "lab", "cluster": {"server": control_plane.server, "certificate-authority-data": authority}}
        ],
        "users": [{"name": "operator", "user": {"token": token}}],
        "contexts": [{"name": "operator", "context": {"cluster": "lab", "user": "operator"}}],
    }
    file.write_text(yaml.safe_dump(content))
    file.chmod(0o600)
    return file
