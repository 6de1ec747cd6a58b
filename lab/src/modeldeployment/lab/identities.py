"""Service accounts as identities: a token of one, and a kubeconfig that carries it."""

import json
from pathlib import Path
from typing import Any, Final

from modeldeployment.kube import Client, Verb, request_for
from modeldeployment.kube.kinds import SERVICE_ACCOUNTS
from modeldeployment.lab.controlplane import ControlPlane

TOKEN_SECONDS: Final = 4 * 3600


async def token(client: Client, account: str, namespace: str, seconds: int = TOKEN_SECONDS) -> str:
    """Ask the API server for a token of a service account that exists; raises the client's errors."""
    asked = {
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenRequest",
        "spec": {"expirationSeconds": seconds},
    }
    request = request_for(Verb.CREATE, SERVICE_ACCOUNTS, namespace, account, subresource="token", body=asked)
    given: str = json.loads(await client.raw(request))["status"]["token"]
    return given


def write_kubeconfig(plane: ControlPlane, bearer: str, file: Path) -> Path:
    """Write a kubeconfig, for its owner alone, that reaches a control plane with a bearer token; returns `file`."""
    name = "identity"
    content: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": name,
        "clusters": [
            {"name": name, "cluster": {"server": plane.server, "certificate-authority": str(plane.authority)}}
        ],
        "users": [{"name": name, "user": {"token": bearer}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
    }
    file.touch(mode=0o600)
    file.write_text(json.dumps(content))
    return file
