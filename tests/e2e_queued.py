"""Others in the queue: Pods that outrank a deployment's, and a queue beside it that lends and takes back."""

import contextlib
import json
from collections.abc import AsyncIterator
from typing import Final

from e2e_board import admitted
from e2e_worlds import JSON, WHOLE_PODS, World
from modeldeployment.api import keys, kueue
from modeldeployment.api.quantity import Quantity
from modeldeployment.kube import NotFound, PatchType, custom
from modeldeployment.kube.kinds import CLUSTER_QUEUES, LOCAL_QUEUES, PODS

PRIORITIES: Final = custom("scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", namespaced=False)
LENDER: Final = "lender"
"""The name of the LocalQueue of a queue that lends."""


async def intruder(world: World, like: str, *, name: str = "intruder", queue: str = "", priority: str = "") -> None:
    """Create a Pod that asks for what another Pod asks for, in the world's queue or another."""
    example = await world.whole(WHOLE_PODS, like)
    resources = example["spec"]["containers"][0]["resources"]
    body = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {keys.QUEUE_NAME: queue or world.provision.local_queue}},
        "spec": {
            **({"priorityClassName": priority} if priority else {}),
            "terminationGracePeriodSeconds": 1,
            "containers": [{"name": "main", "image": "lab/none", "resources": resources}],
        },
    }
    await world.client.create(PODS, json.dumps(body).encode(), world.namespace)


async def serves(world: World, name: str = "intruder") -> None:
    """Wait until such a Pod has its quota."""
    await world.board.until(
        lambda: (pod := world.board.pods.get(world.namespace, name)) and admitted(world.board.workload_of(pod)),
        what=f"{name} is admitted",
    )


async def leaves(world: World, name: str = "intruder") -> None:
    """Delete such a Pod."""
    await world.client.delete(PODS, name, world.namespace)


async def strict(world: World) -> None:
    """Let nobody in the world's queue pass an older one that waits; otherwise a newcomer may be tried first."""
    # Kueue looks again at those it has passed over a second after quota came free, at newcomers at once.
    policy = {"spec": {"queueingStrategy": "StrictFIFO"}}
    await world.client.patch(CLUSTER_QUEUES, world.provision.cluster_queue, policy, how=PatchType.MERGE)


@contextlib.asynccontextmanager
async def outranking(world: World) -> AsyncIterator[str]:
    """While open, the world's queue preempts lower priorities, and there is the class this gives the name of."""
    policy = {"spec": outranks()}
    await world.client.patch(CLUSTER_QUEUES, world.provision.cluster_queue, policy, how=PatchType.MERGE)
    await world.client.create(PRIORITIES, {"metadata": {"name": world.namespace}, "value": 1000})
    try:
        yield world.namespace
    finally:
        await world.client.delete(PRIORITIES, world.namespace)


@contextlib.asynccontextmanager
async def lending(world: World) -> AsyncIterator[str]:
    """While open, half of the world's quota is that of a second queue in one cohort, which takes it back by force.

    Gives the name of the second queue's LocalQueue.
    """
    queue = world.provision.cluster_queue
    said = await world.kubectl("get", "clusterqueue", queue, "-o", "json")
    spec = json.loads(said.out)["spec"]
    change = {"spec": shared(world.namespace, spec)}
    await world.client.patch(CLUSTER_QUEUES, queue, change, how=PatchType.MERGE)
    second = lender(world.namespace, spec)
    name = second["metadata"]["name"]
    await world.client.create(CLUSTER_QUEUES, second)
    await world.client.create(LOCAL_QUEUES, entrance(name), world.namespace)
    try:
        yield LENDER
    finally:
        with contextlib.suppress(NotFound):
            await world.client.delete(LOCAL_QUEUES, LENDER, world.namespace)
        await world.client.delete(CLUSTER_QUEUES, name)


# --- what is asked of queues ---


def outranks() -> JSON:
    """The change of a queue's spec by which it preempts lower priorities."""
    return {"preemption": {"withinClusterQueue": "LowerPriority"}}


def shared(cohort: str, spec: JSON) -> JSON:
    """The change of a queue's spec that leaves it half of its quota, in a cohort."""
    return {"cohortName": cohort, "resourceGroups": _halved(spec["resourceGroups"])}


def lender(cohort: str, spec: JSON) -> JSON:
    """The queue with the other half of another's quota, which lends it in a cohort and takes it back by force."""
    return {
        "apiVersion": kueue.API_VERSION,
        "kind": "ClusterQueue",
        "metadata": {"name": f"{cohort}-lender"},
        "spec": {
            "namespaceSelector": {},
            "queueingStrategy": spec["queueingStrategy"],
            "preemption": {"reclaimWithinCohort": "Any"},
            **shared(cohort, spec),
        },
    }


def entrance(cluster_queue: str) -> JSON:
    """The LocalQueue that leads to the lender."""
    return {
        "apiVersion": kueue.API_VERSION,
        "kind": "LocalQueue",
        "metadata": {"name": LENDER},
        "spec": {"clusterQueue": cluster_queue},
    }


def _halved(groups: list[JSON]) -> list[JSON]:
    return [
        {
            **group,
            "flavors": [
                {
                    **flavor,
                    "resources": [
                        {**resource, "nominalQuota": _half(resource["nominalQuota"])}
                        for resource in flavor["resources"]
                    ],
                }
                for flavor in group["flavors"]
            ],
        }
        for group in groups
    ]


def _half(quantity: str) -> str:
    return str(Quantity.whole(Quantity.parse(quantity).nanos // 10**9 // 2))
