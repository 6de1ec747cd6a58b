"""How fast a deleted deployment is gone, Pods and Workloads, beside a raw sender that deletes the same objects."""

import asyncio
import time
from collections.abc import Sequence
from typing import Final

from modeldeployment.kube.kinds import PODS as POD_KIND
from modeldeployment.kube.kinds import WORKLOADS as WORKLOAD_KIND
from modeldeployment.lab.bench import audits, goals, making, manifests
from modeldeployment.lab.bench.accounts import Account
from modeldeployment.lab.bench.arrivals import count, until_count
from modeldeployment.lab.bench.clearing import clear
from modeldeployment.lab.bench.errors import TooSlow
from modeldeployment.lab.bench.figures import Rounds
from modeldeployment.lab.bench.making import CONNECTIONS, Round, Shape
from modeldeployment.lab.bench.operating import operator
from modeldeployment.lab.bench.rows import Value
from modeldeployment.lab.bench.settling import until_quiet
from modeldeployment.lab.bench.telling import Tell
from modeldeployment.lab.bench.wire import Connection, connections, delete_all, post_all
from modeldeployment.lab.bench.worlds import DEPLOYED, NAMESPACE, PODS, WORKLOADS, World

ROUNDS: Final = 2
_SECONDS: Final = 300.0
_PAUSE: Final = 0.1
_AGAIN_SECONDS: Final = 2.0
"""Pause between two lists of everything: they would be most of the API server's work."""


async def measure(world: World, replicas: int, tell: Tell) -> tuple[Value, ...]:
    """Delete a deployment of gated Pods, raw and by the operator in turn, until no Pod and no Workload is left.

    The ClusterQueue is held, so that no kubelet's goodbye mixes in: what is measured are the deletes and what Kueue
    does about them. Raises BenchError.
    """
    shape = Shape(replicas)
    raw: list[Round] = []
    ours: list[Round] = []
    async with world.held():
        for turn in range(ROUNDS):
            raw.append(await _raw(world, f"raw-gone-{turn}", shape))
            tell(str(raw[-1]))
            ours.append(await _ours(world, f"ours-gone-{turn}", shape))
            tell(str(ours[-1]))
    ceiling, reached = (Rounds(tuple(each.rate for each in rounds)) for rounds in (raw, ours))
    against = (
        f"operator {reached.median:.0f} replicas/s (best {reached.highest:.0f}), "
        f"raw {ceiling.median:.0f}/s (best {ceiling.highest:.0f}) over {CONNECTIONS} connections; "
        f"CPU s: operator's round {sum(ours[-1].used.values()):.1f}, raw {sum(raw[-1].used.values()):.1f}"
    )
    return (Value(goals.TEARDOWN_RATIO, reached.median / ceiling.median, against),)


async def _raw(world: World, name: str, shape: Shape) -> Round:
    """Delete Pods, then Workloads, over and over until none is left: Kueue lets go of a Pod when its Workload is gone.

    A Workload that goes first is composed again, and so may one be that goes while its Pod is still going.
    """
    async with connections(world.driver, CONNECTIONS) as senders:
        role = await making.owner(world, senders[0], name, shape)
        await post_all(senders, PODS, manifests.bodies(role))
        await until_count(world.driver, WORKLOADS, shape.replicas, _SECONDS)
        with Account(world.processes()) as account:
            began = time.perf_counter()
            await _delete_all(world, senders)
            seconds = time.perf_counter() - began
    await clear(world)
    return Round("raw deletes", shape.replicas / seconds, account.used)


async def _ours(world: World, name: str, shape: Shape) -> Round:
    body = manifests.deployment(name, NAMESPACE, world.provision.instance_type, replicas=shape.replicas)
    audit = world.audit()
    async with operator(world) as running:
        await running.until_ready()
        async with connections(world.driver, 1) as senders:
            await post_all(senders, DEPLOYED, [manifests.compact(body)])
        await until_count(world.driver, WORKLOADS, shape.replicas, _SECONDS)
        await until_quiet(audit)
        # Opened here: the API server closes a connection that was silent for as long as a creation can take.
        async with connections(world.driver, 2) as (first, second):
            with Account({**world.processes(), "operator": running.process.pid}) as account:
                began = time.perf_counter()
                await delete_all([first], [f"{DEPLOYED}/{name}"])
                await _until_gone(first, second, _SECONDS)
                seconds = time.perf_counter() - began
        asked = audit.since_last()
        await until_count(world.driver, DEPLOYED, 0, _SECONDS)
    await clear(world)
    return Round("operator", shape.replicas / seconds, account.used, audits.besides_watches_and_leases(asked))


async def _delete_all(world: World, senders: Sequence[Connection]) -> None:
    """Delete what stands, and wait until it is gone; now and then look for what Kueue has composed again."""
    left = -1
    try:
        async with asyncio.timeout(_SECONDS):
            while left != 0:
                for kind, path in ((POD_KIND, PODS), (WORKLOAD_KIND, WORKLOADS)):
                    items = (await world.client.list_metadata(kind, NAMESPACE)).items
                    standing = [each.metadata.name for each in items if not each.metadata.deletion_timestamp]
                    await delete_all(senders, [f"{path}/{name}" for name in standing])
                left = await _gone_within(senders[0], senders[1], _AGAIN_SECONDS)
    except TimeoutError as error:
        raise TooSlow(f"{left} Pods and Workloads are still there after {_SECONDS:.0f} s") from error


async def _until_gone(first: Connection, second: Connection, seconds: float) -> None:
    if left := await _gone_within(first, second, seconds):
        raise TooSlow(f"{left} Pods and Workloads are still there after {seconds:.0f} s")


async def _gone_within(first: Connection, second: Connection, seconds: float) -> int:
    """Count until nothing is left or so many seconds are over: how many are left. Counting lists nothing."""
    until = time.perf_counter() + seconds
    while left := sum(await asyncio.gather(count(first, PODS), count(second, WORKLOADS))):
        if time.perf_counter() >= until:
            return left
        await asyncio.sleep(_PAUSE)
    return 0
