"""An API server that knows the Pods of one namespace and nothing else: enough for a router to discover by."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from aiohttp import web

NAMESPACE: Final = "team"
JSON = dict[str, Any]


class Pods:
    """Pods by name; whoever watches is told of every change, and the labels they select by are not looked at."""

    def __init__(self) -> None:
        self.port = 0
        self._pods: dict[str, JSON] = {}
        self._revision = 1
        self._watchers: set[asyncio.Queue[JSON]] = set()

    def put(self, name: str, address: str, labels: Mapping[str, str], **annotations: str) -> None:
        """Create a Pod that runs and is Ready, or change its labels."""
        self._revision += 1
        kind = "MODIFIED" if name in self._pods else "ADDED"
        conditions = [{"type": each, "status": "True"} for each in ("ContainersReady", "Ready")]
        self._pods[name] = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": name,
                "namespace": NAMESPACE,
                "uid": f"uid-{name}",
                "resourceVersion": str(self._revision),
                "labels": dict(labels),
                "annotations": {key.replace("__", "/").replace("_", "-"): value for key, value in annotations.items()},
            },
            "spec": {"containers": [{"name": "main", "image": "engine"}]},
            "status": {"phase": "Running", "podIP": address, "podIPs": [{"ip": address}], "conditions": conditions},
        }
        self._tell(kind, self._pods[name])

    def delete(self, name: str) -> None:
        """Delete a Pod at once."""
        self._revision += 1
        pod = self._pods.pop(name)
        pod["metadata"]["resourceVersion"] = str(self._revision)
        self._tell("DELETED", pod)

    def _tell(self, kind: str, pod: JSON) -> None:
        for each in self._watchers:
            each.put_nowait({"type": kind, "object": json.loads(json.dumps(pod))})

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Answer a list or a watch of Pods; anything else is not there."""
        if not request.path.endswith("/pods"):
            raise web.HTTPNotFound
        if request.query.get("watch") not in ("true", "1"):
            listed = {"metadata": {"resourceVersion": str(self._revision)}, "items": list(self._pods.values())}
            return web.json_response({"apiVersion": "v1", "kind": "PodList", **listed})
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        queue: asyncio.Queue[JSON] = asyncio.Queue()
        self._watchers.add(queue)
        try:
            await response.prepare(request)
            while True:
                await response.write(json.dumps(await queue.get()).encode() + b"\n")
        finally:
            self._watchers.discard(queue)


@asynccontextmanager
async def serving(folder: Path) -> AsyncIterator[tuple[Pods, Path]]:
    """Serve meanwhile; give the Pods, and a kubeconfig that leads to them."""
    pods = Pods()
    application = web.Application()
    application.router.add_route("*", "/{path:.*}", pods.answer)
    runner = web.AppRunner(application, handler_cancellation=True, shutdown_timeout=0)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        pods.port = runner.addresses[0][1]
        kubeconfig = folder / "kubeconfig.json"
        content = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "here",
            "contexts": [{"name": "here", "context": {"cluster": "here", "user": "nobody", "namespace": NAMESPACE}}],
            "clusters": [{"name": "here", "cluster": {"server": f"http://127.0.0.1:{pods.port}"}}],
            "users": [{"name": "nobody", "user": {}}],
        }
        kubeconfig.write_text(json.dumps(content), encoding="utf-8")
        yield pods, kubeconfig
    finally:
        await runner.cleanup()
