"""Proving who we are to the real API server."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from modeldeployment.kube import Access, Client, Forbidden, Request, kinds, load

pytestmark = pytest.mark.lab

EXEC = "client.authentication.k8s.io/v1"


async def token_of(control_plane: Any, namespace: str) -> str:
    """Ask for a token of the namespace's default service account, by TokenRequest."""
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    target = f"/api/v1/namespaces/{namespace}/serviceaccounts/default/token"
    async with Client(load(control_plane.kubeconfig)) as client:
        answer = json.loads(await client.raw(Request("POST", target, json.dumps(body).encode())))
    return str(answer["status"]["token"])


def with_user(control_plane: Any, folder: Path, user: dict[str, Any]) -> Path:
    """The lab's kubeconfig with another user."""
    found = yaml.safe_load(control_plane.kubeconfig.read_text())
    found["users"] = [{"name": found["users"][0]["name"], "user": user}]
    path = folder / "kubeconfig"
    path.write_text(json.dumps(found))
    return path


async def known_as(access: Access, namespace: str) -> str:
    """Try what is forbidden; the refusal says who we are."""
    async with Client(access) as client:
        with pytest.raises(Forbidden) as raised:
            await client.get(kinds.PODS, "a", namespace)
    return raised.value.message.split('"')[3]


async def test_a_token_file_is_believed(control_plane: Any, namespace: str, tmp_path: Path) -> None:
    (tmp_path / "token").write_text(await token_of(control_plane, namespace) + "\n")
    access = load(with_user(control_plane, tmp_path, {"tokenFile": str(tmp_path / "token")}))
    assert await known_as(access, namespace) == f"system:serviceaccount:{namespace}:default"


async def test_an_exec_plugin_is_believed(control_plane: Any, namespace: str, tmp_path: Path) -> None:
    status = {"token": await token_of(control_plane, namespace)}
    credential = json.dumps({"apiVersion": EXEC, "kind": "ExecCredential", "status": status})
    arguments = ["-c", f"print({credential!r})"]
    plugin = {"apiVersion": EXEC, "command": sys.executable, "args": arguments, "interactiveMode": "Never"}
    access = load(with_user(control_plane, tmp_path, {"exec": plugin}))
    assert await known_as(access, namespace) == f"system:serviceaccount:{namespace}:default"


async def test_a_pod_finds_its_server_and_its_service_account(
    control_plane: Any, namespace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root,) = json.loads(await _raw(control_plane, f"/api/v1/namespaces/{namespace}/configmaps"))["items"]
    (tmp_path / "ca.crt").write_text(root["data"]["ca.crt"])
    (tmp_path / "token").write_text(await token_of(control_plane, namespace))
    host, _, port = load(control_plane.kubeconfig).server.removeprefix("https://").rpartition(":")
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", host)
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", port)
    access = load(service_account=tmp_path)
    assert await known_as(access, namespace) == f"system:serviceaccount:{namespace}:default"


async def _raw(control_plane: Any, target: str) -> bytes:
    async with Client(load(control_plane.kubeconfig)) as client:
        return await client.raw(Request("GET", target, repeatable=True))
