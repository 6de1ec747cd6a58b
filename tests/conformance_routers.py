"""A real router before fake engines: Pods as they are rendered, at addresses where engines answer."""

import asyncio
import copy
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol

import pytest
import render_worlds
from modeldeployment.api import keys
from modeldeployment.api.modeldeployment import ModelDeployment
from modeldeployment.kube import Client, custom
from modeldeployment.lab import identities
from modeldeployment.lab.controlplane import ControlPlane
from modeldeployment.lab.engines import Behaviour, EngineServer, FakeEngine
from modeldeployment.lab.pytest_plugin import ObtainProgram
from modeldeployment.lab.routers import RunningRouter, Worker, container_of, entry
from modeldeployment.render import BOOTSTRAP_PORT, DEFAULT_PORT, Rendering, RouterRendering, Seat, render
from prometheus_client.parser import text_string_to_metric_families

PATIENCE: Final = 30.0
"""Seconds after which something that should have happened has not."""
KINDS: Final = {
    kind: custom(group, "v1", plural, kind)
    for kind, group, plural in (
        ("Pod", "", "pods"),
        ("ServiceAccount", "", "serviceaccounts"),
        ("Role", "rbac.authorization.k8s.io", "roles"),
        ("RoleBinding", "rbac.authorization.k8s.io", "rolebindings"),
    )
}
CHAT: Final = {"messages": [{"role": "user", "content": "how far is the moon"}]}
PATH: Final = "/v1/chat/completions"
KUBECONFIG: Final = "kubeconfig"
HELD: Final = "example.com/held"
JSON = dict[str, Any]

_NO_SCHEDULER: Final = "nobody"
_OF_KUEUE: Final = "kueue.x-k8s.io/"


@dataclass(frozen=True, slots=True)
class Member:
    """A Pod and the engine at its address."""

    name: str
    engine: FakeEngine

    @property
    def url(self) -> str:
        return self.engine.url

    @property
    def served(self) -> int:
        """How many requests for a completion arrived there."""
        return len(self.engine.asked(PATH))


EACH: Final = pytest.mark.parametrize(
    ("engine", "router"),
    [
        pytest.param("vLLM", "vllm-router", id="vllm-router"),
        pytest.param("SGLang", "sglang-gateway", id="sglang-gateway"),
    ],
)
"""For each router that is one program, with the engine it fronts."""


def servers(engine: str, router: str, *arguments: str, **fields: Any) -> ModelDeployment:
    """A deployment of one Server role; `arguments` are the user's own for the router."""
    spec = {"router": {"name": router, "extraArgs": list(arguments)}}
    return render_worlds.deployment(render_worlds.role(**fields), engine=engine, spec=spec)


def halves(engine: str, router: str, *arguments: str, prefill: int = 1, decode: int = 1) -> ModelDeployment:
    """A pair with so many replicas of each half."""
    spec = {"router": {"name": router, "extraArgs": list(arguments)}}
    roles = (
        render_worlds.role(name, kind=name.title(), replicas=replicas)
        for name, replicas in (("prefill", prefill), ("decode", decode))
    )
    return render_worlds.deployment(*roles, engine=engine, spec=spec)


class Run(Protocol):
    """Starts a router with a container, to end with the test."""

    async def __call__(self, world: "World", container: JSON, environment: Mapping[str, str]) -> RunningRouter:
        """Return it once it listens."""


class Begin(Protocol):
    """Begins the world of a deployment in the test's namespace."""

    def __call__(self, deployment: ModelDeployment) -> "World":
        """Return it, without Pods and without a router."""


