"""Configuration: kubeconfig with its ways to prove who we are, a Pod's service account, and renewal."""

import asyncio
import json
import stat
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from modeldeployment.kube import Access, AccessError, Credential, load

EXEC = "client.authentication.k8s.io/v1"


def kubeconfig(folder: Path, user: dict[str, Any], server: str = "http://127.0.0.1:1", **cluster: Any) -> Path:
    path = folder / "kubeconfig"
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "one",
        "contexts": [{"name": "one", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": server, **cluster}}],
        "users": [{"name": "u", "user": user}],
    }
    path.write_text(json.dumps(content))
    return path


async def test_a_token_in_the_kubeconfig_is_sent_as_it_is(tmp_path: Path) -> None:
    access = load(kubeconfig(tmp_path, {"token": "secret"}, server="http://127.0.0.1:1/"))
    assert (access.server, access.tls, access.proxy) == ("http://127.0.0.1:1", None, None)
    assert await access.authorization() == "Bearer secret"


async def test_a_password_is_sent_as_basic_authentication(tmp_path: Path) -> None:
    access = load(kubeconfig(tmp_path, {"username": "me", "password": "pass"}))
    assert await access.authorization() == "Basic bWU6cGFzcw=="


async def test_a_user_without_a_credential_sends_none(tmp_path: Path) -> None:
    assert await load(kubeconfig(tmp_path, {})).authorization() == ""


async def test_a_token_file_is_read_again_within_a_minute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "token").write_text("first\n")
    access = load(kubeconfig(tmp_path, {"tokenFile": "token"}))
    assert await access.authorization() == "Bearer first"
    (tmp_path / "token").write_text("second\n")
    assert await access.authorization() == "Bearer first"
    soon = access._clock() + 61.0
    monkeypatch.setattr(access, "_clock", lambda: soon)
    assert await access.authorization() == "Bearer second"


