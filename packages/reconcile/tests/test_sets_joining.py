"""The rim of set admission: whose a Workload is, what wakes a pass, what it writes, and in which order."""

from datetime import timedelta

from sets_door import CHAT, TEAM, Rig, Single
from sets_worlds import NOW


async def test_a_set_opens_with_one_write_a_workload_when_its_last_group_has_quota() -> None:
    rig = Rig()
    rig.compose("prefill", reserved=True)
    rig.compose("decode")
    await rig.passes()
    assert rig.door.asked == []
    rig.workload("chat-decode", reserved=True)
    await rig.passes()
    assert sorted(rig.door.asked) == ["PATCH workloads/chat-decode/status", "PATCH workloads/chat-prefill/status"]
    assert (rig.says("chat-prefill"), rig.says("chat-decode")) == (("Ready", "every"), ("Ready", "every"))


async def test_a_foreign_workload_costs_one_read_before_its_quota_comes_and_one_write_after() -> None:
    rig = Rig()
    rig.door.put({"metadata": {"name": "theirs", "uid": "pod-theirs"}}, "pods", seen=False)
    rig.workload("theirs")
    await rig.passes()
    assert rig.door.asked == ["GET pods/theirs"]
    rig.workload("theirs", reserved=True)
    await rig.passes()
    assert rig.door.asked == ["GET pods/theirs", "PATCH workloads/theirs/status"]
    assert rig.says("theirs") == ("Ready", "not")


async def test_a_workload_whose_pod_is_not_found_waits_and_is_read_again() -> None:
    rig = Rig()
    rig.workload("lost", reserved=True)
    assert (await rig.passes())["workload team/lost"] == 15.0
    assert rig.says("lost") == ("Pending", "whose")
    rig.door.put({"metadata": {"name": "lost", "uid": "pod-lost"}}, "pods", seen=False)
    rig.workload("lost", reserved=True)
    await rig.passes()
    assert rig.says("lost") == ("Ready", "not")


async def test_another_pod_of_the_same_name_tells_nothing() -> None:
    rig = Rig()
    rig.door.put({"metadata": {"name": "lost", "uid": "another"}}, "pods", seen=False)
    rig.workload("lost", reserved=True)
    await rig.passes()
    assert rig.says("lost") == ("Pending", "whose")


async def test_a_pod_of_ours_that_lost_its_label_still_counts_for_its_set() -> None:
    rig = Rig()
    rig.pod("prefill", seen=False)
    rig.workload("chat-prefill", reserved=True)
    rig.compose("decode", reserved=True)
    await rig.passes()
    assert rig.says("chat-prefill") == ("Pending", "")
    rig.pod("prefill")
    await rig.passes()
    assert rig.says("chat-prefill") == ("Ready", "every")


async def test_replicas_of_one_role_are_answered_each_for_itself() -> None:
    rig = Rig("server")
    rig.compose("server", reserved=True)
    woken = await rig.passes()
    assert "workload team/chat-server" in woken
    assert rig.says("chat-server") == ("Ready", "a")


async def test_a_held_set_speaks_after_a_while_and_parks_after_the_bound() -> None:
    rig = Rig()
    rig.compose("prefill", reserved=True)
    rig.compose("decode")
    assert (await rig.passes())["team/chat"] == 5.0
    rig.now += timedelta(seconds=5)
    rig.queue.add(CHAT)
    await rig.passes()
    assert rig.says("chat-prefill") == ("Pending", "1")
    rig.now = NOW + timedelta(minutes=30, seconds=1)
    rig.queue.add(CHAT)
    rig.door.asked.clear()
    await rig.passes()
    assert rig.door.asked == ["PATCH workloads/chat-prefill/status", "PATCH workloads/chat-prefill"]
    assert rig.says("chat-prefill") == ("Pending", "parked")
    assert (rig.active("chat-prefill"), rig.active("chat-decode")) == (False, True)
    assert (rig.controller.tally.parks, rig.controller.tally.yields) == (1, 0)


