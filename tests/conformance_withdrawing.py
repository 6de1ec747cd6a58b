"""A witness, real routers at addresses of their own, and engines behind them: what a retirement sees of its cluster."""

import asyncio
import itertools
import random
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import conformance_pods
import msgspec
import pytest
import render_worlds
from conformance_pods import Pods
from conformance_routers import CHAT, PATH, Member, until
from modeldeployment.api import keys
from modeldeployment.api.choices import RoleKind
from modeldeployment.api.modeldeployment import ModelDeployment
from modeldeployment.kube import Client, shapes
from modeldeployment.kube.access import Access, Credential
from modeldeployment.lab.engines import Behaviour, EngineServer
from modeldeployment.lab.packaged import Program
from modeldeployment.lab.pytest_plugin import ObtainProgram
from modeldeployment.lab.routers import RunningRouter, container_of, entry
from modeldeployment.reconcile import Key, Watched, Witness, utc_now
from modeldeployment.reconcile.retiring.evidence import Evidence, Inquiry, Stage
from modeldeployment.render import BOOTSTRAP_PORT, DEFAULT_PORT, Rendering, RouterRendering, Seat, render
from modeldeployment.router.withdrawal import Verdict

IMAGES: Final = {"vllm-router": "vllm/vllm-router", "sglang-router": "lmsysorg/sglang-router"}
"""How the images of the packaged programs are called; they are tagged with the version that is run."""
_ADDRESSES: Final = (f"127.78.{random.randrange(1, 250)}.{last}" for last in itertools.count(1))
"""Where router processes listen, one after the other."""
JSON = dict[str, Any]


