"""Quota in the fake world, rule by rule (facts kueue §5 to §8, control-plane §8)."""

from model_worlds import active, answer, check, furnished, has, member, pod, priority, reserved, workload
from modeldeployment.api.kueue import WorkloadCondition
from modeldeployment.lab.model import World
from modeldeployment.lab.model import conditions as said


def _queue(world: World, **spec: object) -> None:
    world.server.merge("clusterqueues", "a10", "", {"spec": spec}, by="x")


def _pending(world: World, group: str = "g") -> tuple[str, str]:
    condition = said.of(workload(world, group), WorkloadCondition.QUOTA_RESERVED)
    return condition["status"], condition["reason"]


def test_what_fits_is_reserved_and_without_checks_admitted_in_the_same_write() -> None:
    with furnished() as world:
        world.create(member())
        world.settle()
        writes = [
            entry for entry in world.story if entry.plural == "workloads" and entry.new and entry.new.get("status")
        ]
        assert has(writes[0].new or {}, WorkloadCondition.QUOTA_RESERVED)
        assert has(writes[0].new or {}, WorkloadCondition.ADMITTED)


def test_a_card_costs_credits_and_nothing_else_is_charged() -> None:
    with furnished(cards=8) as world:
        world.create(member(cards=2))
        world.settle()
        (assigned,) = workload(world)["status"]["admission"]["podSetAssignments"]
        assert assigned["resourceUsage"] == {"credits.gpustack.ai/nvidia": "3200000"}
        assert assigned["flavors"] == {"credits.gpustack.ai/nvidia": "a10-8d"}


def test_what_does_not_fit_waits_and_says_what_is_short() -> None:
    with furnished() as world:
        world.quota("a10", 1)
        world.create(member(cards=2))
        world.settle()
        assert _pending(world) == ("False", "Pending")
        message = said.of(workload(world), WorkloadCondition.QUOTA_RESERVED)["message"]
        assert "insufficient unused quota for credits.gpustack.ai/nvidia in flavor a10-8d" in message


def test_quota_that_no_node_can_hold_gives_no_reservation() -> None:
    with furnished(cards=1, nodes=2) as world:
        world.create(member(cards=2))
        world.settle()
        assert reserved(world, "g") == []
        assert "doesn't allow to fit" in said.of(workload(world), WorkloadCondition.QUOTA_RESERVED)["message"]


def test_a_smaller_one_passes_a_head_that_does_not_fit_unless_the_queue_is_strict() -> None:
    for strategy, expected in (("BestEffortFIFO", ["small"]), ("StrictFIFO", [])):
        with furnished() as world:
            world.quota("a10", 1)
            _queue(world, queueingStrategy=strategy)
            world.create(member("big", cards=2))
            world.run(2)
            world.create(member("small"))
            world.settle()
            assert reserved(world, "big", "small") == expected


def test_the_queue_goes_by_priority_then_by_age() -> None:
    with furnished() as world:
        priority(world, "high", 10)
        world.quota("a10", 0)
        world.create(member("old"))
        world.run(2)
        world.create(member("young"))
        world.run(2)
        world.create(member("urgent", priorityClassName="high"))
        world.settle()
        for cards, expected in ((1, ["urgent"]), (2, ["old", "urgent"]), (3, ["old", "young", "urgent"])):
            world.quota("a10", cards)
            world.settle()
            assert reserved(world, "old", "young", "urgent") == expected


def test_a_queue_whose_check_is_inactive_admits_nobody() -> None:
    with furnished(checks=("gate",)) as world:
        world.create(member())
        world.settle()
        assert _pending(world) == ("False", "Inadmissible")
        assert said.of(world.server.get("clusterqueues", "a10"), "Active")["reason"] == "AdmissionCheckInactive"
        check(world)
        world.settle()
        assert reserved(world, "g") == ["g"]


