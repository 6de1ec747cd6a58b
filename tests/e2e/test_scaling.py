import pytest
from e2e_board import ordinal, owners, ready, restarts, uids
from e2e_worlds import World
from modeldeployment.kube.kinds import PODS, WORKLOADS

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("serving")]  # a replica leaves once its engine runs empty


async def test_more_and_fewer_replicas_leave_the_others_alone(world: World) -> None:
    await world.create("chat", replicas=2)
    await world.settled("chat")
    first = world.board.replicas("chat")
    versions = {each.metadata.name: each.metadata.resource_version for each in world.board.workloads.items()}
    serving = world.board.follow(lambda: sum(map(ready, world.board.all_pods("chat"))))

    await world.scale("chat", 4)
    await world.settled("chat")
    assert list(world.board.replicas("chat")) == [0, 1, 2, 3]
    assert sorted(ordinal(pod) for pod in world.board.came(PODS)[2:]) == [2, 3]
    assert world.board.deleted(PODS) == []

    await world.scale("chat", 1)
    await world.settled("chat")
    await world.board.until(lambda: len(world.board.all_pods("chat")) == 1, what="the others are gone")
    assert [ordinal(pod) for pod in world.board.deleted(PODS)] == [3, 2, 1]
    gone = {owner for each in world.board.deleted(WORKLOADS) for owner in owners(each)}
    assert gone == set(uids(world.board.deleted(PODS)))
    assert len(world.board.came(PODS)) == 4

    (survivor,) = world.board.replicas("chat")[0]
    assert survivor.metadata.uid == first[0][0].metadata.uid
    assert restarts(survivor) == 0
    (workload,) = world.board.workloads.items()
    assert owners(workload) == {survivor.metadata.uid}
    assert workload.metadata.resource_version == versions[workload.metadata.name]
    assert min(serving) == 1


async def test_a_scale_down_at_size_two_takes_whole_replicas_and_their_headless_services(world: World) -> None:
    await world.create("wide", replicas=2, size=2)
    await world.settled("wide")
    await world.scale("wide", 1)
    await world.board.until(lambda: len(world.board.all_pods("wide")) == 2, what="the members are gone")
    assert {pod.metadata.name for pod in world.board.deleted(PODS)} == {"wide-server-r1-m0", "wide-server-r1-m1"}
    await world.board.until(
        lambda: (
            {each.metadata.name for each in world.board.services.items()} == {"wide", "wide-server", "wide-server-r0"}
        ),
        what="the headless Service of replica 1 is gone",
    )
