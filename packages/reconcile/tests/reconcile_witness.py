"""Routers and engines at loopback addresses, an API server that lists Pods and slices, and a witness that asks them."""

import asyncio
import json
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

import msgspec
from aiohttp import web
from modeldeployment.api import EngineName, RoleKind, RouterName, keys
from modeldeployment.kube import Client, shapes
from modeldeployment.kube.access import Access, Credential
from modeldeployment.kube.errors import ApiError
from modeldeployment.kube.requests import Request
from modeldeployment.reconcile import Key, OwnedKind, Watched, utc_now
from modeldeployment.reconcile.kinds import Document
from modeldeployment.reconcile.retiring.evidence import Evidence, Inquiry, Stage
from modeldeployment.reconcile.witnessing import Witness
from reconcile_stored import CHAT, VERSIONS, deployment

IDLE: Final = 'vllm:num_requests_running{engine="0"} 0.0\nvllm:num_requests_waiting{engine="0"} 0.0\n'
BUSY: Final = IDLE.replace('running{engine="0"} 0.0', 'running{engine="0"} 3.0')
ENGINE_PORT: Final = 8000
_ADDRESSES: Final = (f"127.77.{random.randrange(1, 250)}.{last}" for last in range(1, 250))
Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


def text(body: str | bytes, status: int = 200, **headers: str) -> Answer:
    """Answer every request alike."""

    async def answer(_: web.Request) -> web.Response:
        return web.Response(body=body if isinstance(body, bytes) else body.encode(), status=status, headers=headers)

    return answer


async def hang(request: web.Request) -> web.StreamResponse:
    """Begin an answer and never end it."""
    response = web.StreamResponse()
    await response.prepare(request)
    await asyncio.Event().wait()
    return response


async def flood(request: web.Request) -> web.StreamResponse:
    """Answer with 100 MB."""
    response = web.StreamResponse()
    await response.prepare(request)
    for _ in range(100):
        await response.write(b"#" * 2**20)
    return response


@dataclass
class Peer:
    """Somebody who listens at an address of its own and answers what it is told to."""

    address: str
    answer: Answer
    asked: list[tuple[str, str, str | None]] = field(default_factory=list)

    async def serve(self, request: web.Request) -> web.StreamResponse:
        self.asked.append((request.method, request.raw_path, request.headers.get("Authorization")))
        return await self.answer(request)


@dataclass
class Routing:
    """A `vllm-router` or a gateway: what it lists, and how it takes to being told."""

    lists: dict[str, str]
    by_id: bool = False
    status: int = 200
    numbers: str = ""
    key: str = ""

    async def __call__(self, request: web.Request) -> web.Response:
        if request.path == "/metrics":
            health = "smg_worker_health" if self.by_id else "vllm_router_worker_health"
            known = "".join(f'{health}{{worker="{url}"}} 1\n' for url in self.lists)
            return web.Response(text=known + self.numbers)
        if self.status != 200:
            return web.Response(status=self.status)
        if self.key and request.headers.get("Authorization") != f"Bearer {self.key}":
            return web.Response(status=401)
        if request.method == "DELETE":
            key = request.raw_path.rpartition("/")[2]
            for url in [
                each for each in self.lists if key in (self._id(each), each.replace(":", "%3A").replace("/", "%2F"))
            ]:
                del self.lists[url]
            return web.json_response({"success": True}, status=202 if self.by_id else 200)
        if request.method == "POST":
            body = await request.json()
            self.lists[body["url"]] = body.get("worker_type", "regular")
            return web.json_response({}, status=202)
        workers = [
            {"id": self._id(url), "url": url, "worker_type": kind, "is_healthy": True}
            for url, kind in self.lists.items()
        ]
        return web.json_response({"workers": workers, "total": len(workers)})

    @staticmethod
    def _id(url: str) -> str:
        return f"id-{url.rpartition(':')[0].rpartition('.')[2]}"


