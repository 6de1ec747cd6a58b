"""The shared cache: what is told of it, and that its loss replaces no replica (facts reconcile §4.4, decisions D30)."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from modeldeployment.reconcile import Answers, Attachment, Blocked, Done, PodPhase, Snapshot, Wait
from modeldeployment.reconcile.deciding.steps import CreateReplica, DeletePod
from modeldeployment.render import Domain
from reconcile_worlds import (
    ECHO,
    NOW,
    STORE,
    condition,
    decision,
    deployment,
    patched,
    pod,
    proven,
    rendering,
    settled,
    snapshot,
    steps,
)

CACHED = deployment(kv_cache="share")
ATTACHED = Attachment(Domain.REGISTERED, ECHO, connected=True)
LOST = Attachment(Domain.NOT_READY, ECHO)


def attached(**fields: Any) -> Snapshot:
    """A settled deployment whose replicas are connected to its cache."""
    return settled(CACHED, store=STORE, cache=ATTACHED, **fields)


def lost(seen: Snapshot, cache: Attachment = LOST) -> Snapshot:
    """The same deployment in a pass that can render no connection."""
    return replace(seen, cache=cache, rendering=rendering(CACHED))


def told(seen: Snapshot, kind: str) -> tuple[str, str]:
    """Status and reason of a condition."""
    found = condition(seen, kind)
    return found["status"], found["reason"]


@pytest.mark.parametrize(
    ("cache", "says", "words"),
    [
        (ATTACHED, ("True", "Registered"), "binding share is ready"),
        (Attachment(Domain.REGISTERED, ECHO), ("True", "Registered"), "its pool"),
        (Attachment(Domain.NOT_FOUND), ("False", "BindingNotFound"), "create it"),
        (LOST, ("False", "BindingNotReady"), "grants no quota yet"),
        (Attachment(Domain.DELETING, ECHO), ("False", "BindingDeleting"), "go on writing"),
        (
            Attachment(Domain.REGISTERED, ECHO, unreadable="pool big: odd"),
            ("False", "BindingNotReady"),
            "pool big: odd",
        ),
        (
            Attachment(Domain.DELETING, ECHO, unreadable="pool big: odd"),
            ("False", "BindingDeleting"),
            "is being deleted",
        ),
    ],
)
def test_what_can_be_said_of_the_domain(cache: Attachment, says: tuple[str, str], words: str) -> None:
    seen = snapshot(CACHED, cache=cache)
    assert told(seen, "DomainRegistered") == says
    assert words in condition(seen, "DomainRegistered")["message"]


@pytest.mark.parametrize("cache", [Attachment(Domain.NOT_FOUND), LOST, Attachment(Domain.DELETING, ECHO)])
def test_a_cache_that_cannot_be_used_keeps_nothing_from_running(cache: Attachment) -> None:
    assert decision(settled(CACHED, cache=cache)).next == Done()


def test_the_binding_is_echoed_as_soon_as_it_can_be_read_and_kept_when_it_vanishes() -> None:
    seen = snapshot(CACHED, cache=LOST)
    status = patched(seen.status, decision(seen).status)
    assert status["kvCache"] == ECHO
    gone = replace(seen, status=status, cache=Attachment(Domain.NOT_FOUND))
    assert patched(status, decision(gone).status)["kvCache"] == ECHO


def test_a_binding_that_was_never_there_is_not_echoed() -> None:
    seen = snapshot(CACHED, cache=Attachment(Domain.NOT_FOUND))
    assert "kvCache" not in patched(seen.status, decision(seen).status)


def test_the_pods_of_a_connected_deployment_differ_from_those_without_a_connection() -> None:
    with_it, without = rendering(CACHED, store=STORE).roles[0].template, rendering(CACHED).roles[0].template
    assert with_it.digest != without.digest


def test_a_lost_connection_replaces_nobody_and_says_so() -> None:
    seen = lost(attached())
    outcome = decision(seen)
    assert outcome.next == Blocked(Wait.CACHE)
    assert told(seen, "ReplicasUpToDate") == ("False", "RolloutHeldByCache")
    assert patched(seen.status, outcome.status)["phase"] == "Ready"


def test_a_pass_that_holds_is_settled_too() -> None:
    first = lost(attached())
    again = replace(first, status=patched(first.status, decision(first).status))
    outcome = decision(again, NOW + timedelta(hours=1))
    assert (outcome.status, outcome.next) == (None, Blocked(Wait.CACHE))


def test_an_edit_of_the_pods_waits_for_the_cache_too() -> None:
    edited = deployment(kv_cache="share", image="engine:2")
    seen = replace(lost(attached()), deployment=edited, rendering=rendering(edited))
    assert decision(seen).next == Blocked(Wait.CACHE)


def test_an_ordinal_that_is_missing_is_created_without_the_connection() -> None:
    wider = deployment(replicas=3, kv_cache="share")
    seen = replace(lost(attached()), deployment=wider, rendering=rendering(wider))
    seen = replace(seen, answers=Answers({"server": frozenset()}))
    assert steps(seen) == (CreateReplica("server", 2),)
    assert told(seen, "ReplicasUpToDate") == ("False", "RolloutHeldByCache")


def test_a_scale_down_goes_on_while_the_cache_is_lost() -> None:
    narrower = deployment(replicas=1, kv_cache="share")
    seen = replace(lost(attached()), deployment=narrower, rendering=rendering(narrower))
    assert [each.name for each in steps(proven(seen)) if isinstance(each, DeletePod)] == ["chat-server-1-0"]


def test_a_replica_that_can_never_serve_again_is_replaced_while_the_cache_is_lost() -> None:
    connected = rendering(CACHED, store=STORE)
    members = (pod(connected), pod(connected, ordinal=1, phase=PodPhase.FAILED))
    seen = replace(lost(attached()), members=members)
    assert [each.name for each in steps(seen) if isinstance(each, DeletePod)] == ["chat-server-1-0"]


def test_a_connection_that_comes_back_ends_the_hold_without_replacing_anybody() -> None:
    held = lost(attached())
    back = replace(attached(), status=patched(held.status, decision(held).status))
    assert decision(back).next == Done()
    assert told(back, "ReplicasUpToDate") == ("True", "UpToDate")


def test_another_store_rolls_out_one_by_one() -> None:
    moved = replace(STORE, master="other.kv.svc:50051")
    seen = replace(attached(), rendering=rendering(CACHED, store=moved))
    assert [each.name for each in steps(seen) if isinstance(each, DeletePod)] == ["chat-server-1-0"]


def test_a_deployment_that_never_recorded_a_domain_rolls_as_any_other() -> None:
    edited = deployment(kv_cache="share", image="engine:2")
    before = settled(CACHED, cache=Attachment(Domain.NOT_FOUND))
    seen = replace(before, deployment=edited, rendering=rendering(edited))
    assert [each.name for each in steps(seen) if isinstance(each, DeletePod)] == ["chat-server-1-0"]
    assert told(seen, "ReplicasUpToDate") == ("False", "RolloutInProgress")
