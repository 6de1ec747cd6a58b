"""A small API server on a loopback socket: it holds objects by path, and counts and breaks what is asked of it."""

import contextlib
import json
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from aiohttp import web
from modeldeployment.kube import Access, Credential

OPERATOR: Final = "system:serviceaccount:gpustack:operator"

_PLURALS: Final = {
    "InstanceType": "instancetypes",
    "KVCachePool": "kvcachepools",
    "KVCacheBackend": "kvcachebackends",
    "KVCachePoolBinding": "kvcachepoolbindings",
    "ModelDeployment": "modeldeployments",
    "ModelDeploymentScaler": "modeldeploymentscalers",
}


@dataclass
class ApiServer:
    """`reads` counts reads of our objects by path and query; `broken` paths answer with that status."""

    objects: dict[str, dict[str, Any]] = field(default_factory=dict)
    reads: Counter[str] = field(default_factory=Counter)
    broken: dict[str, int] = field(default_factory=dict)
    port: int = 0

    @property
    def access(self) -> Access:
        """The way to this server."""
        return Access(lambda: Credential(server=f"http://127.0.0.1:{self.port}"))

    def hold(self, manifests: Iterable[Mapping[str, Any]]) -> None:
        """Hold these objects of ours too."""
        for each in manifests:
            self.objects[path(each["kind"], each["metadata"]["name"], each["metadata"].get("namespace"))] = dict(each)

    async def answer(self, request: web.Request) -> web.Response:
        """Answer one request as Kubernetes would."""
        at = request.path
        if request.method == "GET" and at.startswith("/apis/worker.gpustack.ai/"):
            self.reads[request.path_qs] += 1
        if at in self.broken:
            return _status(self.broken[at], "InternalError")
        match request.method:
            case "POST" if at.endswith("selfsubjectreviews"):
                return web.json_response({"status": {"userInfo": {"username": OPERATOR}}}, status=201)
            case "POST":
                body = await request.json()
                key = f"{at}/{body['metadata']['name']}"
                if key in self.objects:
                    return _status(409, "AlreadyExists")
                return self._keep(key, body)
            case "PUT":
                body = await request.json()
                if self.objects[at]["metadata"]["resourceVersion"] != body["metadata"]["resourceVersion"]:
                    return _status(409, "Conflict")
                return self._keep(at, body)
            case "PATCH":
                return self._keep(at, json.loads(await request.read()))
            case _ if at in self.objects:
                return web.json_response(self.objects[at])
            case _:
                return _status(404, "NotFound")

    def _keep(self, key: str, body: dict[str, Any]) -> web.Response:
        version = str(int(self.objects.get(key, {"metadata": {}})["metadata"].get("resourceVersion", "0")) + 1)
        self.objects[key] = {**body, "metadata": {**body["metadata"], "resourceVersion": version}}
        return web.json_response(self.objects[key], status=201)


def path(kind: str, name: str, namespace: str | None = None) -> str:
    """Where an object of ours is."""
    within = f"namespaces/{namespace}/" if namespace else ""
    return f"/apis/worker.gpustack.ai/v1/{within}{_PLURALS[kind]}/{name}"


@contextlib.asynccontextmanager
async def api_server(*manifests: Mapping[str, Any]) -> AsyncIterator[ApiServer]:
    """Run one that holds these objects."""
    server = ApiServer()
    server.hold(manifests)
    app = web.Application()
    app.router.add_route("*", "/{anything:.*}", server.answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    server.port = runner.addresses[0][1]
    try:
        yield server
    finally:
        await runner.cleanup()


def _status(code: int, reason: str) -> web.Response:
    body = {"kind": "Status", "status": "Failure", "code": code, "reason": reason, "message": f"said {reason}"}
    return web.Response(status=code, body=json.dumps(body).encode(), content_type="application/json")
