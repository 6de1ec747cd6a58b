"""A router's objects that lost their owner, and others' objects under its names: named once, never taken over."""

import json
from typing import Any, Final

import pytest
from e2e_board import uids
from e2e_routed import create, pair, present, router_pods, served, whole
from e2e_standing import standing, stayed
from e2e_worlds import JSON, MakeWorld, World
from modeldeployment.api import names
from modeldeployment.kube.kinds import PODS
from modeldeployment.reconcile import OWNED, OwnedKind

pytestmark = pytest.mark.lab

SELECTED: Final = {"app": "theirs"}
THEIRS: Final[dict[OwnedKind, JSON]] = {
    OwnedKind.SERVICE_ACCOUNT: {},
    OwnedKind.ROLE: {"rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]},
    OwnedKind.ROLE_BINDING: {"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "theirs"}},
    OwnedKind.SERVICE: {"spec": {"selector": SELECTED, "ports": [{"port": 80}]}},
    OwnedKind.DEPLOYMENT: {
        "spec": {
            "replicas": 0,
            "selector": {"matchLabels": SELECTED},
            "template": {
                "metadata": {"labels": SELECTED},
                "spec": {"containers": [{"name": "main", "image": "lab/theirs"}]},
            },
        }
    },
}
"""What somebody else may hold under a router's name; of a ConfigMap there is a test of its own."""


async def test_a_router_object_of_any_kind_that_is_somebody_elses_is_left_alone_and_named(
    make_world: MakeWorld,
) -> None:
    world = await make_world(nodes=2)
    held = {}
    for kind, body in THEIRS.items():
        made = {"apiVersion": OWNED[kind].api_version, "kind": kind.value, "metadata": {"name": _router(kind)}, **body}
        said = await world.kubectl("create", "-f", "-", "-o", "json", stdin=json.dumps(made))
        assert said.code == 0, said.err
        await create(world, pair(world, _name(kind)))
        held[kind] = json.loads(said.out)["metadata"]["uid"]
    for kind in THEIRS:
        name, sentence = (
            _name(kind),
            f"{kind.lower()} {world.namespace}/{_router(kind)} is not owned by this deployment",
        )
        await world.board.until(
            lambda name=name: world.board.status(name).get("phase") == "Degraded",  # type: ignore[misc]
            what="both halves serve and the router is missed",
        )
        assert sentence in world.board.condition(name, "RouterReady")["message"]
        notes = [note for note in world.board.notes("NameTaken") if note.startswith(sentence)]
        assert notes == [f"{sentence}; delete or rename it, and the router is brought up"]
        found = await world.whole(OWNED[kind], _router(kind))
        assert found["metadata"]["uid"] == held[kind]
        assert "ownerReferences" not in found["metadata"]
        assert await present(world, name) == {kind}
        await world.kubectl("delete", kind.lower(), _router(kind))


async def test_a_router_whose_objects_lost_their_owner_runs_on_and_is_named_and_no_replica_notices(
    world: World,
) -> None:
    await create(world, pair(world))
    await served(world)
    before, routers = standing(world.board, "qwen"), uids(router_pods(world))
    known = {kind: await whole(world, kind) for kind in OwnedKind}
    for kind in OwnedKind:
        await _own(world, kind, None)
    await world.edit("qwen", "/metadata/labels", {"team": "blue"})
    await world.edit("qwen", "/spec/roles/1/replicas", 2)
    await world.board.until(
        lambda: "is not owned by this deployment" in world.board.condition("qwen", "RouterReady")["message"],
        what="it is said",
    )
    await world.board.until(lambda: len(standing(world.board, "qwen")) == 3, what="another decoder comes")
    assert len(world.board.notes("NameTaken")) >= 1
    assert {kind: (await whole(world, kind))["metadata"]["uid"] for kind in OwnedKind} == {
        kind: found["metadata"]["uid"] for kind, found in known.items()
    }

    for kind in OwnedKind:
        await _own(world, kind, known[kind]["metadata"]["ownerReferences"])
    await served(world)
    assert uids(router_pods(world)) == routers
    assert stayed(before, standing(world.board, "qwen")) == before.keys()
    assert set(uids(world.board.deleted(PODS))) == set()


def _name(kind: OwnedKind) -> str:
    return kind.lower()


def _router(kind: OwnedKind) -> str:
    return names.router(_name(kind))


async def _own(world: World, kind: OwnedKind, owners: list[dict[str, Any]] | None) -> None:
    """Give an object of the router other owners, or none."""
    change = json.dumps({"metadata": {"ownerReferences": owners}})
    said = await world.kubectl("patch", kind.lower(), "qwen-router", "--type=merge", "-p", change)
    assert said.code == 0, said.err
