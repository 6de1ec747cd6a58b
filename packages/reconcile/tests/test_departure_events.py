"""Which departure is said of a Pod: the first that matches, and each occurrence under its own name."""

import pytest
from modeldeployment.reconcile import Member
from modeldeployment.reconcile.deciding.announcing import departures
from reconcile_stories import running
from reconcile_worlds import decision, pod, snapshot


@pytest.mark.parametrize(
    ("member", "said"),
    [
        (pod(), []),
        (pod(restarts=2), [("ReplicaRestarted", "uid-chat-server-0-0/2")]),
        (pod(leaving=True), [("ReplicaLeaving", "uid-chat-server-0-0")]),
        (pod(evicted=True), [("ReplicaEvicted", "uid-chat-server-0-0")]),
        (pod(leaving=True, restarts=2), [("ReplicaLeaving", "uid-chat-server-0-0")]),
        (pod(evicted=True, leaving=True, restarts=2), [("ReplicaEvicted", "uid-chat-server-0-0")]),
    ],
    ids=["healthy", "restarted", "leaving", "evicted", "leaving-over-restarted", "evicted-over-all"],
)
def test_the_first_match_of_evicted_leaving_restarted_is_said(member: Member, said: list[tuple[str, str]]) -> None:
    assert [(each.reason, each.about) for each in departures([member])] == said


def test_every_pod_is_said_on_its_own() -> None:
    seen = snapshot(members=[pod(restarts=1), pod(ordinal=1, restarts=3)])
    assert [each.about for each in decision(seen).events] == ["uid-chat-server-0-0/1", "uid-chat-server-1-0/3"]


def test_another_restart_is_another_occurrence() -> None:
    assert departures([pod(restarts=1)])[0].about != departures([pod(restarts=2)])[0].about


def test_a_departure_is_named_the_same_on_every_pass() -> None:
    seen = snapshot(members=[pod(restarts=1), pod(ordinal=1)])
    assert decision(seen).events == decision(seen).events


def test_a_scale_down_says_each_leaving_pod_once_however_many_passes_see_it() -> None:
    world = running()
    world.pace = iter([0, 0, 0, *[None] * 50])
    assert world.edit(replicas=1).play().events == ["ReplicaLeaving"]
