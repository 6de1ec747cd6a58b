"""Groups of Pods in the fake world, rule by rule (facts kueue §4, control-plane §8)."""

import pytest
from model_worlds import furnished, gates, has, member, pod, workload
from modeldeployment.api import kueue
from modeldeployment.api.kueue import WorkloadCondition
from modeldeployment.kube import Invalid, ServerFailure
from modeldeployment.lab.model.kueue import words


def test_the_webhook_gates_a_pod_and_holds_it_with_a_finalizer() -> None:
    with furnished() as world:
        world.create(member())
        made = pod(world, "g-0")
        assert gates(made) == [kueue.ADMISSION_GATE, kueue.TOPOLOGY_GATE]
        assert made["metadata"]["finalizers"] == ["kueue.x-k8s.io/managed"]
        assert made["metadata"]["labels"]["kueue.x-k8s.io/managed"] == "true"


def test_a_group_name_without_a_total_is_refused() -> None:
    with furnished() as world:
        body = member()
        del body["metadata"]["annotations"]["kueue.x-k8s.io/pod-group-total-count"]
        with pytest.raises(Invalid):
            world.create(body)


def test_without_kueue_no_pod_can_be_created_and_deletions_hang() -> None:
    with furnished() as world:
        world.create(member())
        world.settle()
        world.kueue_runs = False
        with pytest.raises(ServerFailure, match=r"mpod\.kb\.io"):
            world.create(member("h"))
        world.delete("g-0", "Pod")
        world.delete("g", "Workload")
        world.settle()
        assert pod(world, "g-0")
        world.kueue_runs = True
        world.settle()
        assert not pod(world, "g-0")
        assert not workload(world)


def test_a_workload_is_composed_when_all_members_exist_and_is_owned_by_every_one() -> None:
    with furnished() as world:
        world.create(member(name="g-0", total=2))
        world.settle()
        assert not workload(world)
        world.create(member(name="g-1", total=2))
        world.settle()
        owners = workload(world)["metadata"]["ownerReferences"]
        assert [(each["kind"], each["name"], each.get("controller")) for each in owners] == [
            ("Pod", "g-0", None),
            ("Pod", "g-1", None),
        ]
        assert workload(world)["metadata"]["finalizers"] == [words.IN_USE]
        assert workload(world)["spec"]["podSets"][0]["name"] == "server"
        assert workload(world)["spec"]["podSets"][0]["count"] == 2


def test_an_admitted_group_runs_on_the_nodes_it_was_assigned() -> None:
    with furnished(cards=1, nodes=2) as world:
        for index in range(2):
            world.create(member(name=f"g-{index}", total=2))
        world.settle()
        assert {pod(world, f"g-{index}")["spec"]["nodeName"] for index in range(2)} == {
            "nvidia-a10g-0000",
            "nvidia-a10g-0001",
        }
        assert gates(pod(world, "g-0")) == []
        assert pod(world, "g-0")["metadata"]["labels"][words.POD_SET] == "server"


def test_a_deleted_member_of_a_group_of_one_stays_until_its_workload_goes() -> None:
    with furnished() as world:
        world.create(member())
        world.settle()
        world.delete("g-0", "Pod")
        world.settle()
        left = pod(world, "g-0")
        assert left["status"]["phase"] == "Failed"
        assert left["metadata"]["deletionGracePeriodSeconds"] == 0
        assert has(workload(world), WorkloadCondition.ADMITTED)
        assert has(workload(world), WorkloadCondition.WAITING_FOR_REPLACEMENT_PODS)
        world.delete("g", "Workload")
        world.settle()
        assert not pod(world, "g-0")
        assert not workload(world)


def test_a_replacement_for_a_dead_member_frees_it_and_runs_on_the_old_reservation() -> None:
    with furnished() as world:
        world.create(member())
        world.settle()
        uid = workload(world)["metadata"]["uid"]
        world.delete("g-0", "Pod")
        world.settle()
        world.create(member(name="g-1"))
        world.settle()
        assert not pod(world, "g-0")
        assert pod(world, "g-1")["status"]["phase"] == "Running"
        assert workload(world)["metadata"]["uid"] == uid
        assert [each["name"] for each in workload(world)["metadata"]["ownerReferences"]] == ["g-1"]


def test_a_replacement_beside_a_member_that_still_counts_is_taken_away_as_excess() -> None:
    with furnished() as world:
        world.create(member(notes={"lab/terminate-after": "10s"}))
        world.settle()
        world.delete("g-0", "Pod")
        world.create(member(name="g-1"))
        world.run(5)
        assert not pod(world, "g-1")
        assert pod(world, "g-0")["status"]["phase"] == "Running"


def test_one_member_too_many_of_a_gated_group_goes_the_newest_first() -> None:
    with furnished(cards=1) as world:
        for index in range(3):
            world.create(member(name=f"g-{index}", total=2))
        world.settle()
        assert pod(world, "g-0")
        assert pod(world, "g-1")
        assert not pod(world, "g-2")


def test_deleting_the_workload_stops_every_member_and_lets_all_go() -> None:
    with furnished() as world:
        for index in range(2):
            world.create(member(name=f"g-{index}", total=2))
        world.settle()
        world.delete("g", "Workload")
        world.settle()
        assert not workload(world)
        assert list(world.server.items("pods")) == []
        reasons = [
            each["reason"]
            for entry in world.story
            if entry.plural == "pods" and entry.by == "kueue" and entry.new
            for each in entry.new["status"].get("conditions", ())
            if each["type"] == words.TERMINATION_TARGET
        ]
        assert set(reasons) == {"WorkloadDeleted"}


def test_a_member_deleted_before_it_had_a_node_is_held_while_its_workload_waits() -> None:
    with furnished(cards=1) as world:
        world.quota("a10", 0)
        world.create(member())
        world.settle()
        world.delete("g-0", "Pod")
        world.settle()
        assert pod(world, "g-0")["status"]["phase"] == "Pending"
        world.delete("g", "Workload")
        world.settle()
        assert not pod(world, "g-0")


def test_members_without_gates_of_a_group_that_is_not_admitted_are_deleted() -> None:
    with furnished() as world:
        world.quota("a10", 0)
        world.create(member())
        world.settle()
        world.server.merge("pods", "g-0", world.namespace, {"spec": {"schedulingGates": None}}, by="x")
        world.run(1)
        assert "deletionTimestamp" in pod(world, "g-0")["metadata"]


def test_a_workload_whose_members_are_all_gone_is_let_go_and_collected() -> None:
    with furnished() as world:
        world.create(member())
        world.settle()
        world.server.merge("pods", "g-0", world.namespace, {"metadata": {"finalizers": None}}, by="x")
        world.delete("g-0", "Pod")
        world.settle()
        assert not workload(world)
        assert any(entry.by == "collector" and entry.plural == "workloads" for entry in world.story)


def test_an_uncounted_stranger_of_another_role_makes_the_group_be_composed_anew() -> None:
    with furnished() as world:
        world.create(member())
        world.settle()
        uid = workload(world)["metadata"]["uid"]
        world.server.merge(
            "pods", "g-0", world.namespace, {"metadata": {"annotations": {"kueue.x-k8s.io/role-hash": "other"}}}, by="x"
        )
        world.settle()
        assert (workload(world) or {"metadata": {"uid": ""}})["metadata"]["uid"] != uid