@dataclass(slots=True)
class World:
    """A namespace with a deployment's Pods in it, their engines, and what is rendered for its router."""

    client: Client
    namespace: str
    engines: EngineServer
    deployment: ModelDeployment
    rendering: Rendering
    run: Run
    members: dict[str, Member] = field(default_factory=dict)

    @property
    def objects(self) -> tuple[JSON, ...]:
        """Everything rendered for the router."""
        assert isinstance(self.rendering.router, RouterRendering), self.rendering.router
        return self.rendering.router.objects

    @property
    def container(self) -> JSON:
        """The container of the routing program, as it is rendered."""
        return dict(container_of(self.objects))

    @property
    def served(self) -> str:
        return self.deployment.spec.model.name

    async def start(self, *, environment: Mapping[str, str] | None = None, **changes: Any) -> RunningRouter:
        """Start the router as it is rendered, with the rights it is rendered with; `changes` are of its container."""
        return await self.run(self, {**self.container, **changes}, environment or {})

    def rendered(self, role: str, ordinal: int = 0, member: int = 0) -> JSON:
        """The Pod of a seat, as it is rendered."""
        (found,) = (each for each in self.rendering.roles if each.name == role)
        return found.template.pod(Seat(ordinal, member))

    async def pod(
        self,
        role: str,
        ordinal: int = 0,
        member: int = 0,
        *,
        ready: bool = True,
        labels: Mapping[str, str | None] | None = None,
        held: bool = False,
        behaviour: Behaviour | None = None,
        name: str = "",
        address: str | None = None,
    ) -> Member:
        """Create the Pod of a seat with an engine that listens; `labels` changes some, None takes one away."""
        name = name or f"{role}-{ordinal}-{member}"
        body = self._body(self.rendered(role, ordinal, member), labels or {}, held=held, name=name)
        prefills = body["metadata"]["labels"].get(keys.ROLE_KIND) == "prefill"
        engine = await self.engines.open(
            self.deployment.spec.engine.name,
            address=address,
            ports=(DEFAULT_PORT, BOOTSTRAP_PORT) if prefills else (DEFAULT_PORT,),
            served=self.served,
            behaviour=behaviour,
        )
        await self.client.create(KINDS["Pod"], body, self.namespace)
        self.members[name] = Member(name, engine)
        await self.tell(self.members[name], ready=ready)
        return self.members[name]

    async def tell(self, member: Member, *, ready: bool) -> None:
        """Say of a Pod what a kubelet would: it runs, at this address, and is Ready or not."""
        address = member.engine.address
        conditions = [{"type": kind, "status": str(ready)} for kind in ("ContainersReady", "Ready")]
        status = {"phase": "Running", "podIP": address, "podIPs": [{"ip": address}], "conditions": conditions}
        await self.client.patch(KINDS["Pod"], member.name, {"status": status}, self.namespace, subresource="status")

    async def label(self, member: Member, **changes: str | None) -> None:
        """Set or take away the eligibility label: `eligible="true"`, `eligible=None`."""
        body = {"metadata": {"labels": {keys.ELIGIBLE: changes["eligible"]}}}
        await self.client.patch(KINDS["Pod"], member.name, body, self.namespace)

    async def annotate(self, member: Member, name: str, value: str) -> None:
        """Set an annotation of a Pod."""
        body = {"metadata": {"annotations": {name: value}}}
        await self.client.patch(KINDS["Pod"], member.name, body, self.namespace)

    async def delete(self, member: Member) -> None:
        """Delete a Pod: at once, or until its finalizer goes, if it has one."""
        await self.client.delete(KINDS["Pod"], member.name, self.namespace, grace_seconds=0)

    async def let_go(self, member: Member) -> None:
        """Take the finalizer off a Pod that is being deleted; it is gone afterwards."""
        await self.client.patch(KINDS["Pod"], member.name, {"metadata": {"finalizers": None}}, self.namespace)

    def _body(self, pod: JSON, labels: Mapping[str, str | None], *, held: bool, name: str) -> JSON:
        """What is created of a rendered Pod: nobody schedules it, no kubelet plays it and no quota counts it."""
        body = copy.deepcopy(pod)
        metadata, spec = body["metadata"], body["spec"]
        for keyed in (metadata["labels"], metadata.get("annotations", {})):
            for key in [key for key in keyed if key.startswith(_OF_KUEUE)]:
                del keyed[key]
        metadata.pop("ownerReferences", None)  # nobody owns it here, and the garbage collector would take it
        metadata.pop("generateName", None)
        metadata["name"] = name
        metadata["labels"] |= {key: value for key, value in labels.items() if value is not None}
        for key in [key for key, value in labels.items() if value is None]:
            metadata["labels"].pop(key, None)
        metadata["finalizers"] = [HELD] if held else []
        spec.pop("schedulingGates", None)
        spec["schedulerName"] = _NO_SCHEDULER
        return body


