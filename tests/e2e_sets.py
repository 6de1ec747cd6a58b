"""Deployments whose groups open together, strangers beside them, and what Kueue says of both."""

import contextlib
import json
from typing import Any

from e2e_board import admitted, owners
from e2e_worlds import JSON, World
from modeldeployment.api import keys, kueue
from modeldeployment.kube import NotFound, PatchType
from modeldeployment.kube.kinds import ADMISSION_CHECKS, CLUSTER_QUEUES, PODS, WORKLOADS
from modeldeployment.kube.shapes import Pod, Workload
from modeldeployment.reconcile.sets.markers import Yield


def pair(world: World, name: str, prefill: int, decode: int, **fields: Any) -> JSON:
    """A Prefill and a Decode role with so many replicas of one card each."""
    counts = {"Prefill": prefill, "Decode": decode}
    roles = [world.role(kind.lower(), kind=kind, replicas=count, **fields) for kind, count in counts.items()]
    return world.manifest(name, roles=roles)


def unequal(world: World, name: str, prefill: int, decode: int) -> JSON:
    """A Prefill and a Decode role of one replica with so many cards each."""
    cards = {"Prefill": prefill, "Decode": decode}
    roles = [world.role(kind.lower(), kind=kind, resources={"accelerator": n}) for kind, n in cards.items()]
    return world.manifest(name, roles=roles)


async def create(world: World, manifest: JSON) -> None:
    said = await world.apply(manifest)
    assert said.code == 0, said.err


async def stranger(world: World, cards: int) -> None:
    """Create a Pod of somebody else in the world's queue."""
    container = {"name": "main", "image": "lab/none", "resources": {"limits": {"nvidia.com/gpu": cards}}}
    body = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "stranger", "labels": {keys.QUEUE_NAME: world.provision.local_queue}},
        "spec": {"terminationGracePeriodSeconds": 1, "containers": [container]},
    }
    await world.client.create(PODS, json.dumps(body).encode(), world.namespace)
    await world.board.until(
        lambda: [each for each in world.board.workloads.items() if admitted(each)], what="the stranger is admitted"
    )


def workloads(world: World, name: str) -> list[Workload]:
    """The Workloads of a deployment's Pods."""
    uids = {pod.metadata.uid for pod in world.board.all_pods(name)}
    return [each for each in world.board.workloads.items() if owners(each) & uids]


def entry(workload: Workload) -> tuple[str, str]:
    """State and message of our check on a Workload."""
    return next(((each.state, each.message) for each in workload.status.admission_checks), ("", ""))


def reserved(workload: Workload) -> bool:
    return any((each.type, each.status) == ("QuotaReserved", "True") for each in workload.status.conditions)


async def queued(world: World, name: str, groups: int) -> None:
    """Wait until so many groups of a deployment are there and Kueue has tried each, so that all wait behind the elder.

    One that was never tried is tried before those that were passed over, whatever their age.
    Not for groups that are alike in role and size over several deployments: those seem to be passed over untold.
    """
    await world.board.until(
        lambda: len(found := workloads(world, name)) == groups and all(map(_tried, found)),
        what=f"each of {groups} groups of {name} holds quota or knows why it does not",
    )


def _tried(workload: Workload) -> bool:
    """Whether it holds quota, or queues and was refused some since it does."""
    short = any(
        each.type == "QuotaReserved" and each.message.startswith("couldn't assign flavors")
        for each in workload.status.conditions
    )
    return reserved(workload) or (workload.spec.active is not False and short)


def started(world: World, name: str) -> list[Pod]:
    """Pods of a deployment that nothing holds back from the scheduler."""
    return [pod for pod in world.board.all_pods(name) if not pod.spec.scheduling_gates]


async def take_check_away(world: World) -> None:
    """Delete our check, whatever asked for it before: Kueue keeps one that a ClusterQueue names."""
    for queue in (await world.client.list(CLUSTER_QUEUES)).items:
        if queue.spec.admission_checks_strategy.admission_checks:
            await world.client.patch(
                CLUSTER_QUEUES, queue.metadata.name, {"spec": {"admissionChecksStrategy": None}}, how=PatchType.MERGE
            )
    with contextlib.suppress(NotFound):
        await world.client.delete(ADMISSION_CHECKS, kueue.JOINT_CHECK)


async def gave_way(world: World, name: str, to: Yield) -> None:
    """Take one replica of a held set out of the queue as if it had given way, and wait until it is let back."""
    held = await world.board.until(
        lambda: [each for each in workloads(world, name) if reserved(each)], what="the set holds quota"
    )
    one = held[0].metadata
    await world.client.patch(WORKLOADS, one.name, {"spec": {"active": False}}, world.namespace, how=PatchType.MERGE)
    await world.board.until(
        lambda: (found := world.board.workloads.get(world.namespace, one.name)) and not reserved(found),
        what="the replica lost its quota",
    )
    said = {
        "name": kueue.JOINT_CHECK,
        "state": "Pending",
        "message": to.marker(),
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    body = {
        "apiVersion": WORKLOADS.api_version,
        "kind": WORKLOADS.kind,
        "metadata": {"name": one.name, "namespace": world.namespace},
        "status": {"admissionChecks": [said]},
    }
    await world.client.patch(
        WORKLOADS, one.name, body, world.namespace, how=PatchType.APPLY, subresource="status", force=True
    )
    await world.board.until(
        lambda: (found := world.board.workloads.get(world.namespace, one.name)) and found.spec.active,
        what="the replica is let back",
    )
