"""The order of a pass, and what goes before everything else (facts reconcile §3)."""

from dataclasses import replace
from datetime import timedelta

import pytest
from modeldeployment.api import ConditionType, InstanceType, Reason
from modeldeployment.reconcile import Advance, Answers, Blocked, Decision, Done, PodPhase, Snapshot, Wait, Weights
from modeldeployment.reconcile.deciding.passing import LATER
from modeldeployment.reconcile.deciding.steps import SOON, AddFinalizer, SetEligibility
from modeldeployment.render import WeightsRefusal
from reconcile_worlds import (
    NOW,
    condition,
    decision,
    deployment,
    instance_type,
    names,
    pod,
    refusal,
    rendering,
    replica,
    settled,
    snapshot,
    steps,
)


def refused(seen: Snapshot, *, retryable: bool = True) -> Snapshot:
    """The snapshot of a deployment that cannot be rendered."""
    return replace(seen, rendering=refusal(retryable=retryable))


def test_a_store_older_than_the_last_write_decides_nothing() -> None:
    seen = replace(snapshot(members=[]), stale=True)
    assert decision(seen) == Decision(Blocked(Wait.STALE_STORE, NOW + SOON))


def test_a_stale_store_holds_a_teardown_too() -> None:
    seen = replace(snapshot(deployment(deleted=True)), stale=True)
    assert decision(seen).next == Blocked(Wait.STALE_STORE, NOW + SOON)


def test_the_finalizer_comes_before_anything_else() -> None:
    seen = replace(
        snapshot(deployment(finalizers=("somebody/else",)), members=[], objects=[]),
        answers=Answers({"server": frozenset()}, names()),
    )
    assert [type(step).__name__ for step in steps(seen)] == [
        *("AddFinalizer", "CreateReplica", "CreateReplica"),
        *("CreateObject", "CreateObject"),
    ]


def test_a_finalizer_that_is_there_is_not_added_again() -> None:
    assert decision(settled()) == Decision(Done())


def test_a_pass_releases_then_deletes_then_creates_then_labels_then_fronts() -> None:
    wider = deployment(replicas=2)
    members = [pod(ordinal=0, eligible=False), pod(ordinal=1, leaving=True), pod(ordinal=2, phase=PodPhase.FAILED)]
    seen = replace(snapshot(wider, members, objects=[]), answers=Answers({}, names()))
    assert [type(step).__name__ for step in steps(seen)] == [
        *("DeleteWorkload", "DeletePod", "DeleteWorkload"),
        *("SetEligibility", "CreateObject", "CreateObject"),
    ]


def test_a_deployment_that_cannot_be_rendered_gets_its_finalizer_and_nothing_else() -> None:
    seen = refused(snapshot(deployment(finalizers=()), members=[], objects=[]))
    assert decision(seen).next == Advance((AddFinalizer(),))


def test_a_refused_render_leaves_running_replicas_alone_and_patches_that_one_condition() -> None:
    seen = settled()
    outcome = decision(refused(seen), NOW + timedelta(minutes=5))
    assert outcome.status is not None
    assert list(outcome.status) == ["conditions"]
    before = {each["type"]: each for each in seen.status["conditions"]}  # type: ignore[attr-defined]
    after = {each["type"]: each for each in outcome.status["conditions"]}  # type: ignore[attr-defined]
    assert list(after) == list(before)
    rendered = after.pop("Rendered")
    assert rendered == {
        "type": "Rendered",
        "status": "False",
        "reason": "InstanceTypeNotFound",
        "message": "no such InstanceType",
        "lastTransitionTime": "2030-01-01T12:05:00Z",
        "observedGeneration": 1,
    }
    assert after == {kind: each for kind, each in before.items() if kind != "Rendered"}


def test_a_refusal_that_the_cluster_can_mend_is_looked_at_later_and_any_other_waits_for_an_edit() -> None:
    assert decision(refused(snapshot())).next == Blocked(Wait.RENDER, NOW + LATER)
    assert decision(refused(snapshot(), retryable=False)).next == Blocked(Wait.RENDER)


def test_a_refusal_that_stands_writes_no_status_again() -> None:
    seen = refused(settled())
    first = decision(seen)
    assert first.status is not None
    again = replace(seen, status={**seen.status, **first.status})
    assert decision(again, NOW + timedelta(hours=1)).status is None


def test_a_render_that_works_again_flips_the_condition_back() -> None:
    seen = refused(settled())
    first = decision(seen)
    assert first.status is not None
    back = replace(settled(), status={**seen.status, **first.status})
    mended = condition(back, ConditionType.RENDERED, NOW + timedelta(minutes=1))
    assert (mended["status"], mended["lastTransitionTime"]) == ("True", "2030-01-01T12:01:00Z")


