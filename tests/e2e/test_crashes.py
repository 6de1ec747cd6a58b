import asyncio

import pytest
from e2e_board import ordinal, ready, restarts, uids
from e2e_operators import Start
from e2e_worlds import World
from modeldeployment.kube.kinds import PODS, WORKLOADS
from modeldeployment.lab.controlplane import Component

pytestmark = pytest.mark.lab


async def test_a_rollout_cut_by_a_crash_is_finished_with_one_replacement_each(
    breakable: World, start_operator: Start
) -> None:
    first = start_operator()
    await breakable.create("chat", replicas=4)
    await breakable.settled("chat")
    serving = breakable.board.follow(lambda: sum(map(ready, breakable.board.all_pods("chat"))))
    await breakable.edit("chat", "/spec/roles/0/image", "lab/next")
    await breakable.board.until(lambda: len(breakable.board.deleted(PODS)) == 2, what="the second replica leaves")
    first.kill()

    start_operator()
    await breakable.settled("chat")
    assert [ordinal(pod) for pod in breakable.board.deleted(PODS)] == [3, 2, 1, 0]
    assert [ordinal(pod) for pod in breakable.board.came(PODS)[4:]] == [3, 2, 1, 0]
    assert min(serving) == 3


async def test_a_creation_cut_by_a_crash_is_finished_without_doubles(breakable: World, start_operator: Start) -> None:
    first = start_operator()
    await first.leading()
    await breakable.create("chat", replicas=20)
    await breakable.board.until(lambda: len(breakable.board.came(PODS)) >= 3, what="three Pods are created")
    first.kill()

    start_operator()
    await breakable.settled("chat")
    assert sorted(ordinal(pod) for pod in breakable.board.came(PODS)) == list(range(20))
    assert breakable.board.deleted(PODS) == []
    assert len(breakable.board.came(WORKLOADS)) == 20
    await breakable.board.until(lambda: len(list(breakable.board.services.items())) == 2, what="its Services are there")


async def test_a_second_operator_waits_until_the_first_stops_or_dies(breakable: World, start_operator: Start) -> None:
    first = start_operator()
    await first.leading()
    second = start_operator()
    await second.ready()
    await breakable.create("chat", replicas=1)
    await breakable.settled("chat")
    assert (second.metric("modeldeployment_leader"), second.metric("modeldeployment_passes_total")) == (0, 0)

    assert await first.stop() == 0
    await second.leading()
    third = start_operator()
    await third.ready()
    await breakable.scale("chat", 2)
    await breakable.settled("chat")
    assert (third.metric("modeldeployment_leader"), third.metric("modeldeployment_passes_total")) == (0, 0)

    second.kill()
    await third.leading()
    await breakable.scale("chat", 3)
    await breakable.settled("chat")
    assert [ordinal(pod) for pod in breakable.board.came(PODS)] == [0, 1, 2]
    assert breakable.board.deleted(PODS) == []


async def test_a_new_operator_writes_nothing_where_all_is_settled(breakable: World, start_operator: Start) -> None:
    first = start_operator()
    await breakable.create("chat", replicas=3)
    await breakable.create("wide", replicas=2, size=2)
    await breakable.settled("chat")
    await breakable.settled("wide")
    assert await first.stop() == 0
    before = await _versions(breakable)

    second = start_operator()
    await second.leading()
    await second.until(lambda: second.metric("modeldeployment_passes_total") >= 2, "both deployments are looked at")
    await second.until(lambda: second.metric("modeldeployment_passes_busy") == 0, "the passes are over")
    assert second.writes() == {}
    assert await _versions(breakable) == before


@pytest.mark.parametrize("component", [Component.API_SERVER, Component.ETCD])
async def test_it_goes_on_by_itself_when_the_api_server_was_away(
    breakable: World, start_operator: Start, component: Component
) -> None:
    operator = start_operator()
    await breakable.create("chat", replicas=2)
    await breakable.settled("chat")
    kept = uids(breakable.board.all_pods("chat"))

    await asyncio.to_thread(breakable.control_plane.kill, component)
    if component is Component.API_SERVER:
        said = await operator.says("cannot watch")
        assert said["reason"].endswith("; going on by itself when the API server answers again")
        assert breakable.control_plane.server in said["reason"]
    await asyncio.to_thread(breakable.control_plane.restart, component)
    if component is Component.API_SERVER:
        await operator.says("watching again")
        assert len(operator.said("cannot watch")) == 1, operator.said("cannot watch")

    await breakable.scale("chat", 4)
    await breakable.settled("chat")
    assert breakable.board.deleted(PODS) == []
    assert set(kept) < set(uids(breakable.board.all_pods("chat")))
    assert all(restarts(pod) == 0 for pod in breakable.board.all_pods("chat"))
    assert operator.process.poll() is None


async def test_it_goes_on_by_itself_when_kueue_was_away(breakable: World, start_operator: Start) -> None:
    operator = start_operator()
    await breakable.create("chat", replicas=2)
    await breakable.settled("chat")

    await asyncio.to_thread(breakable.control_plane.kill, Component.KUEUE)
    await breakable.scale("chat", 4)
    await breakable.board.until(lambda: breakable.board.notes("ReplicaNotCreated"), what="the failure is said")
    (note,) = set(breakable.board.notes("ReplicaNotCreated"))
    assert note.startswith("2 of 2 Pods could not be created: ")
    await asyncio.to_thread(breakable.control_plane.restart, Component.KUEUE)

    await breakable.settled("chat")
    assert [ordinal(pod) for pod in breakable.board.came(PODS)][2:] in ([2, 3], [3, 2])
    assert breakable.board.deleted(PODS) == []
    assert operator.process.poll() is None


async def _versions(world: World) -> dict[str, str]:
    said = await world.kubectl(
        "get",
        "pods,services,workloads,modeldeployments,events.events.k8s.io",
        "-o",
        'jsonpath={range .items[*]}{.kind}/{.metadata.name}={.metadata.resourceVersion}{"\\n"}{end}',
    )
    return dict(line.rsplit("=", 1) for line in said.out.splitlines())
