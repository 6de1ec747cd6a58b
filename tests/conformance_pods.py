"""An API server that knows the Pods of one namespace, and a pool: enough for a router to discover by.

Run as a program, in a network of its own, it does what each line of its standard input says and answers with a line:
`{"put": NAME, "address": ..., "labels": {...}}`, `{"delete": NAME}`, `{"pool": NAME, "labels": {...}, "port": ...}`,
`{"get": URL}`.
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from aiohttp import ClientError, ClientSession, web

NAMESPACE: Final = "team"
JSON = dict[str, Any]


def _resource(plural: str, kind: str) -> JSON:
    return {"name": plural, "singularName": "", "namespaced": True, "kind": kind, "verbs": ["get", "list", "watch"]}


POOL: Final = "inference.networking.k8s.io"
_OLDER: Final = "inference.networking.x-k8s.io"
_DISCOVERED: Final[JSON] = {
    "/api": {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []},
    "/api/v1": {"kind": "APIResourceList", "groupVersion": "v1", "resources": [_resource("pods", "Pod")]},
    "/apis": {
        "kind": "APIGroupList",
        "apiVersion": "v1",
        "groups": [
            {"name": group, "versions": [version], "preferredVersion": version}
            for group, number in ((POOL, "v1"), (_OLDER, "v1alpha2"))
            for version in ({"groupVersion": f"{group}/{number}", "version": number},)
        ],
    },
    f"/apis/{POOL}/v1": {
        "kind": "APIResourceList",
        "groupVersion": f"{POOL}/v1",
        "resources": [_resource("inferencepools", "InferencePool")],
    },
    f"/apis/{_OLDER}/v1alpha2": {
        "kind": "APIResourceList",
        "groupVersion": f"{_OLDER}/v1alpha2",
        "resources": [
            _resource("inferenceobjectives", "InferenceObjective"),
            _resource("inferencemodelrewrites", "InferenceModelRewrite"),
        ],
    },
}
"""What a client reads that wants to know what there is; the picker knows pools."""


class Pods:
    """Pods by name; whoever watches is told of every change, whatever the labels that it selects by.

    While it is `mute` it tells nobody, and nobody knows: a router is blind then.
    """

    def __init__(self) -> None:
        self.port = 0
        self.pools: list[JSON] = []
        self.mute = False
        self._pods: dict[str, JSON] = {}
        self._revision = 1
        self._watchers: set[asyncio.Queue[JSON]] = set()

    def put(self, name: str, address: str, labels: Mapping[str, str], body: Mapping[str, Any] | None = None) -> JSON:
        """Create a Pod that runs and is Ready, or change it; `body` has further metadata, and a spec. Returns it."""
        self._revision += 1
        kind = "MODIFIED" if name in self._pods else "ADDED"
        conditions = [{"type": each, "status": "True"} for each in ("ContainersReady", "Ready")]
        further = body or {}
        self._pods[name] = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": name,
                "namespace": NAMESPACE,
                "uid": f"uid-{name}",
                "resourceVersion": str(self._revision),
                "labels": dict(labels),
                **further.get("metadata", {}),
            },
            "spec": further.get("spec", {"containers": [{"name": "main", "image": "engine"}]}),
            "status": {
                "phase": "Running",
                "podIP": address,
                "podIPs": [{"ip": address}],
                "conditions": conditions,
                "containerStatuses": [{"name": "main", "restartCount": 0, "containerID": f"lab://{name}"}],
                **further.get("status", {}),
            },
        }
        self._tell(kind, self._pods[name])
        return self._pods[name]

    def delete(self, name: str) -> None:
        """Delete a Pod at once."""
        self._revision += 1
        pod = self._pods.pop(name)
        pod["metadata"]["resourceVersion"] = str(self._revision)
        self._tell("DELETED", pod)

    def _tell(self, kind: str, pod: JSON) -> None:
        for each in self._watchers if not self.mute else ():
            each.put_nowait({"type": kind, "object": json.loads(json.dumps(pod))})

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Answer a list or a watch of Pods, and that there are Pods; anything else is not there."""
        if request.path in _DISCOVERED:
            return web.json_response(_DISCOVERED[request.path])
        plural = request.path.rpartition("/")[2]
        if plural not in ("pods", "inferencepools", "inferenceobjectives", "inferencemodelrewrites"):
            return _refusal(404, "NotFound")
        if "sendInitialEvents" in request.query:  # whoever tries to list by watching lists then
            return _refusal(422, "Invalid")
        if request.query.get("watch") not in ("true", "1"):
            wanted = request.query.get("labelSelector", "")
            pods = [each for each in self._pods.values() if _selected(each["metadata"]["labels"], wanted)]
            items = {"pods": pods, "inferencepools": self.pools}.get(plural, [])
            meta = {"resourceVersion": str(self._revision)}
            named = {"apiVersion": "v1", "kind": "PodList"} if plural == "pods" else {}
            return web.json_response({**named, "metadata": meta, "items": items})
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        queue: asyncio.Queue[JSON] = asyncio.Queue()
        if plural == "pods":
            self._watchers.add(queue)
        try:
            await response.prepare(request)
            while True:
                await response.write(json.dumps(await queue.get()).encode() + b"\n")
        finally:
            self._watchers.discard(queue)


def _selected(labels: Mapping[str, str], selector: str) -> bool:
    """Whether labels have the equalities of a selector, and the keys it names alone."""
    terms = [term.partition("=") for term in selector.split(",") if term]
    return all(labels.get(key) == value if equals else key in labels for key, equals, value in terms)


def _refusal(code: int, reason: str) -> web.Response:
    return web.json_response({"kind": "Status", "apiVersion": "v1", "code": code, "reason": reason}, status=code)


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


def pool(name: str, labels: Mapping[str, str], port: int) -> JSON:
    """The InferencePool of Pods with these labels."""
    return {
        "apiVersion": f"{POOL}/v1",
        "kind": "InferencePool",
        "metadata": {"name": name, "namespace": NAMESPACE, "uid": f"uid-{name}", "resourceVersion": "1"},
        "spec": {
            "selector": {"matchLabels": dict(labels)},
            "targetPorts": [{"number": port}],
            "endpointPickerRef": {"name": name, "port": {"number": 9002}},
        },
    }


async def _obey(folder: Path) -> None:
    loop = asyncio.get_running_loop()
    async with serving(folder) as (pods, kubeconfig), ClientSession() as http:
        sys.stdout.write(f"{kubeconfig}\n")
        sys.stdout.flush()
        while line := await loop.run_in_executor(None, sys.stdin.readline):
            said = json.loads(line)
            answer = ""
            match said:
                case {"put": name, "address": address, "labels": labels}:
                    pods.put(name, address, labels)
                case {"pool": name, "labels": labels, "port": port}:
                    pods.pools.append(pool(name, labels, port))
                case {"delete": name}:
                    pods.delete(name)
                case {"get": url}:
                    try:
                        async with http.get(url) as response:
                            answer = await response.text()
                    except ClientError:
                        answer = ""
            sys.stdout.write(json.dumps(answer) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(_obey(Path(sys.argv[1])))
