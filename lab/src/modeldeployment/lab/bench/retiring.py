"""What a shrink costs its callers, and how long the retirement of an idle replica takes beyond what it has to wait.

Everything is real but the engines: the operator, EndpointSlices, `vllm-router` and SGLang's gateway, the preStop hook.
"""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

import msgspec

from modeldeployment.api import RetirementState, keys
from modeldeployment.kube import PatchType, Reflector, Store
from modeldeployment.kube.kinds import PODS
from modeldeployment.kube.shapes import Custom, Pod
from modeldeployment.lab import packaged
from modeldeployment.lab.bench import arranging, goals, manifests
from modeldeployment.lab.bench.arranging import Shrink
from modeldeployment.lab.bench.clearing import clear
from modeldeployment.lab.bench.errors import BenchError, TooSlow
from modeldeployment.lab.bench.figures import Rounds
from modeldeployment.lab.bench.operating import operator
from modeldeployment.lab.bench.rows import Value
from modeldeployment.lab.bench.telling import Tell
from modeldeployment.lab.bench.worlds import DEPLOYMENTS, NAMESPACE, World
from modeldeployment.lab.engines import Outcome
from modeldeployment.lab.loading import Account, send, together
from modeldeployment.lab.routers import RunningPicker, RunningRouter, Worker
from modeldeployment.lab.serving import Serving

SETTLE: Final = 5.0
"""Seconds for which a member without a router is left alone after nothing lists it (decisions D7)."""
IDLE: Final = 4
_COMMITTED: Final = frozenset({RetirementState.DELETING, RetirementState.SETTLING})
RETRIES: Final = 3
"""How often a deployment's retirement is asked for again that was aborted: two cores may be too slow for a budget."""
_SECONDS: Final = 900.0
_SHRINK_SECONDS: Final = 2400.0
_LISTED_SECONDS: Final = 90.0
_POLL: Final = 0.2
_CLOSELY: Final = 0.02
ABREAST: Final = 24
"""Deployments that are there at one time, each with a router of its own: what two cores bear, and the fleet holds."""


@dataclass(slots=True)
class Seen:
    """Pods and deployments as watches tell of them, and when each Pod began to leave and was gone.

    `reserved` are the targets of every retirement that came as far as its delete; `aborts` says what was aborted,
    `unlisted` which routers never listed every worker.
    """

    pods: Store[Pod] = field(default_factory=Store)
    deployments: Store[Custom] = field(default_factory=Store)
    leaving: dict[str, float] = field(default_factory=dict)
    gone: dict[str, float] = field(default_factory=dict)
    reserved: set[tuple[str, ...]] = field(default_factory=set)
    aborts: list[str] = field(default_factory=list)
    unlisted: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.pods.subscribe(self._told)
        self.deployments.subscribe(self._said)

    def _said(self, old: Custom | None, new: Custom | None) -> None:
        del old
        told = {} if new is None else (self.status(new.metadata.name).get("retirement") or {})
        if told.get("state") in _COMMITTED:
            self.reserved.add(tuple(told["targetMemberUIDs"]))

    def _told(self, old: Pod | None, new: Pod | None) -> None:
        thing = new or old
        assert thing is not None
        uid = thing.metadata.uid
        if new is None:
            self.gone.setdefault(uid, time.monotonic())
        elif new.metadata.deletion_timestamp is not None:
            self.leaving.setdefault(uid, time.monotonic())

    def of(self, name: str) -> list[Pod]:
        """Every Pod of a deployment, its routers too."""
        return [pod for pod in self.pods.items() if pod.metadata.labels.get(keys.INSTANCE) == name]

    def replicas(self, name: str) -> int:
        """How many Pods of replicas a deployment has, leaving ones included."""
        return sum(keys.ROUTER not in pod.metadata.labels for pod in self.of(name))

    def serves(self, name: str, pods: int) -> bool:
        """Whether so many Pods of a deployment are ready, its routers' too."""
        return pods == sum(
            any(each.type == "Ready" and each.status == "True" for each in pod.status.conditions)
            for pod in self.of(name)
        )

    def rests(self, name: str, pods: int) -> bool:
        """Whether a deployment has so many Pods and none of its replicas is on its way out."""
        return self.replicas(name) == pods and not self.status(name).get("retirement")

    def aborted(self, name: str) -> dict[str, Any]:
        """The retirement of a deployment that was aborted; empty where none stands so."""
        held: dict[str, Any] = self.status(name).get("retirement") or {}
        return held if held.get("state") == RetirementState.ABORTED else {}

    def lacks(self, name: str) -> bool:
        """Whether nothing of a deployment is left."""
        return not self.of(name)

    def status(self, name: str) -> dict[str, Any]:
        """The status of a deployment."""
        found = self.deployments.get(NAMESPACE, name)
        return (msgspec.json.decode(found.status) if found is not None else {}) or {}


