"""What the real routers do while the API server is away, and after it. Source: facts routers-measured §1.

A router that reaches the API server directly is the witness: once it has acted on a change, a router that has not is
blind to it. The routers under test reach it through a forwarder, which says when they ask again, and lets them wait.
"""

import asyncio
import json
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from conformance_routers import KUBECONFIG, Begin, Member, World, ask, lists, servers, until
from kube_forwarder import Forwarder
from modeldeployment.kube import Access, load
from modeldeployment.lab.controlplane import ControlPlane
from modeldeployment.lab.routers import RunningRouter

pytestmark = pytest.mark.lab

RETRY_SECONDS = 150.0
"""Seconds after which a router has given the API server up; they ask again after about 60."""
PAUSE_SECONDS = 0.1
LATE, LAST = 6, 7
"""The replicas that come while the routers are blind, and once they see again."""


class Outage(Forwarder):
    """A forwarder whose API server can be away: connections are cut, new ones too until it is back.

    Whoever connects then is `asking`, and waits until it is `answering`.
    """

    def __init__(self, access: Access) -> None:
        super().__init__(access)
        self.away = False
        self.turned_away = 0
        self.asking = 0
        self.answering = asyncio.Event()
        self.answering.set()

    def begin(self) -> None:
        """Be away from now on."""
        self.away = True
        self.answering.clear()
        self.drop()

    def end(self) -> None:
        """Be back, and let those wait who ask."""
        self.away = False

    def _begin(self, reader: StreamReader, writer: StreamWriter) -> None:
        if self.away:  # the port stays ours: whoever comes back might find it taken
            self.turned_away += 1
            writer.transport.abort()
        else:
            super()._begin(reader, writer)

    async def _forward(self, reader: StreamReader, writer: StreamWriter) -> None:
        self.asking += not self.answering.is_set()
        await self.answering.wait()
        await super()._forward(reader, writer)


@asynccontextmanager
async def outages(plane: ControlPlane, folder: Path) -> AsyncIterator[tuple[Outage, dict[str, str]]]:
    """An API server that can be away, and the environment of a router that reaches it there.

    `folder` has the kubeconfig of the router's account that leads to the API server directly.
    """
    outage = Outage(load(plane.kubeconfig))
    try:
        content = json.loads((folder / KUBECONFIG).read_text())
        content["clusters"][0]["cluster"]["server"] = (await outage.start()).server
        through = folder / "through-an-outage"
        through.touch(mode=0o600)
        through.write_text(json.dumps(content))
        yield outage, {"KUBECONFIG": str(through)}
    finally:
        outage.answering.set()
        await outage.closed()


@dataclass(frozen=True, slots=True)
class Before:
    """The workers from before an outage, by what becomes of their Pods during it."""

    stays: Member
    deleted: Member
    ineligible: Member
    unready: Member
    terminating: Member
    ended: Member

    @property
    def all(self) -> tuple[Member, ...]:
        return self.stays, self.deleted, self.ineligible, self.unready, self.terminating, self.ended


async def workers(world: World) -> Before:
    """Six Pods, ready and eligible; finalizers hold those that are to be terminating."""
    return Before(*[await world.pod("server", ordinal, held=ordinal > 3) for ordinal in range(6)])


@asynccontextmanager
async def asked_all_the_while(router: RunningRouter, served: str) -> AsyncIterator[None]:
    """Ask a router for completions, one after the other; every one is answered."""

    async def on_and_on() -> None:
        while True:
            await ask(router, served)
            await asyncio.sleep(PAUSE_SECONDS)

    async with asyncio.TaskGroup() as group:
        task = group.create_task(on_and_on())
        yield
        task.cancel()


async def each_is_asked_again(*members: Member) -> None:
    """Wait until one more request has arrived at each of them."""
    counts = [(member, member.served) for member in members]
    await until(lambda: all(member.served > count for member, count in counts), what="each member is asked again")


async def sees(router: RunningRouter, member: Member) -> None:
    """Wait until a router that was blind lists a member."""

    async def listed() -> bool:
        return member.url in {worker.url for worker in await router.workers()}

    await until(listed, what=f"a router that was blind lists {member.name}", patience=RETRY_SECONDS)


@pytest.mark.parametrize(
    ("engine", "router", "live", "ghosts"),
    [
        pytest.param("vLLM", "vllm-router", (), ("deleted",), id="vllm-router"),
        pytest.param(
            "SGLang",
            "sglang-gateway",
            ("ineligible", "unready"),
            ("deleted", "ineligible", "unready", "ended"),
            id="sglang-gateway",
        ),
    ],
)
async def test_a_router_is_blind_and_answers_until_long_after_an_outage_and_then_keeps_ghosts(
    begin: Begin,
    control_plane: ControlPlane,
    tmp_path: Path,
    engine: str,
    router: str,
    live: tuple[str, ...],
    ghosts: tuple[str, ...],
) -> None:
    """`live` are those that a router that sees keeps as well, `ghosts` those that one keeps that was blind."""
    world = begin(servers(engine, router, "--policy=round_robin", replicas=8))
    before = await workers(world)
    kept, haunting = ([getattr(before, name) for name in names] for names in (live, ghosts))
    witness = await world.start()
    async with outages(control_plane, tmp_path) as (outage, through):
        blind = await world.start(environment=through)
        for each in (witness, blind):
            await lists(each, *before.all)
        async with asked_all_the_while(blind, world.served):
            outage.begin()
            newcomer = await world.start(environment=through)
            await until(lambda: outage.turned_away > 0, what="the router started meanwhile is turned away")
            outage.end()

            await world.delete(before.deleted)
            await world.label(before.ineligible, eligible=None)
            await world.tell(before.unready, ready=False)
            await world.delete(before.ended)
            await world.tell(before.ended, ready=False)
            late = await world.pod("server", LATE)
            await lists(witness, before.stays, before.terminating, late, *kept)
            assert outage.asking == 0, "a router asks at once after a watch error: correct facts routers-measured §1"
            await lists(blind, *before.all)
            await each_is_asked_again(*before.all)
            assert await newcomer.workers() == ()
            assert [(await newcomer.ask("GET", path))[0] for path in ("/readiness", "/health")] == [503, 200]

            await until(lambda: outage.asking > 0, what="a router asks again", patience=RETRY_SECONDS)
            # Only now, since the garbage collector of Pods soon says of one without a node that it failed.
            await world.delete(before.terminating)
            await lists(witness, before.stays, late, *kept)
            outage.answering.set()
            await asyncio.gather(sees(blind, late), sees(newcomer, late))
            last = await world.pod("server", LAST)  # seen after everything that the resync told
            await lists(newcomer, before.stays, late, last)
            assert (await newcomer.ask("GET", "/readiness"))[0] == 200
            await lists(blind, before.stays, late, last, *haunting)
            await each_is_asked_again(before.stays, late, last, *haunting)
        await blind.remove(before.deleted.url)
        await lists(blind, before.stays, late, last, *(ghost for ghost in haunting if ghost is not before.deleted))
