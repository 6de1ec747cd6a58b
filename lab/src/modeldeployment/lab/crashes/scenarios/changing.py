"""Deployments that are edited while they run."""

from typing import Final

from modeldeployment.api import keys
from modeldeployment.lab.crashes.scenarios.scenario import (
    Act,
    Ends,
    Scenario,
    cluster,
    creates,
    edits,
    quota,
    standing,
)
from modeldeployment.lab.model import World

_IMAGE: Final = "/spec/roles/0/image"
_COUNT: Final = "/spec/roles/0/replicas"
_NOTES: Final = "/metadata/annotations"
_STORE: Final = "10.0.0.1:50051"


def _busy(act: Act) -> Act:
    """Engines never run empty from now on."""
    return _proving(act, proves=False)


def _idle(act: Act) -> Act:
    """Engines run empty again from now on."""
    return _proving(act, proves=True)


def _proving(act: Act, *, proves: bool) -> Act:
    def done(world: World) -> None:
        world.proves = proves
        act(world)

    return done


def _scales_and_rolls(world: World) -> None:
    world.edit("chat", _COUNT, 2)
    world.edit("chat", _IMAGE, "engine:2")


def _pools(world: World) -> None:
    """A shared store, its pool, and the namespace's binding to it, all ready."""
    domain = {"name": "team", "blockSize": 16, "dtype": "bfloat16"}
    external = {"endpoints": [{"name": "Client", "address": _STORE}]}
    for kind, spec in (
        ("KVCacheBackend", {"connection": {"external": external}}),
        ("KVCachePool", {"backends": [{"name": "store"}], "quota": {"total": "1Ti"}}),
        ("KVCachePoolBinding", {"poolRef": {"name": "store"}, "quota": {"ceiling": "1Gi"}, "domain": domain}),
    ):
        world.create({"apiVersion": keys.API_VERSION, "kind": kind, "metadata": {"name": "store"}, "spec": spec})
    granted = {"type": "QuotaGranted", "status": "True", "reason": "Granted", "message": ""}
    granted["lastTransitionTime"] = world.clock.stamp()
    _says(world, "kvcachepoolbindings", world.namespace, {"phase": "Ready", "conditions": [granted]})
    _moves_to(_STORE)(world)


def _says(world: World, plural: str, namespace: str, status: dict[str, object]) -> None:
    world.server.merge(plural, "store", namespace, {"status": status}, by="admin", subresource="status")


def _moves_to(address: str):  # type: ignore[no-untyped-def]
    def act(world: World) -> None:
        _says(world, "kvcachepools", "", {"phase": "Ready", "clientEndpoint": address})

    return act


def _cached(world: World) -> None:
    manifest = world.manifest(replicas=2)
    manifest["spec"]["kvCache"] = {"poolRef": {"name": "store"}}
    world.create(manifest)


def _unbinds(world: World) -> None:
    world.delete("store", "KVCachePoolBinding")


def _stores(world: World) -> None:
    cluster()(world)
    _pools(world)


CHANGING: Final = (
    Scenario(
        "scale-up",
        "one replica becomes three",
        standing(cluster(), creates(replicas=1)),
        (edits(_COUNT, 3),),
        Ends(pods=(2, 0), survivors=("server/0.0",)),
    ),
    Scenario(
        "scale-down",
        "four replicas become two, then one",
        standing(cluster(), creates(replicas=4)),
        (edits(_COUNT, 2), edits(_COUNT, 1)),
        Ends(pods=(0, 3), survivors=("server/0.0",), left=("server/3", "server/2", "server/1")),
    ),
    Scenario(
        "wide-scale-down",
        "three replicas of two members become one",
        standing(cluster(), creates(replicas=3, size=2)),
        (edits(_COUNT, 1),),
        Ends(pods=(0, 4), survivors=("server/0.0", "server/0.1"), left=("server/2", "server/1")),
        width=2,
    ),
    Scenario(
        "aborted-retirement",
        "one of two replicas never runs empty and is kept, and is then declared again",
        standing(cluster(), creates(replicas=2)),
        (_busy(edits(_COUNT, 1)), edits(_COUNT, 2)),
        Ends(survivors=("server/0.0", "server/1.0")),
        hurries=False,
    ),
    Scenario(
        "retried-retirement",
        "one of two replicas never runs empty and is kept, and then leaves when it is asked once more",
        standing(cluster(), creates(replicas=2)),
        (_busy(edits(_COUNT, 1)), _idle(edits(_NOTES, {keys.RETIREMENT_RETRY: "server:1:again"}))),
        Ends(pods=(0, 1), survivors=("server/0.0",), left=("server/1",)),
        hurries=False,
    ),
    Scenario(
        "rollout",
        "another image for three replicas",
        standing(cluster(), creates(replicas=3)),
        (edits(_IMAGE, "engine:2"),),
        Ends(pods=(3, 3), left=("server/2", "server/1", "server/0")),
    ),
    Scenario(
        "wide-rollout",
        "another image for two replicas of two members",
        standing(cluster(), creates(replicas=2, size=2)),
        (edits(_IMAGE, "engine:2"),),
        Ends(pods=(4, 4), left=("server/1", "server/0")),
        width=2,
    ),
    Scenario(
        "scale-down-and-rollout",
        "three replicas become two of another image",
        standing(cluster(), creates(replicas=3)),
        (_scales_and_rolls,),
        Ends(pods=(2, 3)),
    ),
    Scenario(
        "scarce-rollout",
        "another image while one of three replicas waits for quota, which then comes",
        standing(lambda world: (cluster()(world), quota(2)(world)), creates(replicas=3)),
        (edits(_IMAGE, "engine:2"), quota(3)),
        Ends(pods=(3, 3), left=("server/2", "server/1", "server/0")),
    ),
    Scenario(
        "router",
        "a router comes before a role, and goes again",
        standing(cluster(), creates(replicas=2)),
        (edits("/spec/router", {"name": "vllm-router"}), lambda world: world.remove("chat", "/spec/router")),
        Ends(survivors=("server/0.0", "server/1.0")),
    ),
    Scenario(
        "store-moves",
        "the store of a shared cache moves to another address",
        standing(_stores, _cached),
        (_moves_to("10.0.0.2:50051"),),
        Ends(pods=(2, 2)),
    ),
    Scenario(
        "store-is-lost",
        "the binding to a shared cache is deleted, which no replica that runs is to feel",
        standing(_stores, _cached),
        (_unbinds,),
        Ends(survivors=("server/0.0", "server/1.0")),
    ),
)
