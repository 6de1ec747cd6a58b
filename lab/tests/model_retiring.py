"""Deployments that shrink in the fake world: how far their retirement is, and who left."""

from datetime import datetime
from typing import Any

from modeldeployment.api import keys
from modeldeployment.lab.model import World

JSON = dict[str, Any]

STEPS = ("Admitted", "Disqualified", "Withdrawing", "Draining", "Deleting", "Settling")
REPLICAS = "/spec/roles/0/replicas"
RETRY = "/metadata/annotations"


def shrinking(world: World, *, replicas: int = 2, to: int = 1) -> None:
    """Let an operator shrink a deployment that has settled."""
    world.fleet(nodes=2, cards=2)
    world.start()
    world.create(world.manifest("chat", replicas=replicas))
    world.settle()
    world.edit("chat", REPLICAS, to)


def reaches(world: World, state: str) -> JSON:
    """Let time pass until the retirement is in a state; empty is none at all. What status says of it then."""
    world.until(lambda: retirement(world).get("state", "") == state)
    return retirement(world)


def retirement(world: World) -> JSON:
    """What status says of the retirement now."""
    said: JSON = world.status("chat").get("retirement") or {}
    return said


def asks(world: World, annotation: str) -> None:
    """Ask for a retry by the annotation."""
    world.edit("chat", RETRY, {keys.RETIREMENT_RETRY: annotation})


def annotation(world: World) -> str | None:
    """The annotation that asks for a retry."""
    held = world.server.get("modeldeployments", "chat", world.namespace)["metadata"]
    found: str | None = (held.get("annotations") or {}).get(keys.RETIREMENT_RETRY)
    return found


def told(world: World, reason: str) -> list[str]:
    """The notes of all events of a reason."""
    return [each["note"] for each in world.server.items("events") if each["reason"] == reason]


def steps(world: World) -> list[str]:
    """Each state that status ever said of a retirement, with whose it was, repetitions left out."""
    seen: list[str] = []
    for entry in world.story:
        if entry.plural == "modeldeployments" and entry.new is not None:
            said = (entry.new.get("status") or {}).get("retirement")
            step = f"{said['replicaOrdinal']} {said['state']}" if said else "nobody"
            if seen[-1:] != [step]:
                seen.append(step)
    return seen


def whole(*ordinals: int) -> list[str]:
    """What `steps` says of replicas that retired one after the other."""
    return ["nobody", *(each for at in ordinals for each in (*(f"{at} {step}" for step in STEPS), "nobody"))]


def left(world: World) -> list[int]:
    """The ordinals of the Pods that were deleted, in order."""
    return [
        int(entry.old["metadata"]["labels"][keys.ORDINAL])
        for entry in world.story
        if entry.plural == "pods"
        and entry.old is not None
        and "deletionTimestamp" not in entry.old["metadata"]
        and (entry.new is None or "deletionTimestamp" in entry.new["metadata"])
    ]


def between(said: JSON, start: str, end: str) -> float:
    """Seconds between two instants of a retirement."""
    return (datetime.fromisoformat(said[end]) - datetime.fromisoformat(said[start])).total_seconds()