def test_a_check_is_asked_and_its_answer_admits() -> None:
    with furnished(checks=("gate",)) as world:
        check(world)
        world.create(member())
        world.settle()
        (entry,) = workload(world)["status"]["admissionChecks"]
        assert (entry["name"], entry["state"]) == ("gate", "Pending")
        assert not has(workload(world), WorkloadCondition.ADMITTED)
        answer(world, "g", "Ready")
        world.settle()
        assert has(workload(world), WorkloadCondition.ADMITTED)
        assert pod(world, "g-0")["status"]["phase"] == "Running"


def test_a_retry_gives_the_reservation_back_and_takes_it_again_with_the_check_asked_anew() -> None:
    with furnished(checks=("gate",)) as world:
        check(world)
        world.create(member())
        world.settle()
        answer(world, "g", "Retry", message="not now")
        world.settle()
        (entry,) = workload(world)["status"]["admissionChecks"]
        assert (entry["state"], entry["retryCount"]) == ("Pending", 1)
        assert entry["message"] == "Reset to Pending after eviction. Previously: not now"
        assert reserved(world, "g") == ["g"]


def test_a_delayed_retry_keeps_the_reservation_until_then() -> None:
    with furnished(checks=("gate",)) as world:
        check(world)
        world.create(member())
        world.settle()
        answer(world, "g", "Retry", requeueAfterSeconds=5)
        began = world.clock.seconds
        world.run(4)
        assert reserved(world, "g") == ["g"]
        world.until(lambda: reserved(world, "g") == [])
        assert 4 < world.clock.seconds - began < 7


def test_a_rejection_switches_the_workload_off() -> None:
    with furnished(checks=("gate",)) as world:
        check(world)
        world.create(member())
        world.settle()
        answer(world, "g", "Rejected")
        world.settle()
        assert workload(world)["spec"]["active"] is False
        assert said.of(workload(world), WorkloadCondition.EVICTED)["reason"] == "DeactivatedDueToAdmissionCheck"


def test_switching_off_releases_quota_leaves_gated_pods_and_what_a_pending_check_says() -> None:
    with furnished(checks=("gate",)) as world:
        check(world)
        world.create(member())
        world.settle()
        answer(world, "g", "Pending", message="parked rather than held")
        active(world, "g", value=False)
        world.settle()
        assert reserved(world, "g") == []
        assert "deletionTimestamp" not in pod(world, "g-0")["metadata"]
        (entry,) = workload(world)["status"]["admissionChecks"]
        assert entry["message"] == "parked rather than held"
        active(world, "g", value=True)
        world.settle()
        assert reserved(world, "g") == ["g"]
        assert said.of(workload(world), WorkloadCondition.EVICTED)["message"].startswith("Previously: ")


def test_two_sets_that_hold_parts_of_one_quota_wait_until_the_younger_gives_way_whole() -> None:
    with furnished(checks=("gate",)) as world:
        check(world)
        world.quota("a10", 3)
        for name in ("a1", "b1", "a2", "b2", "a3", "b3"):
            world.create(member(name))
            world.run(1.2)
        world.settle()
        assert reserved(world, "a1", "a2", "a3", "b1", "b2", "b3") == ["a1", "a2", "b1"]
        active(world, "b1", value=False)
        world.settle()
        assert reserved(world, "a3", "b2") == ["b2"]
        for name in ("b2", "b3"):
            active(world, name, value=False)
        world.settle()
        assert reserved(world, "a1", "a2", "a3", "b1", "b2", "b3") == ["a1", "a2", "a3"]


def test_a_higher_priority_evicts_the_lowest_and_takes_its_place() -> None:
    with furnished() as world:
        priority(world, "high", 10)
        world.quota("a10", 1)
        _queue(world, preemption={"withinClusterQueue": "LowerPriority"})
        world.create(member("low"))
        world.settle()
        world.create(member("high", priorityClassName="high"))
        world.settle()
        assert reserved(world, "low", "high") == ["high"]
        low = workload(world, "low")
        assert said.of(low, WorkloadCondition.EVICTED)["reason"] == "Preempted"
        assert said.of(low, WorkloadCondition.PREEMPTED)["reason"] == "InClusterQueue"
        assert has(low, WorkloadCondition.REQUEUED)
        assert pod(world, "low-0")["status"]["phase"] == "Failed"
        assert pod(world, "high-0")["status"]["phase"] == "Running"


