import pytest
from e2e_board import Board, admitted, ordinal, ready, uids
from e2e_worlds import WHOLE_PODS, MakeWorld, World, annotated_pods
from modeldeployment.kube.kinds import PODS, WORKLOADS
from modeldeployment.kube.shapes import Workload

pytestmark = pytest.mark.lab

IMAGE = "/spec/roles/0/image"


async def test_an_edit_turns_replicas_over_one_at_a_time_from_the_highest(world: World) -> None:
    await world.create("chat", replicas=3)
    await world.settled("chat")
    before = set(uids(world.board.all_pods("chat")))
    serving = world.board.follow(lambda: sum(map(ready, world.board.all_pods("chat"))))

    await world.edit("chat", IMAGE, "lab/next")
    await world.settled("chat")

    assert [ordinal(pod) for pod in world.board.deleted(PODS)] == [2, 1, 0]
    assert [ordinal(pod) for pod in world.board.came(PODS)[3:]] == [2, 1, 0]
    assert set(uids(world.board.deleted(PODS))) == before
    assert len(world.board.deleted(WORKLOADS)) == 3
    assert min(serving) == 2
    for members in world.board.replicas("chat").values():
        whole = await world.whole(WHOLE_PODS, members[0].metadata.name)
        assert whole["spec"]["containers"][0]["image"] == "lab/next"


async def test_an_edit_that_changes_no_pod_turns_nothing_over(world: World) -> None:
    await world.create("chat", replicas=2)
    await world.settled("chat")
    await world.edit("chat", "/metadata/labels", {"team": "a"})
    await world.edit("chat", "/spec/roles/0/imagePullSecrets", [])
    await world.settled("chat")
    assert world.board.deleted(PODS) == []


async def test_a_rollout_at_size_two_replaces_whole_replicas(world: World) -> None:
    await world.create("wide", replicas=2, size=2)
    await world.settled("wide")
    await world.edit("wide", "/spec/roles/0/extraArgs", ["--max-model-len=4096"])
    await world.settled("wide")
    assert [pod.metadata.name[-5:-3] for pod in world.board.deleted(PODS)] == ["r1", "r1", "r0", "r0"]
    assert len(world.board.came(PODS)) == 8


async def test_on_a_full_pool_a_rollout_waits_for_capacity(make_world: MakeWorld) -> None:
    world = await make_world(nodes=1)
    await world.create("chat", replicas=3, resources={"accelerator": 4})
    await world.board.until(lambda: world.board.says("chat", "QuotaReserved", "False", "Pending"), what="one waits")

    await world.edit("chat", IMAGE, "lab/next")
    held = "3 of 3 replicas differ from the spec; the next leaves once every declared replica of its role is admitted"
    await world.board.until(
        lambda: (
            world.board.says("chat", "ReplicasUpToDate", "False", "RolloutInProgress")
            and world.board.condition("chat", "ReplicasUpToDate")["message"] == held
        ),
        what="the rollout is held",
    )
    assert world.board.deleted(PODS) == []

    await make_world(nodes=1)
    await world.settled("chat")
    assert [ordinal(pod) for pod in world.board.deleted(PODS)] == [2, 1, 0]
    first = world.board.deleted(PODS)[0]
    assert len(_admissions_before(world.board, int(first.metadata.resource_version))) == 3


async def test_a_bad_image_holds_the_rollout_and_the_next_edit_mends_it(world: World) -> None:
    await world.create("chat", replicas=3)
    await world.settled("chat")
    serving = world.board.follow(lambda: sum(map(ready, world.board.all_pods("chat"))))
    survivors = [world.board.replicas("chat")[ordinal][0].metadata.uid for ordinal in (0, 1)]

    async with annotated_pods(world, "lab/bad", {"lab/never-ready": "true"}):
        await world.edit("chat", IMAGE, "lab/bad")
        held = "2 of 3 replicas differ from the spec; the next leaves once the replicas that match are ready"
        await world.board.until(
            lambda: world.board.condition("chat", "ReplicasUpToDate").get("message") == held, what="the rollout is held"
        )
        await world.board.until(
            lambda: all(admitted(world.board.workload_of(pod)) for pod in world.board.replicas("chat")[2]),
            what="the bad replica is admitted",
        )
        status = world.board.status("chat")
        assert (status["phase"], status["phaseMessage"]) == ("Degraded", "2 of 3 replicas ready")

    await world.edit("chat", IMAGE, "")
    await world.settled("chat")
    assert [world.board.replicas("chat")[ordinal][0].metadata.uid for ordinal in (0, 1)] == survivors
    assert [ordinal(pod) for pod in world.board.deleted(PODS)] == [2, 2]
    assert min(serving) == 2


def _admissions_before(board: Board, version: int) -> set[str]:
    """The Workloads whose admission was stored before a version; versions of all kinds come from one counter."""
    return {
        change.thing.metadata.uid
        for change in board.story
        if isinstance(change.new, Workload)
        and admitted(change.new)
        and int(change.new.metadata.resource_version) < version
    }
