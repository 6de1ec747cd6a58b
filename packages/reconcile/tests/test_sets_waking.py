"""What wakes a pass of set admission beside the common events, and what is remembered no longer than its object."""

from datetime import timedelta
from typing import Any

import msgspec
from modeldeployment.api import kueue
from modeldeployment.kube import Store, shapes
from modeldeployment.reconcile.opening import Opening
from sets_door import CHAT, TEAM, Rig
from sets_worlds import NOW


def gone(store: Store[Any], namespace: str, name: str) -> None:
    """Take an object out of a store, as a watch does that saw it go."""
    last = store.get(namespace, name)
    assert last is not None
    store.remove(last)


async def test_a_workload_that_is_gone_is_not_remembered() -> None:
    rig = Rig()
    rig.door.put({"metadata": {"name": "theirs", "uid": "pod-theirs"}}, "pods", seen=False)
    rig.workload("theirs", reserved=True)
    await rig.passes()
    assert rig.controller._foreign == {"uid-theirs"}
    gone(rig.watched.workloads, TEAM, "theirs")
    await rig.passes()
    assert rig.controller._foreign == set()
    assert rig.controller._groups._known == {}
    assert (rig.controller._wrote, rig.controller._spoke) == ({}, {})


async def test_a_workload_in_the_place_of_another_of_its_name_is_found_out_about_anew() -> None:
    rig = Rig()
    rig.door.put({"metadata": {"name": "theirs", "uid": "pod-theirs"}}, "pods", seen=False)
    rig.workload("theirs")
    await rig.passes()
    stored = rig.watched.workloads.get(TEAM, "theirs")
    assert stored is not None
    rig.watched.workloads.put(
        msgspec.structs.replace(
            stored, metadata=msgspec.structs.replace(stored.metadata, uid="uid-next", resource_version="900")
        )
    )
    await rig.passes()
    assert rig.controller._foreign == {"uid-next"}
    assert set(rig.controller._groups._known) == {"uid-next"}


async def test_a_change_after_our_own_write_wakes_although_it_reads_as_before() -> None:
    rig = Rig()
    rig.compose("prefill", reserved=True)
    await rig.passes()
    rig.controller._note_write("uid-chat-prefill", "150")
    stored = rig.watched.workloads.get(TEAM, "chat-prefill")
    assert stored is not None
    meta = msgspec.structs.replace(stored.metadata, resource_version="200")
    rig.watched.workloads.put(msgspec.structs.replace(stored, metadata=meta))
    assert "team/chat" in await rig.passes()
    again = msgspec.structs.replace(stored.metadata, resource_version="201")
    rig.watched.workloads.put(msgspec.structs.replace(stored, metadata=again))
    assert await rig.passes() == {}


async def test_sets_whose_queue_leads_somewhere_at_last_are_looked_at_for_circles() -> None:
    rig = Rig()
    gone(rig.watched.queues.local_queues, TEAM, "lq")
    rig.declare("young", "prefill", "decode", created=NOW)
    for name in ("chat", "young"):
        rig.compose("prefill", name, reserved=True)
        rig.compose("decode", name)
    await rig.passes()
    rig.now += timedelta(seconds=31)
    assert await rig.passes() == {}
    queue = {"metadata": {"name": "lq", "namespace": TEAM}, "spec": {"clusterQueue": "cq"}}
    rig.watched.queues.local_queues.put(msgspec.convert(queue, shapes.LocalQueue))
    await rig.passes()
    assert [rig.active(name) for name in ("chat-decode", "young-decode")] == [True, False]


async def test_a_deployment_that_went_while_somebody_else_answered_is_not_remembered() -> None:
    rig = Rig()
    await rig.passes()
    rig.controller.rest()
    gone(rig.watched.deployments, TEAM, "chat")
    rig.controller.begin()
    await rig.passes()
    assert rig.controller._roles._known == {}


async def test_a_check_that_becomes_ours_later_is_answered_too() -> None:
    rig = Rig("server")
    gone(rig.watched.queues.checks, "", kueue.JOINT_CHECK)
    rig.compose("server", reserved=True)
    await rig.passes()
    assert rig.door.asked == []
    check = {"metadata": {"name": kueue.JOINT_CHECK}, "spec": {"controllerName": kueue.JOINT_CONTROLLER}}
    rig.watched.queues.checks.put(msgspec.convert(check, shapes.AdmissionCheck))
    await rig.passes()
    assert rig.says("chat-server") == ("Ready", "a")


async def test_a_set_that_gave_way_comes_back_when_the_older_one_is_gone() -> None:
    rig = Rig()
    rig.declare("young", "prefill", "decode", created=NOW)
    for name in ("chat", "young"):
        rig.compose("prefill", name, reserved=True)
        rig.compose("decode", name)
    await rig.passes()
    rig.now += timedelta(seconds=30)
    rig.queue.add(CHAT)
    await rig.passes()
    assert not rig.active("young-prefill")
    gone(rig.watched.deployments, TEAM, "chat")
    await rig.passes()
    assert [rig.active(name) for name in ("young-prefill", "young-decode")] == [True, True]


async def test_an_edit_of_the_declared_count_is_judged_at_once() -> None:
    rig = Rig()
    for role in ("prefill", "decode"):
        rig.compose(role, reserved=True)
    rig.declare("chat", "prefill", "decode", "encode", edition=2)
    await rig.passes()
    assert rig.says("chat-prefill") == ("Pending", "")
    rig.declare("chat", "prefill", "decode", edition=3)
    await rig.passes()
    assert rig.says("chat-prefill") == ("Ready", "every")


async def test_sets_open_until_what_was_let_go_is_admitted_and_a_second_has_passed() -> None:
    rig = Rig()
    rig.compose("prefill", reserved=True)
    rig.compose("decode")
    await rig.passes()
    assert not rig.controller.opening()
    rig.workload("chat-decode", reserved=True)
    await rig.passes()
    rig.now += timedelta(seconds=10)
    assert rig.controller.opening()
    rig.workload("chat-prefill")
    assert rig.controller.opening()
    gone(rig.watched.workloads, TEAM, "chat-decode")
    assert not rig.controller.opening()


def test_what_was_let_go_a_moment_ago_is_likely_to_be_followed() -> None:
    opening = Opening()
    opening.let_go("a", NOW)
    opening.came("a")
    assert opening.lasts(NOW + timedelta(seconds=0.9))
    assert not opening.lasts(NOW + timedelta(seconds=1))


def test_a_workload_that_another_check_holds_is_not_on_its_way_for_longer_than_a_minute() -> None:
    opening = Opening()
    opening.let_go("a", NOW)
    assert opening.lasts(NOW + timedelta(seconds=59))
    assert not opening.lasts(NOW + timedelta(seconds=60))


async def test_a_held_set_that_is_told_why_is_not_opening() -> None:
    rig = Rig()
    rig.compose("prefill", reserved=True)
    rig.compose("decode")
    rig.now += timedelta(seconds=6)
    rig.queue.add(CHAT)
    await rig.passes()
    assert rig.says("chat-prefill") == ("Pending", "1")
    assert not rig.controller.opening()