class ApiServer(Client):
    """Lists Pods and slices as a test wants them, and counts how often it was asked for each; `patched` is by name."""

    def __init__(self) -> None:
        super().__init__(Access(lambda: Credential("http://fake.invalid")))
        self.pods: list[dict[str, Any]] = []
        self.slices: list[dict[str, Any]] = []
        self.listed: list[str] = []
        self.patched: list[tuple[str, Any]] = []
        self.refusal: ApiError | None = None

    async def raw(self, request: Request) -> bytes:
        """Answer a list."""
        if self.refusal is not None:
            raise self.refusal
        plural = request.target.partition("?")[0].rpartition("/")[2]
        if request.method == "PATCH":
            self.patched.append((plural, json.loads(request.body or b"")))
            return b"{}"
        self.listed.append(plural)
        items = self.pods if plural == "pods" else self.slices
        return json.dumps({"metadata": {"resourceVersion": "1"}, "items": items}).encode()


def router_pod(
    peer: Peer, name: str = "chat-router-5d-a", *, restarts: int = 0, image: str = "", **said: Any
) -> dict[str, Any]:
    """A Pod of the router, as the API server has it."""
    program = said.get("router", RouterName.VLLM)
    default = {RouterName.VLLM: "x/vllm-router:0.1.17", RouterName.SGLANG: "x/sglang-router:0.3.2"}
    return {
        "metadata": {
            "name": name,
            "namespace": CHAT.namespace,
            "uid": said.get("uid", f"uid-{name}"),
            "labels": {keys.NAME: keys.NAME_VALUE, keys.INSTANCE: CHAT.name, keys.ROUTER: program.value},
            "resourceVersion": str(next(VERSIONS)),
            "deletionTimestamp": said.get("deleted"),
            "ownerReferences": [
                {"kind": "ReplicaSet", "name": said.get("owner", "chat-router-5d"), "uid": "rs", "controller": True}
            ],
        },
        "spec": {
            "containers": [
                {"name": "router", "image": image or default[program], "args": said.get("args", [])},
            ]
        },
        "status": {
            "phase": said.get("phase", "Running"),
            "podIP": peer.address,
            "containerStatuses": [{"name": "router", "restartCount": restarts}],
        },
    }