async def measure(world: World, retirements: int, tell: Tell) -> tuple[Value, ...]:
    """Retire idle replicas one by one, then many under load, and count what callers lost. Raises BenchError."""
    async with operator(world) as running, _served(world) as (serving, seen):
        await running.until_ready()
        idle = await _idle(world, seen, tell)
        planned = arranging.shrinks(retirements)
        counted: Counter[str] = Counter()
        for each in planned:
            counted[each.arrangement.value] += each.retirements
        before = time.monotonic()
        account = await _abreast(world, serving, seen, planned, tell)
        took = time.monotonic() - before
        cut = sum(
            engine.ledger.count(Outcome.CUT) + engine.ledger.count(Outcome.FAILED) for _, engine in serving.history
        )
    await clear(world)
    kinds = ", ".join(f"{count} x {kind}" for kind, count in counted.items())
    programs = ", ".join(f"{name} {packaged.PROGRAMS[name].version}" for name in ("vllm-router", "sglang-router"))
    against = (
        f"{counted.total()} retirements ({kinds}) in {took:.0f} s behind {programs}, "
        f"{len(seen.reserved) - IDLE} seen to be committed; {len(account.answers)} requests, "
        f"{cut} cut or failed by an engine; {dict(account.causes()) or 'every one answered in full'}; "
        f"{len(seen.aborts)} aborted and asked for again; {len(seen.unlisted)} routers had given up on a worker"
    )
    return (Value(goals.RETIRE_LOST, len(account.unanswered), against), idle)


@asynccontextmanager
async def _served(world: World) -> AsyncIterator[tuple[Serving, Seen]]:
    folder = world.folder / "served"
    folder.mkdir(exist_ok=True)
    seen = Seen()
    reflectors = (
        Reflector(world.client, PODS, seen.pods, NAMESPACE),
        Reflector(world.client, DEPLOYMENTS, seen.deployments, NAMESPACE),
    )
    watching = [asyncio.create_task(each.run()) for each in reflectors]
    try:
        async with Serving(world.client, world.plane, NAMESPACE, folder, packaged.install) as serving:
            serving.behaviour = replace(serving.behaviour, token_seconds=arranging.TOKEN_SECONDS)
            yield serving, seen
    finally:
        for task in watching:
            task.cancel()
        await asyncio.gather(*watching, return_exceptions=True)


async def _idle(world: World, seen: Seen, tell: Tell) -> Value:
    """Shrink a deployment without a router and without requests, one replica at a time."""
    name = "idle"
    body = manifests.deployment(name, NAMESPACE, world.provision.instance_type, replicas=IDLE + 1)
    await world.client.create(DEPLOYMENTS, body, NAMESPACE)
    await _until(partial(seen.serves, name, IDLE + 1), f"{name} is served")
    owns: list[float] = []
    totals: list[float] = []
    for left in range(IDLE, 0, -1):
        known = {pod.metadata.uid for pod in seen.of(name)}
        start = time.monotonic()
        await _scale(world, name, (manifests.ROLE,), left)
        await _until(partial(seen.rests, name, left), f"{name} has {left} replicas and none is leaving", _CLOSELY)
        end = time.monotonic()
        (uid,) = known - {pod.metadata.uid for pod in seen.of(name)}
        drained = seen.gone[uid] - seen.leaving[uid]
        totals.append(end - start)
        owns.append(end - start - SETTLE - drained)
        tell(f"idle: {end - start:.1f} s, of which its Pod took {drained:.1f} s to leave")
    await _gone(world, seen, (name,))
    own, total = Rounds(tuple(owns)), Rounds(tuple(totals))
    against = f"median of {IDLE}, worst {own.highest:.1f}; {total.median:.1f} s from the edit until nothing is reserved"
    return Value(
        goals.RETIRE_IDLE, own.median, f"{against}, with {SETTLE:.0f} s settle and the Pod's own preStop drain"
    )