async def test_an_exec_plugin_runs_again_before_its_token_expires(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expiry = (datetime.now(UTC) + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    runs = tmp_path / "runs"
    plugin = tmp_path / "plugin"
    plugin.write_text(
        f"#!{sys.executable}\n"
        "import json, pathlib\n"
        f"runs = pathlib.Path({str(runs)!r})\n"
        "number = len(runs.read_text()) if runs.exists() else 0\n"
        "runs.write_text('x' * (number + 1))\n"
        f"status = {{'token': f'token-{{number}}', 'expirationTimestamp': {expiry!r}}}\n"
        f"print(json.dumps({{'apiVersion': {EXEC!r}, 'kind': 'ExecCredential', 'status': status}}))\n"
    )
    plugin.chmod(plugin.stat().st_mode | stat.S_IXUSR)
    user = {"exec": {"apiVersion": EXEC, "command": str(plugin), "interactiveMode": "Never"}}
    access = load(kubeconfig(tmp_path, user))
    assert [await access.authorization() for _ in range(3)] == ["Bearer token-0"] * 3
    late = access._clock() + 3600.0 - 30.0
    monkeypatch.setattr(access, "_clock", lambda: late)
    answers = await asyncio.gather(*(access.authorization() for _ in range(5)))
    assert answers == ["Bearer token-1"] * 5


def test_an_exec_plugin_that_fails_is_an_error(tmp_path: Path) -> None:
    user = {"exec": {"apiVersion": EXEC, "command": "/bin/false", "interactiveMode": "Never"}}
    with pytest.raises(AccessError, match=r"exec plugin /bin/false gave no credential"):
        load(kubeconfig(tmp_path, user))


async def test_a_pod_is_found_by_its_environment_and_its_token_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "fd00::1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
    (tmp_path / "token").write_text("first")
    (tmp_path / "ca.crt").write_text(CERTIFICATE)
    access = load(service_account=tmp_path)
    assert (access.server, access.tls is not None) == ("https://[fd00::1]:443", True)
    assert await access.authorization() == "Bearer first"
    (tmp_path / "token").write_text("second")
    soon = access._clock() + 61.0
    monkeypatch.setattr(access, "_clock", lambda: soon)
    assert await access.authorization() == "Bearer second"


@pytest.mark.parametrize(
    ("write", "message"),
    [
        (lambda _: None, "No configuration found"),
        (lambda path: path.write_text("{"), "while parsing"),
        (
            lambda path: path.write_text("current-context: x\ncontexts: []\nclusters: []\n"),
            "Expected object with name x",
        ),
    ],
)
def test_an_unusable_kubeconfig_is_named(tmp_path: Path, write: Any, message: str) -> None:
    path = tmp_path / "kubeconfig"
    write(path)
    with pytest.raises(AccessError, match=f"(?s)kubeconfig {path}: .*{message}"):
        load(path)


def test_an_unusable_certificate_authority_is_named(tmp_path: Path) -> None:
    (tmp_path / "ca.crt").write_text("nonsense")
    path = kubeconfig(tmp_path, {}, server="https://127.0.0.1:1", **{"certificate-authority": "ca.crt"})
    with pytest.raises(AccessError, match=f"certificate authority {tmp_path / 'ca.crt'}"):
        load(path)


def test_without_any_configuration_both_places_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    monkeypatch.setattr("kubernetes.config.kube_config.KUBE_CONFIG_DEFAULT_LOCATION", str(tmp_path / "none"))
    with pytest.raises(AccessError, match=r"(?s)in a Pod: Service host/port is not set.*hint: name a kubeconfig"):
        load(service_account=tmp_path)


async def test_a_renewal_that_fails_keeps_the_old_credential_until_it_expires() -> None:
    now = [0.0]
    reads: list[float] = []

    def read() -> Credential:
        reads.append(now[0])
        if len(reads) > 1:
            raise AccessError("plugin is away")
        return Credential("http://127.0.0.1:1", "Bearer old", expires=100.0)

    access = Access(read, clock=lambda: now[0])
    now[0] = 85.0
    assert await access.authorization() == "Bearer old"
    now[0] = 101.0
    with pytest.raises(AccessError, match="plugin is away"):
        await access.authorization()


async def test_refusals_close_together_share_one_renewal() -> None:
    now = [0.0]
    tokens = iter(["a", "b", "c"])
    access = Access(lambda: Credential("http://127.0.0.1:1", f"Bearer {next(tokens)}"), clock=lambda: now[0])
    now[0] = 10.0
    assert await asyncio.gather(*(access.refused("Bearer a") for _ in range(4))) == [True] * 4
    assert await access.authorization() == "Bearer b"
    assert not await access.refused("Bearer b")
    now[0] = 16.0
    assert await access.refused("Bearer b")
    assert await access.authorization() == "Bearer c"


CERTIFICATE = """-----BEGIN CERTIFICATE-----
MIIBczCCARmgAwIBAgIUK8qzpxzdD7YhUM38hoNgQzO4d8swCgYIKoZIzj0EAwIw
DjEMMAoGA1UEAwwDbGFiMCAXDTI2MTEyOTE5NDQzMloYDzIxMjYxMTA1MTk0NDMy
WjAOMQwwCgYDVQQDDANsYWIwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQN0WCu
EWwIhk/tDdXjqIPUkzrGGa4sZwiZxRK3XJQAmwFkTIz/0joyu3vAxHsVYo8rIIZS
kjzBKB8728u8SRcDo1MwUTAdBgNVHQ4EFgQU2uHipSj0NAPlFRQgz1rovzXltNsw
HwYDVR0jBBgwFoAU2uHipSj0NAPlFRQgz1rovzXltNswDwYDVR0TAQH/BAUwAwEB
/zAKBggqhkjOPQQDAgNIADBFAiEA8JrIOX8xaWLRut0nMTj19ibKPBdMSL4YVH8w
tj6yJFMCIAZzZNHrixcJ3unuyRM3e4svqF0v63IFVbQYadOgAEMY
-----END CERTIFICATE-----
"""
