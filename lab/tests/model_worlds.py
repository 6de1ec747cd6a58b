"""Worlds of the model's tests: a fleet, Pods of groups made by hand, and what they became. No operator runs in them."""

from typing import Any

from modeldeployment.api import keys
from modeldeployment.api.kueue import WorkloadCondition
from modeldeployment.lab.flavors.names import local_queue_name
from modeldeployment.lab.model import World
from modeldeployment.lab.model import conditions as said

JSON = dict[str, Any]


def furnished(*, cards: int = 8, nodes: int = 1, checks: tuple[str, ...] = (), seed: int | None = None) -> World:
    """A world with nodes of so many cards and a queue for all of them."""
    world = World(seed)
    world.fleet(nodes=nodes, cards=cards, instance_type="a10", checks=checks)
    return world


def member(
    group: str = "g",
    name: str = "",
    *,
    total: int = 1,
    cards: int = 1,
    role: str = "server",
    queue: str = "a10",
    notes: JSON | None = None,
    **spec: Any,
) -> JSON:
    """One Pod of a serving group, as a deployment would make it."""
    annotations = {
        keys.GROUP_TOTAL: str(total),
        keys.ROLE_HASH: role,
        keys.GROUP_SERVING: keys.TRUE,
        **(notes or {}),
    }
    amounts = {"cpu": "1", "nvidia.com/gpu": str(cards)}
    container = {"name": "main", "resources": {"requests": amounts, "limits": amounts}}
    labels = {keys.QUEUE_NAME: local_queue_name(queue), keys.GROUP_NAME: group}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name or f"{group}-0", "labels": labels, "annotations": annotations},
        "spec": {"containers": [container], **spec},
    }


def priority(world: World, name: str, value: int) -> None:
    """Add a PriorityClass."""
    world.create(
        {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": value}
    )


def check(world: World, name: str = "gate", *, active: bool = True) -> None:
    """Add an AdmissionCheck of somebody's."""
    world.create({"kind": "AdmissionCheck", "metadata": {"name": name}, "spec": {"controllerName": "somebody"}})
    if active:
        condition = {"type": "Active", "status": "True", "reason": "Ready", "message": ""}
        world.server.merge(
            "admissionchecks", name, "", {"status": {"conditions": [condition]}}, by="x", subresource="status"
        )


def answer(world: World, group: str, state: str, *, name: str = "gate", message: str = "", **more: Any) -> None:
    """Answer a check of a Workload."""
    entry = {"name": name, "state": state, "message": message, "lastTransitionTime": world.clock.stamp(), **more}
    world.server.merge(
        "workloads", group, world.namespace, {"status": {"admissionChecks": [entry]}}, by="x", subresource="status"
    )


def active(world: World, group: str, *, value: bool) -> None:
    """Switch a Workload off, or on again."""
    world.server.merge("workloads", group, world.namespace, {"spec": {"active": value}}, by="x")


def workload(world: World, group: str = "g") -> JSON:
    """The Workload of a group; empty where there is none."""
    return world.server.find("workloads", group, world.namespace) or {}


def pod(world: World, name: str) -> JSON:
    """A Pod; empty where there is none."""
    return world.server.find("pods", name, world.namespace) or {}


def has(thing: JSON, kind: WorkloadCondition) -> bool:
    """Whether a condition is True."""
    return bool(thing) and said.true(thing, kind)


def reserved(world: World, *groups: str) -> list[str]:
    """Those of these groups that hold quota."""
    return [each for each in groups if has(workload(world, each), WorkloadCondition.QUOTA_RESERVED)]


def gates(thing: JSON) -> list[str]:
    """The scheduling gates of a Pod."""
    return [each["name"] for each in thing["spec"].get("schedulingGates") or ()]