def test_a_refused_render_is_said_with_the_renderers_own_message() -> None:
    (event,) = decision(refused(snapshot())).events
    assert (event.reason, event.note) == ("RenderFailed", "no such InstanceType")
    assert event.about == "1/InstanceTypeNotFound/no such InstanceType"


def test_a_pass_speaks_of_every_axis_that_it_observes() -> None:
    kinds = [each["type"] for each in settled().status["conditions"]]  # type: ignore[attr-defined]
    assert kinds == [
        *("Rendered", "DomainRegistered", "WeightsReady", "QuotaReserved", "ReplicasUpToDate", "RoleKindsReady"),
        *("CacheAttached", "KVEventsPublishing", "EndpointEligibility", "RouterReady"),
    ]


@pytest.mark.parametrize(
    "kind", ["DomainRegistered", "WeightsReady", "CacheAttached", "KVEventsPublishing", "RouterReady"]
)
def test_what_a_plain_server_does_not_declare_is_not_applicable(kind: str) -> None:
    said = condition(settled(), kind)
    assert (said["status"], said["reason"]) == ("True", "NotApplicable")


def test_weights_that_keep_a_deployment_from_being_rendered_are_said_so_too() -> None:
    refused = WeightsRefusal(Reason.ARTIFACT_NOT_RESOLVED, "not yet", retryable=True)
    outcome = decision(replace(settled(), rendering=refused))
    assert outcome.status is not None
    said = {each["type"]: (each["status"], each["reason"], each["message"]) for each in outcome.status["conditions"]}  # type: ignore[attr-defined]
    assert said["Rendered"] == ("False", "WeightsNotReady", "not yet")
    assert said["WeightsReady"] == ("False", "ArtifactNotResolved", "not yet")
    assert outcome.next == Blocked(Wait.RENDER, NOW + LATER)


@pytest.mark.parametrize(
    ("mounted", "ready", "says"),
    [
        (True, True, ("True", "Mounted")),
        (True, False, ("False", "WeightsNotMounted")),
        (False, True, ("True", "Downloaded")),
        (False, False, ("False", "Downloading")),
    ],
)
def test_a_ready_replica_has_loaded_its_weights(mounted: bool, ready: bool, says: tuple[str, str]) -> None:
    seen = snapshot(
        members=[pod(ready=ready), pod(ordinal=1, ready=False)], weights=Weights(mounted, {"artifact": "qwen"})
    )
    said = condition(seen, "WeightsReady")
    assert (said["status"], said["reason"]) == says
    status = decision(seen).status
    assert status is not None
    assert status["model"] == {"artifact": "qwen"}


def test_a_lost_eligibility_label_is_put_back() -> None:
    seen = snapshot(members=[pod(eligible=False), pod(ordinal=1)])
    assert steps(seen) == (SetEligibility("chat-server-0-0", "uid-chat-server-0-0", True),)


def test_the_eligibility_label_is_taken_off_members_that_do_not_answer() -> None:
    of = deployment(replicas=1, size=2)
    leader, follower = replica(rendering(of), 0)
    seen = snapshot(of, [leader, replace(follower, eligible=True)])
    assert steps(seen) == (SetEligibility("chat-server-0-1", "uid-chat-server-0-1", False),)


def test_pods_that_leave_in_this_pass_or_already_are_not_labelled() -> None:
    members = [pod(), pod(ordinal=1), pod(ordinal=2, eligible=False), pod(ordinal=3, eligible=False, leaving=True)]
    assert not [step for step in steps(snapshot(members=members)) if isinstance(step, SetEligibility)]


def test_a_replica_that_rolls_in_this_pass_is_not_labelled() -> None:
    rolling = snapshot(members=[pod(), pod(ordinal=1, outdated=True, eligible=False)])
    assert [type(step).__name__ for step in steps(rolling)] == ["DeletePod", "DeleteWorkload"]


def test_runtime_versions_that_differ_are_said_and_keep_nothing_from_running() -> None:
    skewed: InstanceType = instance_type(runtime_versions=("12.8", "13.0"))
    of = deployment()
    engine = of.spec.engine.model_copy(update={"image": None, "version": "0.11.0"})
    of = of.model_copy(update={"spec": of.spec.model_copy(update={"engine": engine})})
    wanted = rendering(of, skewed)
    seen = snapshot(of, [pod(wanted, ordinal=each) for each in range(2)], types=(skewed,))
    outcome = decision(seen)
    assert outcome.next == Done()
    assert [(each.reason, each.about) for each in outcome.events] == [("RuntimeVersionSkew", "server/12.8/13.0")]
