"""Deployments that come and go."""

from typing import Final

from modeldeployment.lab.crashes.scenarios.scenario import (
    Ends,
    Scenario,
    cluster,
    creates,
    deletes,
    quota,
    standing,
)
from modeldeployment.lab.model import World
from modeldeployment.lab.model.resources import JSON


def _pair(world: World) -> None:
    world.create(world.pair("chat"))


def _holds(world: World) -> None:
    """Somebody else's finalizer, beside ours."""
    world.edit("chat", "/metadata/finalizers/-", "example.com/hold")


def _lets_go(world: World) -> None:
    world.server.update(
        "modeldeployments",
        "chat",
        world.namespace,
        lambda old: {**old, "metadata": {**old["metadata"], "finalizers": _without(old, "example.com/hold")}},
        by="user",
    )


def _without(thing: JSON, finalizer: str) -> list[str]:
    return [each for each in thing["metadata"].get("finalizers") or () if each != finalizer]


def _pending(world: World) -> None:
    cluster()(world)
    quota(1)(world)


def _replaces(world: World) -> None:
    """Somebody applies another deployment of the name at once, if the first one lets him: it does until it is held."""
    held = world.server.get("modeldeployments", "chat", world.namespace)
    if not held["metadata"].get("finalizers"):
        world.delete("chat")
        creates(replicas=2)(world)


COMING: Final = (
    Scenario("one-role", "two replicas of one role come", cluster(), (creates(replicas=2),), Ends(pods=(2, 0))),
    Scenario("pair", "a pair behind a router comes", cluster(), (_pair,), Ends(pods=(2, 0))),
    Scenario(
        "wide",
        "two replicas of two members each come",
        cluster(),
        (creates(replicas=2, size=2),),
        Ends(pods=(4, 0)),
        width=2,
    ),
    Scenario(
        "hasty",
        "a deployment comes, and perhaps another of its name before the first is held",
        cluster(),
        (creates(replicas=2), _replaces),
        Ends(pods=(2, 0)),
    ),
    Scenario(
        "delete-while-pending",
        "a deployment is deleted while one of its two replicas waits for quota",
        standing(_pending, creates(replicas=2)),
        (deletes(),),
        Ends(("",), (0, 2)),
    ),
    Scenario(
        "delete-a-pair",
        "a pair behind a router is deleted, which somebody else's finalizer holds up",
        standing(cluster(), _pair, _holds),
        (deletes(), _lets_go),
        Ends(("",), (0, 2)),
    ),
    Scenario(
        "delete-and-recreate",
        "a deployment of wide replicas is deleted and one of its name comes after it",
        standing(cluster(), creates(size=2)),
        (deletes(), creates(size=2)),
        Ends(pods=(2, 2)),
        width=2,
    ),
)