@dataclass
class World:
    """Deployment `chat` with its members, their engines, and whoever routes to them."""

    open_until_the_end: AsyncExitStack
    client: ApiServer = field(default_factory=ApiServer)
    woken: list[Key] = field(default_factory=list)
    watched: Watched = field(default_factory=lambda: Watched(lambda _: None))
    witness: Witness = field(init=False)

    def __post_init__(self) -> None:
        self.watched.deployments.put(deployment())
        self.witness = Witness(self.client, self.watched, self.woken.append, utc_now)

    async def peer(self, answer: Answer, *ports: int) -> Peer:
        """Let somebody listen on these ports of a free address."""
        one = Peer("", answer)
        application = web.Application()
        application.router.add_route("*", "/{path:.*}", one.serve)
        runner = web.AppRunner(application, handler_cancellation=True, shutdown_timeout=0)
        await runner.setup()
        self.open_until_the_end.push_async_callback(runner.cleanup)
        one.address = next(_ADDRESSES)
        for port in ports:
            await web.TCPSite(runner, one.address, port).start()
        return one

    async def engine(self, answer: Answer) -> Peer:
        return await self.peer(answer, ENGINE_PORT)

    async def router(self, answer: Answer, name: str = "chat-router-5d-a", **said: Any) -> Peer:
        """A router process at a Pod of its own, which the API server lists."""
        one = await self.peer(answer, 8081, 9090)
        self.client.pods.append(router_pod(one, name, **said))
        return one

    def member(self, address: str, uid: str = "goes", **said: Any) -> shapes.Pod:
        """Store a Pod of the role; `said` replaces some of it."""
        labels = {keys.NAME: keys.NAME_VALUE, keys.COMPONENT: "server", keys.ORDINAL: "0", keys.ROLE_KIND: "server"}
        annotations = {
            keys.SCRAPE: "true",
            keys.SCRAPE_PATH: "/metrics",
            keys.SCRAPE_PORT: str(ENGINE_PORT),
            keys.SCRAPE_SCHEME: "http",
        }
        body = {
            "metadata": {
                "name": f"pod-{uid}",
                "namespace": CHAT.namespace,
                "uid": uid,
                "resourceVersion": str(next(VERSIONS)),
                "labels": labels | said.get("labels", {}),
                "annotations": said.get("annotations", annotations),
                "ownerReferences": [
                    {
                        "apiVersion": keys.API_VERSION,
                        "kind": "ModelDeployment",
                        "name": CHAT.name,
                        "uid": "team-chat",
                        "controller": True,
                    }
                ],
            },
            "status": {
                "phase": "Running",
                "podIP": address,
                "conditions": [{"type": "Ready", "status": "True"}],
                "containerStatuses": [
                    {
                        "name": "main",
                        "containerID": said.get("container", "c1"),
                        "restartCount": said.get("restarts", 0),
                    }
                ],
            },
        }
        pod = msgspec.convert(body, shapes.Pod)
        self.watched.pods.put(pod)
        return pod

    def service(self, name: str = "chat", **spec: Any) -> None:
        """Store a Service of the deployment."""
        meta = shapes.ObjectMeta(
            name=name,
            namespace=CHAT.namespace,
            uid=f"uid-{name}",
            resource_version=str(next(VERSIONS)),
            owner_references=(shapes.OwnerReference(kind="ModelDeployment", uid="team-chat", controller=True),),
        )
        raw = msgspec.Raw(msgspec.json.encode({"selector": {keys.ELIGIBLE: "true"}, **spec}))
        self.watched.owned[OwnedKind.SERVICE].put(Document(metadata=meta, spec=raw))

    def slice(self, *uids: str) -> None:
        """Let the Service's slice list these members, and nobody else."""
        endpoints = [{"addresses": ["10.9.9.9"], "targetRef": {"kind": "Pod", "uid": uid}} for uid in uids]
        meta = {"name": "chat-x7", "namespace": CHAT.namespace, "uid": "s", "resourceVersion": "1"}
        self.client.slices = [{"metadata": meta, "addressType": "IPv4", "endpoints": endpoints}]

    def stays(self, address: str = "10.0.0.2") -> None:
        """Store another member that is ready and eligible."""
        self.member(address, "stays", labels={keys.ELIGIBLE: keys.TRUE, keys.ORDINAL: "1"})

    def inquire(self, router: RouterName | None = None, *uids: str, **said: Any) -> None:
        """Ask the witness about these members, `goes` if none is named."""
        members = frozenset(uids or ("goes",))
        self.witness.inquire(
            CHAT,
            Inquiry(
                members=said.get("members", members),
                answering=members,
                kind=said.get("kind", RoleKind.SERVER),
                engine=said.get("engine", EngineName.VLLM),
                router=router,
                port=ENGINE_PORT,
                stage=said.get("stage", Stage.WITHDRAWING),
                since=datetime(2030, 1, 1),
            ),
        )

    async def until(self, holds: Callable[[Evidence], bool], seconds: float = 15.0) -> Evidence:
        """Wait until the evidence is so."""
        evidence: Evidence | None = None
        try:
            async with asyncio.timeout(seconds):
                while True:
                    evidence = self.witness.evidence(CHAT)
                    if evidence is not None and holds(evidence):
                        return evidence
                    await asyncio.sleep(0.01)
        except TimeoutError:
            raise AssertionError(f"not within {seconds} s; it is {evidence}") from None


@asynccontextmanager
async def worlds() -> AsyncIterator[World]:
    """A world whose witness is at work."""
    async with AsyncExitStack() as stack:
        world = World(stack)
        await stack.enter_async_context(world.witness.running())
        yield world