async def test_of_two_sets_that_block_each_other_the_younger_gives_way_and_comes_back() -> None:
    rig = Rig()
    rig.declare("young", "prefill", "decode", created=NOW)
    for name in ("chat", "young"):
        rig.compose("prefill", name, reserved=True)
        rig.compose("decode", name)
    await rig.passes()
    rig.now += timedelta(seconds=30)
    rig.queue.add(CHAT)
    await rig.passes()
    assert [rig.active(name) for name in ("chat-prefill", "chat-decode")] == [True, True]
    assert [rig.active(name) for name in ("young-prefill", "young-decode")] == [False, False]
    assert rig.says("young-decode") == ("Pending", "yielding")
    assert rig.controller.tally.yields == 1

    rig.declare("chat", "prefill", "decode", edition=2)
    await rig.passes()
    assert [rig.active(name) for name in ("young-prefill", "young-decode")] == [True, True]
    assert rig.controller.tally.reactivations == 2


async def test_a_workload_that_moved_on_is_left_alone_and_decided_again_soon() -> None:
    rig = Rig("server")
    await rig.passes()
    rig.pod("server")
    rig.workload("chat-server", reserved=True)
    rig.door.held["workloads", "chat-server"]["metadata"]["resourceVersion"] = "999"
    assert (await rig.passes())["workload team/chat-server"] == 0.1
    assert rig.says("chat-server") == ("Pending", "")
    assert (rig.controller.tally.late, rig.controller.tally.verdicts) == (1, {})


async def test_nothing_is_woken_before_it_begins_nor_while_it_rests() -> None:
    rig = Rig()
    await rig.passes()
    rig.controller.rest()
    rig.compose("prefill", reserved=True)
    rig.compose("decode", reserved=True)
    assert await rig.passes() == {}
    rig.controller.begin()
    await rig.passes()
    assert rig.says("chat-prefill") == ("Ready", "every")


async def test_a_workload_of_pods_of_two_sets_is_answered_by_neither_and_names_both() -> None:
    rig = Rig()
    rig.declare("other", "prefill", "decode")
    for name in ("chat", "other"):
        rig.compose("decode", name, reserved=True)
    rig.pod("prefill", "other")
    rig.pod("prefill")
    rig.workload("chat-prefill", "other-prefill", reserved=True)
    woken = await rig.passes()
    assert woken["workload team/chat-prefill"] == 15.0
    [entry] = rig.door.held["workloads", "chat-prefill"]["status"]["admissionChecks"]
    assert entry["state"] == "Pending"
    assert entry["message"].startswith("Pods of the deployments team/chat and team/other are part of this one Workload")
    assert (rig.says("chat-decode"), rig.says("other-decode")) == (("Pending", ""), ("Pending", ""))
    rig.door.asked.clear()
    rig.queue.add(Single(TEAM, "chat-prefill"))
    await rig.passes()
    assert rig.door.asked == []


async def test_a_pod_of_another_set_that_is_seen_late_takes_the_answer_from_both() -> None:
    rig = Rig()
    rig.declare("other", "prefill", "decode")
    rig.pod("prefill")
    rig.workload("chat-prefill", "other-prefill", reserved=True)
    await rig.passes()
    assert rig.says("chat-prefill") == ("Pending", "")
    rig.pod("prefill", "other")
    assert "workload team/chat-prefill" in await rig.passes()
    assert rig.says("chat-prefill") == ("Pending", "Pods")


async def test_a_workload_that_was_shared_is_its_sets_own_again_once_the_others_pod_is_gone() -> None:
    rig = Rig()
    rig.declare("other", "prefill", "decode")
    rig.pod("prefill", "other")
    rig.pod("prefill")
    rig.workload("chat-prefill", "other-prefill", reserved=True)
    rig.compose("decode", reserved=True)
    await rig.passes()
    assert rig.says("chat-decode") == ("Pending", "")
    gone = rig.watched.pods.get(TEAM, "other-prefill")
    assert gone is not None
    rig.watched.pods.remove(gone)
    rig.queue.add(CHAT)
    await rig.passes()
    assert (rig.says("chat-prefill"), rig.says("chat-decode")) == (("Ready", "every"), ("Ready", "every"))


async def test_a_workload_of_pods_of_two_deployments_that_nothing_holds_together_is_held_as_well() -> None:
    rig = Rig("server")
    rig.declare("other", "server")
    rig.pod("server", "other")
    rig.pod("server")
    rig.workload("chat-server", "other-server", reserved=True)
    await rig.passes()
    assert rig.says("chat-server") == ("Pending", "Pods")