async def _abreast(world: World, serving: Serving, seen: Seen, planned: tuple[Shrink, ...], tell: Tell) -> Account:
    """Make deployments, load each, shrink it and take it away again; as one goes the next comes."""
    places, ended = asyncio.Semaphore(ABREAST), 0
    tell(f"{sum(each.retirements for each in planned)} replicas of {len(planned)} deployments are to leave under load")

    async def lived(seed: int, each: Shrink) -> Account:
        nonlocal ended
        async with places:
            body = each.manifest(NAMESPACE, world.provision.instance_type)
            await world.client.create(DEPLOYMENTS, body, NAMESPACE)
            await _until(partial(seen.serves, each.name, each.pods + 1), f"{each.name} is served")
            account = await _shrunk(world, serving, seen, each, seed)
            await _gone(world, seen, (each.name,))
        ended += 1
        if ended % (ABREAST // 4) == 0:
            tell(f"{ended} deployments have come, shrunk and gone; {account.text().partition(chr(10))[0]} of the last")
        return account

    lives = [asyncio.create_task(lived(seed, each)) for seed, each in enumerate(planned)]
    try:
        return together(await asyncio.gather(*lives))
    finally:
        for life in lives:
            life.cancel()
        await asyncio.gather(*lives, return_exceptions=True)


async def _gone(world: World, seen: Seen, names: tuple[str, ...]) -> None:
    """Delete deployments and wait until all that they had is gone."""
    for name in names:
        await world.client.delete(DEPLOYMENTS, name, NAMESPACE)
    for name in names:
        await _until(partial(seen.lacks, name), f"{name} is gone")


async def _shrunk(world: World, serving: Serving, seen: Seen, shrink: Shrink, seed: int) -> Account:
    """Shrink one deployment to a replica of each role, under load from before until after."""
    (router,) = serving.routers(shrink.name).values()
    if short := await _listed(router, shrink):
        seen.unlisted.append(short)
    enough = asyncio.Event()
    load = asyncio.create_task(send(shrink.load(seed), router.url, "Qwen/Qwen2.5-7B-Instruct", enough))
    try:
        await _scale(world, shrink.name, shrink.roles, 1)
        left, name = shrink.pods // (shrink.leaving + 1), shrink.name
        while not seen.rests(name, left):
            await _until(
                lambda: seen.rests(name, left) or bool(seen.aborted(name)), f"{name} has shrunk", within=_SHRINK_SECONDS
            )
            if held := seen.aborted(name):
                await _retried(world, seen, name, held)
        enough.set()
        return await load
    finally:
        load.cancel()
        await asyncio.gather(load, return_exceptions=True)


async def _listed(router: RunningRouter | RunningPicker, shrink: Shrink) -> str:
    """Wait until a router lists a worker of every replica: it is ready with one, and adds the others one at a time.

    It gives up for good on one that does not answer in time, which is told: that replica is sent nothing.
    """
    assert isinstance(router, RunningRouter), "the routers of arrangements are one program"
    expected = (shrink.leaving + 1) * len(shrink.roles)
    listed: tuple[Worker, ...] = ()
    try:
        async with asyncio.timeout(_LISTED_SECONDS):
            while len(listed := await router.workers()) < expected:  # noqa: ASYNC110 -- a program is polled
                await asyncio.sleep(1.0)
    except TimeoutError:
        return f"{shrink.name}, {len(listed)} of {expected}"
    return ""


async def _retried(world: World, seen: Seen, name: str, held: dict[str, Any]) -> None:
    """Ask once more for a retirement that was aborted, as `kubectl md retry` does. Raises BenchError."""
    seen.aborts.append(f"{name}: {held.get('reason')}")
    tries = sum(each.startswith(f"{name}: ") for each in seen.aborts)
    if tries > RETRIES:
        raise BenchError(f"a retirement of {name} was aborted after {RETRIES} retries: {held.get('reason')}")
    asked = f"{held['roleName']}:{held['replicaOrdinal']}:{tries}"
    body = {"metadata": {"annotations": {keys.RETIREMENT_RETRY: asked}}}
    await world.client.patch(DEPLOYMENTS, name, body, NAMESPACE, how=PatchType.MERGE)
    await _until(lambda: not seen.aborted(name), f"{name} is retried")


async def _scale(world: World, name: str, roles: tuple[str, ...], replicas: int) -> None:
    changes = [{"op": "replace", "path": f"/spec/roles/{at}/replicas", "value": replicas} for at in range(len(roles))]
    body = msgspec.json.encode(changes)
    await world.client.patch(DEPLOYMENTS, name, body, NAMESPACE, how=PatchType.JSON)


async def _until(holds: Callable[[], bool], what: str, poll: float = _POLL, within: float = _SECONDS) -> None:
    try:
        async with asyncio.timeout(within):
            while not holds():  # noqa: ASYNC110 -- what other processes do is polled
                await asyncio.sleep(poll)
    except TimeoutError as error:
        raise TooSlow(f"not so within {within:.0f} s: {what}") from error
