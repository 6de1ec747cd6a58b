"""Retirement by the real controllers in virtual time: each budget to its end, deaths, edits and losses on the way.

Source: facts reconcile §7, facts shutdown §2, decisions D39.
"""

import pytest
from model_retiring import (
    REPLICAS,
    STEPS,
    annotation,
    asks,
    between,
    left,
    reaches,
    retirement,
    shrinking,
    steps,
    told,
    whole,
)
from modeldeployment.api import keys
from modeldeployment.kube import Forbidden
from modeldeployment.kube.errors import Details
from modeldeployment.lab.model import World, Write

MALFORMED = (
    "server",
    "server:1",
    "server:1:",
    ":1:again",
    "server::again",
    "server:one:again",
    "server:-1:again",
    "server:+1:again",
    "server: 1:again",
    "server:1:again:more",
    "server/1/again",
    ":::",
)


# --- budgets ---


def test_an_engine_that_never_runs_empty_holds_its_replica_for_240_s_and_then_keeps_it() -> None:
    with World() as world:
        world.busy = True
        shrinking(world)
        world.settle(still=400)
        said = retirement(world)
        assert (said["state"], said["roleName"], said["replicaOrdinal"]) == ("Aborted", "server", 1)
        assert between(said, "phaseStartedAt", "deadline") == 240
        assert said["reason"] == (
            "drain took all of its time: engine runs 1 request; retained: 1 member, its Workload and their capacity"
        )
        assert steps(world) == ["nobody", "1 Admitted", "1 Disqualified", "1 Withdrawing", "1 Draining", "1 Aborted"]
        assert left(world) == []
        assert [(seat.ready, seat.eligible) for seat in world.outcome("chat").seats] == [(True, True)] * 2
        assert len(told(world, "RetirementAborted")) == 1


def test_routers_that_never_let_go_hold_a_replica_for_30_s_and_it_is_sent_requests_again() -> None:
    with World() as world:
        world.proves = False
        shrinking(world)
        reaches(world, "Disqualified")
        world.settle(still=400)
        said = retirement(world)
        assert said["state"] == "Aborted"
        assert between(said, "startedAt", "deadline") == between(said, "phaseStartedAt", "deadline") == 30
        assert said["reason"].startswith("withdrawal from routers took all of its time: ")
        assert (left(world), [seat.eligible for seat in world.outcome("chat").seats]) == ([], [True, True])


def test_a_label_that_cannot_be_taken_off_ends_with_the_30_s_of_the_withdrawal() -> None:
    def refuse(write: Write) -> None:
        if write.plural == "pods":
            raise Forbidden(403, "Forbidden", "pods is forbidden", Details())

    with World() as world:
        shrinking(world)
        assert world.process is not None
        world.process.client.before = refuse
        reaches(world, "Aborted")
        said = retirement(world)
        assert 30 <= between(said, "startedAt", "deadline") <= 60  # a pass that fails is tried again after a while
        assert said["reason"].startswith(
            "taking the eligibility label off took all of its time: a member still carries the eligibility label; "
        )
        assert steps(world) == ["nobody", "1 Admitted", "1 Aborted"]


def test_quota_that_is_not_freed_within_30_s_is_said_and_waited_for_without_end() -> None:
    with World() as world:
        shrinking(world)
        reaches(world, "Admitted")
        (workload,) = (
            each["metadata"]["name"]
            for each in world.server.items("workloads")
            if each["metadata"]["uid"] == retirement(world)["targetWorkloadUID"]
        )
        hold = {"metadata": {"finalizers": ["example.com/hold"]}}
        world.server.merge("workloads", workload, world.namespace, hold, by="somebody")
        reaches(world, "Settling")
        assert "longer" not in retirement(world)["reason"]
        world.settle(still=400)
        assert retirement(world)["reason"] == (
            "its Pods are gone; waiting for its Workload to release the quota, which has taken longer than 30 s: "
            "look at its finalizers"
        )
        world.server.merge("workloads", workload, world.namespace, {"metadata": {"finalizers": []}}, by="somebody")
        world.settle()
        assert (steps(world), left(world)) == (whole(1), [1])