def _preempting(world: World, cards: int) -> None:
    """Let a Workload for so many cards outrank everybody."""
    priority(world, "high", 10)
    _queue(world, preemption={"withinClusterQueue": "LowerPriority"})
    world.create(member("high", cards=cards, priorityClassName="high"))
    world.settle()


def test_a_newer_one_whose_quota_would_not_do_is_spared() -> None:
    with furnished() as world:
        world.create(member("large", cards=6))
        world.run(2)
        world.create(member("small", cards=2))
        world.run(2)
        _preempting(world, 6)
        assert reserved(world, "large", "small", "high") == ["small", "high"]


def test_of_equals_whoever_got_its_quota_last_goes_first_whatever_its_age() -> None:
    with furnished() as world:
        world.quota("a10", 2)
        world.create(member("early", cards=4))
        world.run(2)
        world.create(member("late", cards=2))
        world.run(2)
        world.quota("a10", 6)
        world.run(2)
        _preempting(world, 2)
        assert reserved(world, "early", "late", "high") == ["late", "high"]


def test_without_a_rule_nobody_is_preempted() -> None:
    with furnished() as world:
        priority(world, "high", 10)
        world.quota("a10", 1)
        world.create(member("low"))
        world.settle()
        world.create(member("high", priorityClassName="high"))
        world.settle()
        assert reserved(world, "low", "high") == ["low"]


def test_a_cohort_lends_what_is_free_and_its_owner_takes_it_back() -> None:
    with furnished(cards=4) as world:
        world.fleet(maker="nvidia", nodes=1, cards=4, name="other", instance_type="b10", labels=(("x", "y"),))
        for queue in ("a10", "b10"):
            world.server.merge("clusterqueues", queue, "", {"spec": {"cohortName": "all"}}, by="x")
        _share_flavor(world)
        world.server.merge("clusterqueues", "b10", "", {"spec": {"preemption": {"reclaimWithinCohort": "Any"}}}, by="x")
        world.create(member("one", cards=2))
        world.run(2)
        world.create(member("two", cards=4))
        world.settle()
        assert reserved(world, "one", "two") == ["one", "two"]
        world.create(member("owner", cards=4, queue="b10"))
        world.settle()
        assert reserved(world, "one", "two", "owner") == ["one", "owner"]
        assert said.of(workload(world, "two"), WorkloadCondition.PREEMPTED)["reason"] == "InCohortReclamation"


def _share_flavor(world: World) -> None:
    """Let both queues give the first one's flavor, on all nodes."""
    flavor = {"spec": {"nodeLabels": {"kubernetes.io/os": "linux", "lab/instance-type": None, "lab/shape": None}}}
    world.server.merge("resourceflavors", "a10-4d", "", flavor, by="x")
    groups = world.server.get("clusterqueues", "a10")["spec"]["resourceGroups"]
    world.server.merge("clusterqueues", "b10", "", {"spec": {"resourceGroups": groups}}, by="x")


def test_a_hold_takes_mere_reservations_back_and_a_drain_takes_all() -> None:
    with furnished(checks=("gate",)) as world:
        check(world)
        for name in ("runs", "waits"):
            world.create(member(name))
        world.settle()
        answer(world, "runs", "Ready")
        world.settle()
        _queue(world, stopPolicy="Hold")
        world.settle()
        assert reserved(world, "runs", "waits") == ["runs"]
        _queue(world, stopPolicy="HoldAndDrain")
        world.settle()
        assert reserved(world, "runs", "waits") == []


def test_a_required_level_keeps_a_group_in_one_domain() -> None:
    with furnished(cards=1, nodes=8) as world:
        for index in range(4):
            notes = {"kueue.x-k8s.io/podset-required-topology": "lab/rack"}
            world.create(member(name=f"g-{index}", total=4, notes=notes))
        world.settle()
        nodes = {pod(world, f"g-{index}")["spec"]["nodeName"] for index in range(4)}
        racks = {world.server.get("nodes", name)["metadata"]["labels"]["lab/rack"] for name in nodes}
        assert len(nodes) == 4
        assert len(racks) == 1