@pytest.fixture
async def begin(
    control_plane: ControlPlane, kube_client: Client, namespace: str, program: ObtainProgram, tmp_path: Path
) -> AsyncIterator[Begin]:
    """A function that begins worlds; their engines and routers end with the test."""
    async with AsyncExitStack() as open_until_the_end:
        engines = await open_until_the_end.enter_async_context(EngineServer())
        numbers = itertools.count()

        async def run(world: World, container: JSON, environment: Mapping[str, str]) -> RunningRouter:
            number = next(numbers)
            installed = program(entry(container).program)
            if not number:
                await kubeconfig(world, control_plane, tmp_path)
            folder = tmp_path / f"router-{number}"
            router = RunningRouter(container, installed, tmp_path / KUBECONFIG, folder, environment=environment)
            return await open_until_the_end.enter_async_context(router)

        def one(deployment: ModelDeployment) -> World:
            moved = deployment.metadata.model_copy(update={"namespace": namespace})
            there = deployment.model_copy(update={"metadata": moved})
            return World(kube_client, namespace, engines, there, render(there, render_worlds.facts()), run)

        yield one


async def kubeconfig(world: World, control_plane: ControlPlane, folder: Path) -> Path:
    """Create the rendered account and rights of the router, and return a kubeconfig of that account alone."""
    for each in world.objects:
        if each["kind"] in ("ServiceAccount", "Role", "RoleBinding"):
            body = copy.deepcopy(each)
            body["metadata"].pop("ownerReferences", None)
            await world.client.create(KINDS[each["kind"]], body, world.namespace)
    (account,) = (each["metadata"]["name"] for each in world.objects if each["kind"] == "ServiceAccount")
    bearer = await identities.token(world.client, account, world.namespace)
    return identities.write_kubeconfig(control_plane, bearer, folder / KUBECONFIG)


async def until(holds: Callable[[], bool | Awaitable[bool]], *, what: str, patience: float = PATIENCE) -> None:
    """Wait until something holds; fails with its name."""
    try:
        async with asyncio.timeout(patience):
            while True:
                held = holds()
                if held if isinstance(held, bool) else await held:
                    return
                await asyncio.sleep(0.03)
    except TimeoutError:
        raise AssertionError(f"not within {patience:.0f} s: {what}") from None


async def lists(router: RunningRouter, *members: Member) -> tuple[Worker, ...]:
    """Wait until a router lists exactly these members, healthy, and return its list."""
    wanted = sorted(member.url for member in members)
    seen: tuple[Worker, ...] = ()

    async def as_wanted() -> bool:
        nonlocal seen
        seen = await router.workers()
        return sorted(worker.url for worker in seen) == wanted and all(worker.healthy for worker in seen)

    try:
        await until(as_wanted, what=f"the router lists {wanted}")
    except AssertionError as error:
        raise AssertionError(f"{error}; it lists {seen}") from None
    return seen


async def ask(router: RunningRouter, served: str, times: int = 1, **body: Any) -> list[JSON]:
    """Ask for completions one after the other; every one is answered."""
    answers = []
    for number in range(times):
        text = f"question {number} of many"
        asked = {"model": served, "messages": [{"role": "user", "content": text}], **body}
        status, answer = await router.ask("POST", PATH, body=asked)
        assert status == 200, (status, answer)
        answers.append(answer)
    return answers


async def arrivals(router: RunningRouter, served: str, *members: Member, times: int = 12) -> list[int]:
    """How many of so many requests arrive at each of these members."""
    before = [member.served for member in members]
    await ask(router, served, times)
    return [member.served - count for member, count in zip(members, before, strict=True)]


async def counted(router: RunningRouter, series: str, member: Member) -> float | None:
    """What a router's series says of a member now, None where it says nothing."""
    for family in text_string_to_metric_families(await router.metrics()):
        for sample in family.samples:
            if sample.name == series and sample.labels.get("worker") == member.url:
                return float(sample.value)
    return None