@dataclass(slots=True)
class Cluster:
    """A deployment with its Pods, engines and routers, and the witness that is asked about them."""

    pods: Pods
    kubeconfig: Path
    folder: Path
    engines: EngineServer
    client: Client
    deployment: ModelDeployment
    rendering: Rendering
    program: Program
    stack: AsyncExitStack
    members: dict[str, Member] = field(default_factory=dict)
    woken: list[Key] = field(default_factory=list)
    watched: Watched = field(default_factory=lambda: Watched(lambda _: None))
    witness: Witness = field(init=False)

    def __post_init__(self) -> None:
        meta = shapes.ObjectMeta(name=self.key.name, namespace=self.key.namespace, uid="owner", resource_version="1")
        spec = msgspec.Raw(self.deployment.spec.model_dump_json(by_alias=True, exclude_none=True).encode())
        self.watched.deployments.put(shapes.Custom(metadata=meta, spec=spec))
        self.witness = Witness(self.client, self.watched, self.woken.append, utc_now)

    @property
    def key(self) -> Key:
        return Key(conformance_pods.NAMESPACE, self.deployment.metadata.name)

    @property
    def container(self) -> JSON:
        assert isinstance(self.rendering.router, RouterRendering), self.rendering.router
        return dict(container_of(self.rendering.router.objects))

    async def router(self, number: int = 0) -> RunningRouter:
        """Start a router process at an address of its own, and let its Pod be there."""
        address = next(_ADDRESSES)
        folder = self.folder / f"router-{address}"
        running = RunningRouter(self.container, self.program, self.kubeconfig, folder, address=address)
        started = await self.stack.enter_async_context(running)
        self._put_router(number, address, restarts=0)
        return started

    async def restarted(self, before: RunningRouter, number: int = 0) -> RunningRouter:
        """End a router process and start another one in the same Pod, at another address."""
        await before.__aexit__()
        started = await self.router(number)
        self._put_router(number, started.url.removeprefix("http://").partition(":")[0], restarts=1)
        return started

    def _put_router(self, number: int, address: str, *, restarts: int) -> None:
        router = self.deployment.spec.router
        assert router is not None
        labels = {keys.NAME: keys.NAME_VALUE, keys.INSTANCE: self.key.name, keys.ROUTER: router.name.value}
        image = f"{IMAGES[self.program.name]}:{self.program.version}"
        containers = [{"name": "router", "image": image, "args": self.container["args"]}]
        owner = {"kind": "ReplicaSet", "name": f"{self.key.name}-router-5d", "uid": "rs", "controller": True}
        body = {
            "metadata": {"ownerReferences": [owner]},
            "spec": {"containers": containers},
            "status": {"containerStatuses": [{"name": "router", "restartCount": restarts}]},
        }
        pod = self.pods.put(f"{self.key.name}-router-5d-{number}", address, labels, body)
        self.watched.pods.put(msgspec.convert(pod, shapes.Pod))

    async def member(self, role: str, ordinal: int = 0, behaviour: Behaviour | None = None) -> Member:
        """Create a Pod that is ready and eligible, with an engine at its address."""
        name = f"{role}-{ordinal}"
        ports = (DEFAULT_PORT, BOOTSTRAP_PORT) if role == "prefill" else (DEFAULT_PORT,)
        served = self.deployment.spec.model.name
        engine = await self.engines.open(
            self.deployment.spec.engine.name, ports=ports, served=served, behaviour=behaviour
        )
        self.members[name] = Member(name, engine)
        self.label(self.members[name], eligible=True)
        return self.members[name]

    def label(self, member: Member, *, eligible: bool) -> None:
        """Say of a Pod that it may be sent requests, or may not; everybody who watches is told."""
        role, _, ordinal = member.name.rpartition("-")
        (found,) = (each for each in self.rendering.roles if each.name == role)
        rendered = found.template.pod(Seat(int(ordinal), 0))["metadata"]
        labels = {key: value for key, value in rendered["labels"].items() if key != keys.ELIGIBLE}
        labels |= {keys.ELIGIBLE: keys.TRUE} if eligible else {}
        owner = {"apiVersion": keys.API_VERSION, "kind": "ModelDeployment", "name": self.key.name, "uid": "owner"}
        metadata = {"annotations": rendered["annotations"], "ownerReferences": [{**owner, "controller": True}]}
        pod = self.pods.put(member.name, member.engine.address, labels, {"metadata": metadata})
        self.watched.pods.put(msgspec.convert(pod, shapes.Pod))

    def inquire(self, member: Member, stage: Stage = Stage.WITHDRAWING) -> None:
        """Ask the witness about one member."""
        role = member.name.rpartition("-")[0]
        router = self.deployment.spec.router
        uids = frozenset({f"uid-{member.name}"})
        self.witness.inquire(
            self.key,
            Inquiry(
                members=uids,
                answering=uids,
                kind={"prefill": RoleKind.PREFILL, "decode": RoleKind.DECODE}.get(role, RoleKind.SERVER),
                engine=self.deployment.spec.engine.name,
                router=router.name if router is not None else None,
                port=DEFAULT_PORT,
                stage=stage,
                since=utc_now(),
            ),
        )

    def retire(self, member: Member) -> None:
        """Take the label off and ask the witness about it, as a retirement does."""
        self.label(member, eligible=False)
        self.inquire(member)

    async def until(self, holds: Callable[[Evidence], bool], what: str) -> Evidence:
        """Wait until the evidence is so."""
        seen: Evidence | None = None

        def held() -> bool:
            nonlocal seen
            seen = self.witness.evidence(self.key)
            return seen is not None and holds(seen)

        try:
            await until(held, what=what)
        except AssertionError as error:
            raise AssertionError(f"{error}; it is {seen}") from None
        assert seen is not None
        return seen

    @asynccontextmanager
    async def load(self, router: RunningRouter, abreast: int = 4) -> AsyncIterator[list[int]]:
        """Ask for completions all the while; the list gets the status of each, and all of them have ended at last."""
        statuses: list[int] = []
        enough = asyncio.Event()

        async def on_and_on(caller: int) -> None:
            for number in itertools.count():
                if enough.is_set():
                    return
                asked = {"model": self.deployment.spec.model.name, **CHAT}
                asked["messages"] = [{"role": "user", "content": f"question {number} of caller {caller}"}]
                status, _ = await router.ask("POST", PATH, body=asked)
                statuses.append(status)

        async with asyncio.TaskGroup() as group:
            for caller in range(abreast):
                group.create_task(on_and_on(caller))
            yield statuses
            enough.set()


def withdrawn(evidence: Evidence) -> bool:
    return evidence.withdrawal.verdict is Verdict.PROVEN


def proven(evidence: Evidence) -> bool:
    return withdrawn(evidence) and evidence.idle.verdict is Verdict.PROVEN


def restored(evidence: Evidence) -> bool:
    return evidence.restored is not None and evidence.restored.verdict is Verdict.PROVEN


Start = Callable[[ModelDeployment], "Any"]


@pytest.fixture
async def cluster(program: ObtainProgram, tmp_path: Path) -> AsyncIterator[Start]:
    """A function that begins a cluster for a deployment; it ends with the test."""
    async with AsyncExitStack() as stack:
        engines = await stack.enter_async_context(EngineServer())
        pods, kubeconfig = await stack.enter_async_context(conformance_pods.serving(tmp_path))
        access = Access(lambda: Credential(f"http://127.0.0.1:{pods.port}"))
        client = await stack.enter_async_context(Client(access))

        async def begin(deployment: ModelDeployment) -> Cluster:
            moved = deployment.metadata.model_copy(update={"namespace": conformance_pods.NAMESPACE})
            there = deployment.model_copy(update={"metadata": moved})
            rendering = render(there, render_worlds.facts())
            assert isinstance(rendering.router, RouterRendering)
            installed = program(entry(container_of(rendering.router.objects)).program)
            one = Cluster(pods, kubeconfig, tmp_path, engines, client, there, rendering, installed, stack)
            await stack.enter_async_context(one.witness.running())
            return one

        yield begin
