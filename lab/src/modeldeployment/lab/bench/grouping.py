"""LeaderWorkerSet beside the control plane: its kinds, its webhooks by URL, its process.

Unpatched and without leader election; its client limits are raised so that they limit nothing, and its Pod webhook asks
for its own Pods alone, as its release does (facts peers-measured, method and traps).
"""

import asyncio
import base64
import contextlib
import json
import os
import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, Final

import aiohttp
import yaml

from modeldeployment.kube import KubeError, Request
from modeldeployment.lab.bench.errors import BenchError, TooSlow
from modeldeployment.lab.bench.worlds import World
from modeldeployment.lab.controlplane import ports, processes
from modeldeployment.lab.errors import tail
from modeldeployment.lab.toolchain.groups import GroupController

_OWN_PODS: Final = {"matchExpressions": [{"key": "leaderworkerset.x-k8s.io/name", "operator": "Exists"}]}
_POD_HOOKS: Final = ("mpod.kb.io", "vpod.kb.io")
_HOOKS: Final = "/apis/admissionregistration.k8s.io/v1"
_CRDS: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_GROUPS: Final = "/apis/leaderworkerset.x-k8s.io/v1/namespaces/default/leaderworkersets"
_SECONDS: Final = 60.0


@contextlib.asynccontextmanager
async def running(world: World, groups: GroupController) -> AsyncIterator[int]:
    """Run the controller until its webhooks are called; yields its process id. Raises BenchError."""
    chosen = ports.choose()
    definitions = list(_documents(groups.documents / "crd" / "bases"))
    for definition in definitions:
        await _send(world, "POST", _CRDS, definition)
    folder = world.folder / "lws"
    configuration = _configure(world, folder, chosen.control, chosen.kueue_health, chosen.kueue_metrics)
    log = folder / "lws.log"
    command = [
        str(groups.program),
        f"--config={configuration}",
        f"--kubeconfig={world.plane.kubeconfig}",
        "--zap-log-level=info",
        "--zap-devel=false",
    ]
    hooks = [_by_url(world, hook, chosen.control) for hook in _documents(groups.documents / "webhook")]
    process = processes.start(command, {"PATH": os.defpath, "HOME": str(folder)}, folder, log)
    try:
        await _until_healthy(f"http://127.0.0.1:{chosen.kueue_health}/readyz", log)
        for hook in hooks:
            await _send(world, "POST", f"{_HOOKS}/{hook['kind'].lower()}s", hook)
        await _until_called(world)
        yield process.pid
    finally:
        for hook in hooks:
            with contextlib.suppress(KubeError):
                await _send(world, "DELETE", f"{_HOOKS}/{hook['kind'].lower()}s/{hook['metadata']['name']}")
        processes.stop([process], 10.0)


def _configure(world: World, folder: Path, webhook: int, health: int, metrics: int) -> Path:
    folder.mkdir(exist_ok=True)
    certificate, key = world.plane.serving_certificate
    shutil.copyfile(certificate, folder / "tls.crt")
    shutil.copyfile(key, folder / "tls.key")
    document = {
        "apiVersion": "config.lws.x-k8s.io/v1alpha1",
        "kind": "Configuration",
        "leaderElection": {"leaderElect": False},
        "internalCertManagement": {"enable": False},
        "webhook": {"host": "127.0.0.1", "port": webhook, "certDir": str(folder)},
        "metrics": {"bindAddress": f"127.0.0.1:{metrics}"},
        "health": {"healthProbeBindAddress": f"127.0.0.1:{health}"},
        "clientConnection": {"qps": 5000, "burst": 10000},
    }
    file = folder / "lws.json"
    file.write_text(json.dumps(document))
    return file


def _by_url(world: World, configuration: dict[str, Any], port: int) -> dict[str, Any]:
    authority = base64.b64encode(world.plane.authority.read_bytes()).decode()
    configuration["metadata"] = {"name": f"lws-{configuration['metadata']['name']}"}
    for hook in configuration["webhooks"]:
        path = hook["clientConfig"]["service"]["path"]
        hook["clientConfig"] = {"url": f"https://127.0.0.1:{port}{path}", "caBundle": authority}
        if hook["name"] in _POD_HOOKS:
            hook["objectSelector"] = _OWN_PODS
    return configuration


async def _until_healthy(url: str, log: Path) -> None:
    try:
        async with asyncio.timeout(_SECONDS), aiohttp.ClientSession() as session:
            while True:
                with contextlib.suppress(aiohttp.ClientError):
                    async with session.get(url) as answer:
                        if answer.status == 200:
                            return
                await asyncio.sleep(0.1)
    except TimeoutError as error:
        raise BenchError(
            "LeaderWorkerSet did not become ready; the end of its log:\n" + "\n".join(tail(log))
        ) from error


async def _until_called(world: World) -> None:
    """Wait until the API server heeds the webhooks: an object created in a dry run comes back with its defaults."""
    probe = {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": "probe", "namespace": "default"},
        "spec": {"leaderWorkerTemplate": {"size": 1, "workerTemplate": {"spec": {"containers": [_CONTAINER]}}}},
    }
    try:
        async with asyncio.timeout(_SECONDS):
            while True:
                with contextlib.suppress(KubeError):
                    answer = json.loads(await _send(world, "POST", f"{_GROUPS}?dryRun=All", probe))
                    if "networkConfig" in answer["spec"]:
                        break
                await asyncio.sleep(0.1)
    except TimeoutError as error:
        raise TooSlow(f"LeaderWorkerSet's webhooks were not called within {_SECONDS:.0f} s") from error
    await asyncio.sleep(2.0)  # the Pod webhooks, of which no dry run tells, are heeded a moment later


_CONTAINER: Final = {"name": "main", "image": "registry.example/none:1"}


async def _send(world: World, method: str, target: str, body: dict[str, Any] | None = None) -> bytes:
    return await world.client.raw(Request(method, target, None if body is None else json.dumps(body).encode()))


def _documents(folder: Path) -> Iterator[dict[str, Any]]:
    for file in sorted(folder.glob("*.yaml")):
        for document in yaml.load_all(file.read_bytes(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            if document:
                document.pop("status", None)
                yield document
