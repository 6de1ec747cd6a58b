"""A replica that drains while its node, its engine or the spec changes: it leaves proven, or by no doing of ours."""

import pytest
from e2e_board import uids
from e2e_retiring import reaches, retirement, servers, shrunk
from e2e_routed import create
from e2e_worlds import World
from modeldeployment.kube.kinds import NODES, PODS
from modeldeployment.kube.shapes import Pod
from modeldeployment.lab.engines import Manner
from modeldeployment.lab.serving import Serving

pytestmark = pytest.mark.lab

WHOLE_NODE = {"accelerator": 8}


async def draining(world: World, serving: Serving) -> tuple[Pod, Pod]:
    """Shrink two replicas on nodes of their own to one; answer who stays, and who drains and tells nothing."""
    await create(world, servers(world, "vLLM", None, replicas=2, resources=WHOLE_NODE))
    await world.settled("chat")
    (kept,), (leaving,) = (world.board.replicas("chat")[at] for at in range(2))
    serving.engine(leaving.metadata.name).tell(manner=Manner.HANG)
    await world.scale("chat", 1)
    await reaches(world, "Draining", saying=leaving.metadata.name)
    return kept, leaving


async def test_a_replica_whose_node_is_lost_while_it_drains_is_not_missed_and_holds_nobody(
    world: World, serving: Serving
) -> None:
    kept, leaving = await draining(world, serving)
    await serving.lose(leaving.spec.node_name)
    await world.client.delete(NODES, leaving.spec.node_name)
    await reaches(world, "Aborted", saying="terminated from outside")
    await world.board.until(lambda: uids(world.board.all_pods("chat")) == uids([kept]), what="one Pod is left")
    await world.settled("chat")


async def test_an_engine_that_restarts_while_it_drains_proves_nothing_and_its_replica_can_be_had_back(
    world: World, serving: Serving
) -> None:
    _, leaving = await draining(world, serving)
    serving.restart(leaving.metadata.name)
    await reaches(world, "Draining", saying="its container was restarted")
    await world.scale("chat", 2)
    await world.board.until(lambda: not retirement(world), within=120, what="the replica is adopted")
    await world.settled("chat")
    assert uids(world.board.replicas("chat")[1]) == uids([leaving])
    assert world.board.deleted(PODS) == []


async def test_a_rollout_in_the_middle_comes_after_the_replica_that_drains(world: World, serving: Serving) -> None:
    kept, leaving = await draining(world, serving)
    await world.edit("chat", "/spec/roles/0/image", "lab/two")
    await world.board.until(
        lambda: world.board.condition("chat", "ReplicasUpToDate").get("status") == "False", what="replica 0 is outdated"
    )
    assert (retirement(world)["state"], world.board.deleted(PODS)) == ("Draining", [])
    serving.engine(leaving.metadata.name).tell()
    await shrunk(world, 1)
    await world.settled("chat")
    assert uids(world.board.deleted(PODS)) == uids([leaving, kept])


async def test_a_deployment_that_is_deleted_while_a_replica_drains_goes_whole(world: World, serving: Serving) -> None:
    await draining(world, serving)
    await world.delete("chat")
    await world.gone("chat")