def test_the_whole_is_over_300_s_after_it_began_whatever_it_was_doing_and_who_was_away() -> None:
    with World() as world:
        shrinking(world)
        began = reaches(world, "Draining")
        assert between(began, "startedAt", "deadline") == 300
        world.kill()
        world.run(400)
        world.start()
        reaches(world, "Aborted")
        assert retirement(world)["reason"].startswith("drain took all of its time")
        assert left(world) == []


@pytest.mark.parametrize("state", STEPS)
def test_who_follows_a_dead_operator_goes_on_with_the_time_that_was_left(state: str) -> None:
    with World() as world:
        world.busy = state == "Draining"
        shrinking(world)
        before = reaches(world, state)
        world.start()
        if state in STEPS[:4]:
            world.run(1)
            assert retirement(world)["startedAt"] == before["startedAt"]
            assert retirement(world)["deadline"] == before["deadline"]
        world.busy = False
        world.settle()
        assert (steps(world), left(world)) == (whole(1), [1])


def test_an_aborted_one_is_the_same_to_whoever_follows() -> None:
    with World() as world:
        world.busy = True
        shrinking(world)
        before = reaches(world, "Aborted")
        world.start()
        world.run(1000)
        assert retirement(world) == before
        assert left(world) == []


# --- retries ---


@pytest.mark.parametrize("wrong", MALFORMED)
def test_a_retry_that_is_malformed_is_told_of_and_stays(wrong: str) -> None:
    with World() as world:
        world.busy = True
        shrinking(world)
        before = reaches(world, "Aborted")
        asks(world, wrong)
        world.run(60)
        assert (retirement(world), annotation(world)) == (before, wrong)
        (note,) = told(world, "RetryRefused")
        assert note.endswith("which is not ROLE:ORDINAL:TOKEN; write it as such, with a token that was not used before")


@pytest.mark.parametrize("other", ["server:0:again", "client:1:again"])
def test_a_retry_of_another_replica_is_told_of_and_stays(other: str) -> None:
    with World() as world:
        world.busy = True
        shrinking(world)
        before = reaches(world, "Aborted")
        asks(world, other)
        world.run(60)
        assert (retirement(world), annotation(world)) == (before, other)
        (note,) = told(world, "RetryRefused")
        assert "no retirement of that replica was aborted" in note


def test_a_retry_counts_once_and_what_was_used_is_only_taken_off() -> None:
    with World() as world:
        world.busy = True
        shrinking(world)
        reaches(world, "Aborted")
        asks(world, "server:1:once")
        again = reaches(world, "Draining")
        assert (again["lastConsumedRetryToken"], annotation(world)) == ("once", None)
        second = reaches(world, "Aborted")
        asks(world, "server:1:once")
        world.run(60)
        assert (retirement(world), annotation(world)) == (second, None)
        world.busy = False
        asks(world, "server:1:twice")
        world.settle()
        assert (left(world), steps(world)[-1], annotation(world)) == ([1], "nobody", None)


def test_a_retry_that_comes_too_early_is_heeded_once_it_was_aborted() -> None:
    with World() as world:
        world.busy = True
        shrinking(world)
        reaches(world, "Draining")
        asks(world, "server:1:early")
        world.run(10)
        assert "it is heeded once it was aborted" in told(world, "RetryRefused")[0]
        reaches(world, "Aborted")
        world.run(10)
        assert (retirement(world)["lastConsumedRetryToken"], annotation(world)) == ("early", None)


# --- edits and losses on the way ---


