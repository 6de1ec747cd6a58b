"""Deployments that are really served: every Pod has an engine or a router behind its address."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
from e2e_routed import router_pods
from e2e_worlds import JSON, World
from modeldeployment.api import keys
from modeldeployment.kube.shapes import Custom
from modeldeployment.lab.engines import FakeEngine
from modeldeployment.lab.loading import Account, Load, send
from modeldeployment.lab.pytest_plugin import ObtainProgram
from modeldeployment.lab.routers import IMAGES
from modeldeployment.lab.serving import Serving

MODEL: Final = "Qwen/Qwen2.5-7B-Instruct"
EACH: Final = pytest.mark.parametrize(
    ("engine", "router"),
    [
        pytest.param("vLLM", "vllm-router", id="vllm-router"),
        pytest.param("SGLang", "sglang-gateway", id="sglang-gateway"),
    ],
)
"""For each router that is one program, with the engine it fronts."""


@pytest.fixture
async def serving(world: World, program: ObtainProgram, tmp_path: Path) -> AsyncIterator[Serving]:
    """Return what plays the Pods of the world's namespace, with real routers and fake engines."""
    async with Serving(world.client, world.control_plane, world.namespace, tmp_path, program) as started:
        yield started


@pytest.fixture
async def breakable_serving(breakable: World, program: ObtainProgram, tmp_path: Path) -> AsyncIterator[Serving]:
    """The same for the breakable world."""
    plane, folder = breakable.control_plane, tmp_path / "served"
    folder.mkdir()
    async with Serving(breakable.client, plane, breakable.namespace, folder, program) as started:
        yield started


def servers(world: World, engine: str, router: str | None, name: str = "chat", **role: Any) -> JSON:
    """A deployment of one Server role, behind a router if one is named; `role` are fields of the role.

    The router takes turns, since by its default policy it would send most of a small load to one engine.
    """
    manifest = world.manifest(name, **role)
    manifest["spec"]["engine"] = {"name": engine, "version": "0.29.0" if engine == "vLLM" else "0.5.9"}
    behind = {"name": router, "image": IMAGES[router], "extraArgs": ["--policy=round_robin"]} if router else None
    manifest["spec"]["router"] = behind
    return manifest


def halves(world: World, engine: str, router: str, name: str = "chat", **role: Any) -> JSON:
    """A pair behind a router; `role` are fields of both halves."""
    manifest = servers(world, engine, router, name)
    manifest["spec"]["roles"] = [world.role(kind.lower(), kind=kind, **role) for kind in ("Prefill", "Decode")]
    return manifest


@asynccontextmanager
async def served_directly(world: World, serving: Serving, name: str = "chat") -> AsyncIterator[str]:
    """Wait until a deployment without a router is settled; yield the address of its Service."""
    await world.settled(name)
    async with serving.service(name) as service:
        yield service.url


async def routed(world: World, serving: Serving, name: str = "chat") -> str:
    """Wait until a deployment is settled and its router answers; return where."""
    await world.settled(name)
    await world.board.until(
        lambda: world.board.says(name, "RouterReady", "True", "Ready"), what=f"the router of {name} is ready"
    )
    (pod,) = router_pods(world, name)
    return serving.router(pod.metadata.name).url


async def load(url: str, **fields: Any) -> Account:
    """Send a load and return its account."""
    return await send(Load(**{"rate": 20, "seconds": 3, **fields}), url, MODEL)


@dataclass(slots=True)
class Loaded:
    """A load that is under way; `account` is there once it has ended."""

    account: Account = field(default_factory=lambda: Account(()))


@asynccontextmanager
async def under_load(url: str, **fields: Any) -> AsyncIterator[Loaded]:
    """While open, send a load of requests that take up to some seconds; everything sent has ended afterwards."""
    loaded, enough = Loaded(), asyncio.Event()
    planned = Load(**{"rate": 12, "seconds": 600, "tokens": (5, 60), **fields})
    sending = asyncio.create_task(send(planned, url, MODEL, enough))
    try:
        yield loaded
        enough.set()
        loaded.account = await sending
    finally:
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)


def slowly(serving: Serving, seconds: float = 0.05) -> None:
    """Let every engine take its time over a token, from now on."""
    serving.behaviour = replace(serving.behaviour, token_seconds=seconds)
    for _, engine in serving.history:
        engine.behave(token_seconds=seconds)


async def shrunk(world: World, pods: int, name: str = "chat") -> None:
    """Wait until the replicas of a deployment have so many Pods, none leaves and no retirement is under way."""

    def rests() -> bool:
        members = [pod for pod in world.board.all_pods(name) if keys.ROUTER not in pod.metadata.labels]
        return len(members) == pods and not world.board.status(name).get("retirement")

    await world.board.until(rests, within=240, what=f"{name} has {pods} Pods and nothing leaves")


def retired(world: World, name: str = "chat") -> int:
    """How many retirements of a deployment were seen to be committed, after they had drained."""
    seen: dict[str, list[str]] = {}
    for change in world.board.story:
        if isinstance(change.new, Custom) and change.new.metadata.name == name:
            said = (msgspec.json.decode(change.new.status or b"{}") or {}).get("retirement") or {}
            seen.setdefault(str(said.get("targetMemberUIDs")), []).append(said.get("state", ""))
    return sum("Draining" in states and bool({"Deleting", "Settling"} & set(states)) for states in seen.values())


def nothing_lost(serving: Serving, loaded: Loaded) -> None:
    """Every request was answered in full, and no engine that ever was has cut or failed one."""
    account = loaded.account
    assert account.unanswered == (), account.text(serving.names())
    assert len(account.answers) > 20
    for pod, engine in serving.history:
        assert engine.ledger.causes() == {}, (pod, engine.ledger.causes())


def retirement(world: World, name: str = "chat") -> JSON:
    """What a deployment says of its retirement; empty where it says nothing."""
    said: JSON = world.board.status(name).get("retirement") or {}
    return said


async def reaches(world: World, state: str, *, saying: str = "", name: str = "chat") -> JSON:
    """Wait until a retirement is in a state and its reason has these words; return it."""

    def there() -> bool:
        said = retirement(world, name)
        return said.get("state") == state and saying in said.get("reason", "")

    await world.board.until(there, within=120, what=f"the retirement of {name} is {state}, saying {saying!r}")
    return retirement(world, name)


@asynccontextmanager
async def busy(engine: FakeEngine) -> AsyncIterator[None]:
    """While open, a request that nobody but the engine knows of is under way there; it is answered in full."""
    engine.hold()
    load = Load(rate=100, seconds=60, count=1)
    asking = asyncio.create_task(send(load, engine.url, MODEL))
    try:
        async with asyncio.timeout(30):
            while not engine.model.running:  # noqa: ASYNC110 -- what other tasks do is polled
                await asyncio.sleep(0.02)
        yield
        engine.release()
        assert (await asking).unanswered == ()
    finally:
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)


def arrived(engine: FakeEngine) -> int:
    """How many requests for a completion an engine has been sent."""
    return len(engine.ledger.entries)
