"""How sparingly the operator writes: status patches of a launch, and writes that change nothing."""

import asyncio
from typing import Any, Final

from modeldeployment.kube import PatchType
from modeldeployment.lab.bench import audits, goals, manifests
from modeldeployment.lab.bench.arrivals import until_count
from modeldeployment.lab.bench.operating import operator
from modeldeployment.lab.bench.rows import Value
from modeldeployment.lab.bench.settling import until_quiet, until_running
from modeldeployment.lab.bench.telling import Tell
from modeldeployment.lab.bench.wire import connections, post_all
from modeldeployment.lab.bench.worlds import DEPLOYED, DEPLOYMENTS, NAMESPACE, OPERATOR, PODS, World, user

IDLE_SECONDS: Final = 15.0
_SECONDS: Final = 600.0
_STATUS: Final = ("patch", "modeldeployments/status")


async def measure(world: World, replicas: int, small: int, idle: float, tell: Tell) -> tuple[Value, ...]:
    """Launch a deployment; then create, scale, roll and leave alone a small one of two roles. Raises BenchError.

    `world` is one whose audit log holds what every write was answered (`audits.whole_policy`).
    """
    audit = world.audit()
    async with operator(world) as running, connections(world.driver, 1) as (sender,):
        await running.until_ready()
        body = manifests.deployment("launch", NAMESPACE, world.provision.instance_type, replicas=replicas)
        launch = world.audit()
        await post_all([sender], DEPLOYED, [manifests.compact(body)])
        await _at_rest(world, audit, replicas)
        asked = launch.since_last()
        tell(f"launch of {replicas} replicas: {audits.told(audits.writes(asked))}")

        roles = ("first", "second")
        body = manifests.deployment("small", NAMESPACE, world.provision.instance_type, replicas=small, roles=roles)
        await post_all([sender], DEPLOYED, [manifests.compact(body)])
        await _at_rest(world, audit, replicas + 2 * small)
        for wanted in (small + 1, small + 2):  # up only: nobody serves these Pods, so none could be seen to run empty
            await _edit(world, body, replicas=wanted)
            await _at_rest(world, audit, replicas + 2 * wanted)
        await _edit(world, body, extraArgs=["--max-model-len=16384"])
        await _at_rest(world, audit, replicas + 2 * (small + 2))
        await asyncio.sleep(idle)
    lines = await asyncio.to_thread(lambda: world.audit_log.read_bytes().splitlines())
    idle_writes = audits.without_effect(lines, user(OPERATOR))
    refused = audits.refused(lines, user(OPERATOR))
    every = audits.writes(audits.requests(lines, user(OPERATOR)))
    tell(
        f"writes without effect: {audits.told(idle_writes)}; refused: {audits.told(refused)}; all: {audits.told(every)}"
    )
    return (
        Value(goals.STATUS_WRITES, asked[_STATUS] / replicas, f"{asked[_STATUS]} for {replicas} replicas until Ready"),
        Value(
            goals.NOOP_WRITES,
            sum(idle_writes.values()),
            f"{audits.told(idle_writes)}, of {sum(every.values())} writes; refused: {audits.told(refused)}",
        ),
    )


async def _at_rest(world: World, audit: audits.Log, pods: int) -> None:
    await until_count(world.driver, PODS, pods, _SECONDS)
    await until_running(world, pods)
    await until_quiet(audit)


async def _edit(world: World, body: dict[str, Any], **fields: object) -> None:
    for role in body["spec"]["roles"]:
        role |= fields
    spec = {"spec": {"roles": body["spec"]["roles"]}}
    await world.client.patch(DEPLOYMENTS, body["metadata"]["name"], spec, NAMESPACE, how=PatchType.MERGE)
