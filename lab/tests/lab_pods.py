"""Pods for tests of the lab: members of serving groups, and waiting for what becomes of them."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

import msgspec
from modeldeployment.api import keys
from modeldeployment.kube import Client, NotFound
from modeldeployment.kube.kinds import PODS, WORKLOADS
from modeldeployment.kube.shapes import Condition, Pod, Workload

T = TypeVar("T")


def member(
    name: str, *, queue: str, group: str, requests: Mapping[str, int], total: int = 1, level: str = ""
) -> dict[str, Any]:
    """Return one Pod of a serving group that asks for a core, some memory and `requests`."""
    annotations = {keys.GROUP_TOTAL: str(total), keys.GROUP_SERVING: keys.TRUE, keys.ROLE_HASH: "server"}
    if level:
        annotations[keys.REQUIRED_TOPOLOGY] = level
    resources = {"cpu": "1", "memory": "1Gi", **{key: str(count) for key, count in requests.items()}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "labels": {keys.QUEUE_NAME: queue, keys.GROUP_NAME: group},
            "annotations": annotations,
        },
        "spec": {
            "terminationGracePeriodSeconds": 1,
            "containers": [
                {"name": "main", "image": "lab/none", "resources": {"requests": resources, "limits": resources}}
            ],
        },
    }


async def until(read: Callable[[], Awaitable[T]], holds: Callable[[T], bool], *, within: float = 60.0) -> T:
    """Return what is read once it holds; an object that is not there yet counts as not holding."""
    async with asyncio.timeout(within):
        while True:
            try:
                seen = await read()
            except NotFound:
                pass
            else:
                if holds(seen):
                    return seen
            await asyncio.sleep(0.1)


def condition(conditions: tuple[Condition, ...], kind: str) -> Condition:
    """Return a condition by type; one that is absent reads as Unknown."""
    return next((each for each in conditions if each.type == kind), Condition(type=kind, status="Unknown"))


async def admitted(client: Client, namespace: str, group: str) -> Workload:
    """Return a group's Workload once Kueue has admitted it."""
    return await until(
        lambda: client.get(WORKLOADS, group, namespace),
        lambda workload: condition(workload.status.conditions, "Admitted").status == "True",
    )


async def running(client: Client, namespace: str, name: str) -> Pod:
    """Return a Pod once it is Running."""
    return await until(lambda: client.get(PODS, name, namespace), lambda pod: pod.status.phase == "Running")


def raw(part: msgspec.Raw) -> dict[str, Any]:
    """Return the spec or status of a custom object as plain values."""
    decoded: dict[str, Any] = msgspec.json.decode(part)
    return decoded