def test_a_rollout_in_the_middle_waits_for_the_replica_that_leaves_and_comes_before_the_next() -> None:
    with World() as world:
        world.busy = True
        shrinking(world, replicas=3)
        reaches(world, "Draining")
        world.edit("chat", "/spec/roles/0/image", "lab/two")
        world.run(20)
        assert (retirement(world)["state"], left(world)) == ("Draining", [])
        world.busy = False
        world.settle()
        assert (steps(world), left(world)) == (whole(2, 1), [2, 0, 1])
        assert [seat.ordinal for seat in world.outcome("chat").seats] == ["0"]


@pytest.mark.parametrize("state", STEPS)
def test_a_deployment_that_is_deleted_in_any_state_goes_whole(state: str) -> None:
    with World() as world:
        world.busy = state == "Draining"
        shrinking(world, replicas=3)
        reaches(world, state)
        world.delete("chat")
        world.settle()
        assert (world.outcome("chat").exists, world.pods(), [*world.server.items("workloads")]) == (False, [], [])
        assert sorted(left(world)) == [0, 1, 2]


@pytest.mark.parametrize("state", STEPS[:4])
def test_a_replica_that_is_declared_again_before_its_delete_stays_as_it_is(state: str) -> None:
    with World() as world:
        world.busy = state == "Draining"
        shrinking(world)
        reaches(world, state)
        world.edit("chat", REPLICAS, 2)
        world.settle()
        assert (retirement(world), left(world)) == ({}, [])
        assert world.ever("pods") == (2, 0)
        assert [seat.eligible for seat in world.outcome("chat").seats] == [True, True]


@pytest.mark.parametrize("state", STEPS[4:])
def test_a_replica_that_is_declared_again_after_its_delete_is_followed_by_a_new_one(state: str) -> None:
    with World() as world:
        shrinking(world)
        reaches(world, state)
        world.edit("chat", REPLICAS, 2)
        world.settle()
        assert (retirement(world), left(world), world.ever("pods")) == ({}, [1], (3, 1))
        assert world.outcome("chat").phase == "Ready"


def test_a_replica_whose_node_is_lost_while_it_drains_is_not_missed_and_holds_nobody() -> None:
    with World() as world:
        world.busy = True
        shrinking(world)
        reaches(world, "Draining")
        (pod,) = (each for each in world.pods("chat") if each["metadata"]["labels"][keys.ORDINAL] == "1")
        world.delete(pod["spec"]["nodeName"], "Node")
        gone = reaches(world, "Aborted")
        assert "it was terminated from outside" in gone["reason"]
        world.busy = False
        world.settle()
        assert world.outcome("chat").phase == "Ready"
        world.edit("chat", REPLICAS, 2)
        world.settle()
        world.edit("chat", REPLICAS, 1)
        world.settle()
        assert (retirement(world), len(world.pods("chat"))) == ({}, 1)


def test_one_that_was_aborted_keeps_every_other_until_the_spec_asks_anew() -> None:
    with World() as world:
        world.busy = True
        shrinking(world, replicas=3, to=2)
        kept = reaches(world, "Aborted")
        assert (kept["roleName"], kept["replicaOrdinal"]) == ("server", 2)
        world.busy = False
        world.run(1000)
        assert (retirement(world), left(world)) == (kept, [])
        assert [role[:3] for role in world.outcome("chat").roles] == [("server", 2, 3)]
        world.edit("chat", REPLICAS, 1)
        world.settle()
        assert (retirement(world), left(world)) == ({}, [2, 1])


def test_a_replica_behind_one_that_was_aborted_is_held_and_both_are_told_of() -> None:
    with World() as world:
        world.busy = True
        shrinking(world, replicas=3)
        reaches(world, "Aborted")
        world.settle()
        notes = told(world, "RetirementHeld")
        assert [each for each in notes if each.startswith("replica server/1 stays: the retirement of server/2 was")]
        assert world.status("chat")["phaseMessage"] == "replica server/2 is retained, see status.retirement"
