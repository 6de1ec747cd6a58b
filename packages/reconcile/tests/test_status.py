"""The status a pass writes: phase, roles, conditions and their times, and nothing where nothing changed."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from modeldeployment.api import ModelDeployment, ModelDeploymentStatus, RoleKind
from modeldeployment.api.conditions import REASONS, ConditionStatus
from modeldeployment.reconcile import Member, PodPhase, Snapshot, Weights
from modeldeployment.reconcile.deciding import findings as found
from modeldeployment.reconcile.deciding import slots, status, turnover
from modeldeployment.render import Rendering
from reconcile_worlds import (
    NOW,
    composed,
    condition,
    decision,
    deployment,
    patched,
    pending,
    pod,
    rendering,
    replica,
    role,
    settled,
    snapshot,
    workload,
)


def written(seen: Snapshot) -> dict[str, Any]:
    """The whole status after a pass over the snapshot."""
    return patched(seen.status, decision(seen).status)


def role_entry(seen: Snapshot, place: int = 0) -> dict[str, Any]:
    """One entry of `status.roles[]` after a pass."""
    entry: dict[str, Any] = written(seen)["roles"][place]
    return entry


def up_to_date(seen: Snapshot) -> found.Finding:
    """The `ReplicasUpToDate` finding of a pass."""
    assert isinstance(seen.rendering, Rendering)
    roles = slots.of(seen.members, seen.workloads, seen.rendering.roles)
    return status.turnover_finding(roles, {each.name: turnover.of(each) for each in roles})


def test_what_an_artifact_is_resolved_to_replaces_what_it_was_before() -> None:
    first = settled(weights=Weights(True, {"artifact": "qwen", "manifestDigest": "sha256:0", "delivery": "Image"}))
    again = {"artifact": "qwen", "revision": "abc", "delivery": "Engine"}
    after = replace(first, weights=Weights(False, again))
    assert patched(after.status, decision(after).status)["model"] == again


def test_all_replicas_ready_is_ready_without_a_message() -> None:
    after = written(snapshot())
    assert (after["phase"], after.get("phaseMessage"), after["roleSummary"]) == ("Ready", None, "2S")


def test_some_replicas_ready_is_degraded_with_the_count() -> None:
    after = written(snapshot(members=[pod(), pod(ordinal=1, ready=False)]))
    assert (after["phase"], after["phaseMessage"]) == ("Degraded", "1 of 2 replicas ready")


def test_no_replica_ready_is_starting_with_the_message_of_the_quota() -> None:
    members = [pod(ready=False), pod(ordinal=1, ready=False)]
    seen = snapshot(members=members, workloads=[pending(each, because="no room") for each in members])
    after = written(seen)
    assert after["phase"] == "Starting"
    assert after["phaseMessage"] == condition(seen, "QuotaReserved")["message"]
    assert after["phaseMessage"].endswith("in queue entrance-a10: no room")


def test_a_message_that_no_longer_holds_is_taken_away() -> None:
    degraded = snapshot(members=[pod(), pod(ordinal=1, ready=False)])
    mended = replace(snapshot(), status=written(degraded))
    patch = decision(mended).status
    assert patch is not None
    assert (patch["phase"], patch["phaseMessage"]) == ("Ready", None)


def test_the_phase_judges_declared_ordinals_only() -> None:
    seen = snapshot(members=[pod(), pod(ordinal=1, ready=False), pod(ordinal=2)])
    assert written(seen)["phase"] == "Degraded"


def test_the_counts_of_all_roles_are_summed_before_the_phase_is_judged() -> None:
    of = deployment(roles=[role("first"), role("last")])
    wanted = rendering(of)
    members = [
        pod(wanted, role=name, ordinal=each, ready=name == "first") for name in ("first", "last") for each in (0, 1)
    ]
    after = written(snapshot(of, members))
    assert (after["phase"], after["phaseMessage"], after["roleSummary"]) == ("Degraded", "2 of 4 replicas ready", "2S")


def test_the_endpoint_is_the_deployments_own_service() -> None:
    assert written(snapshot())["endpoint"] == "http://chat.team.svc:8000"


def test_a_role_counts_replicas_and_not_pods() -> None:
    of = deployment(size=2)
    wanted = rendering(of)
    members = [*replica(wanted, 0), pod(wanted, ordinal=1), pod(wanted, ordinal=1, index=1, ready=False)]
    assert role_entry(snapshot(of, members)) == {
        "name": "server",
        "kind": "Server",
        "desired": 2,
        "ready": 1,
        "quotaReserved": 2,
        "unmanaged": False,
        "assignedFlavors": ["a10-flavor"],
        "parallelism": {"declared": {}, "loadBalance": "Internal", "source": {"kind": "ExtraArgs", "complete": True}},
        "endpoints": {"eligible": 1, "serving": {"state": "NotConfigured"}},
    }


def test_leaving_pods_are_neither_ready_nor_reserved() -> None:
    entry = role_entry(snapshot(members=[pod(), pod(ordinal=1, leaving=True)]))
    assert (entry["ready"], entry["quotaReserved"]) == (1, 1)


def test_nothing_reserved_is_an_observed_zero_without_flavors() -> None:
    members = [pod(ready=False), pod(ordinal=1, ready=False)]
    entry = role_entry(snapshot(members=members, workloads=[pending(each) for each in members]))
    assert entry["quotaReserved"] == 0
    assert "assignedFlavors" not in entry


def test_flavors_are_distinct_and_sorted() -> None:
    members = [pod(), pod(ordinal=1)]
    given = [workload(members[0], flavors=("z", "m")), workload(members[1], flavors=("a", "m"))]
    assert role_entry(snapshot(members=members, workloads=given))["assignedFlavors"] == ["a", "m", "z"]


def test_a_role_that_brings_its_own_command_is_unmanaged() -> None:
    assert role_entry(snapshot(deployment(roles=[role(command=["serve"])])))["unmanaged"] is True


@pytest.mark.parametrize(
    ("kinds", "summary"),
    [
        ((RoleKind.SERVER,), "2S"),
        ((RoleKind.DECODE, RoleKind.PREFILL), "0P2D"),
        ((RoleKind.PREFILL, RoleKind.PREFILL), "2P"),
        ((RoleKind.ENCODE, RoleKind.DECODE), "2E0D"),
    ],
)
def test_the_summary_shows_ready_replicas_by_kind_in_a_fixed_order(kinds: tuple[RoleKind, ...], summary: str) -> None:
    of = deployment(roles=[role(f"role-{place}") for place in range(len(kinds))])
    wanted = rendering(of)
    roles = [replace(each, kind=kind) for each, kind in zip(wanted.roles, kinds, strict=True)]
    members = [pod(wanted, role="role-0", ordinal=each) for each in (0, 1)]
    assert status.role_summary(slots.of(members, [], roles)) == summary


def test_every_kind_needs_a_ready_replica() -> None:
    assert condition(snapshot(), "RoleKindsReady")["reason"] == "AllKindsReady"
    bare = condition(snapshot(members=[pod(ready=False), pod(ordinal=1, ready=False)]), "RoleKindsReady")
    assert (bare["status"], bare["reason"]) == ("False", "KindsNotReady")
    assert "Server" in bare["message"]


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ([], found.RolloutNotObserved()),
        ([pod(), pod(ordinal=1)], found.UpToDate()),
        ([pod(), pod(ordinal=1, ready=False)], found.UpToDate()),
        ([pod()], found.ReplacementInProgress(1, 2)),
        ([pod(), pod(ordinal=1, phase=PodPhase.FAILED)], found.ReplacementInProgress(1, 2)),
        ([pod(), pod(ordinal=1, leaving=True)], found.ReplacementInProgress(1, 2)),
        ([pod(outdated=True), pod(ordinal=1)], found.RolloutInProgress(1, 2)),
        ([pod(outdated=True)], found.RolloutInProgress(1, 2)),
        ([pod(outdated=True), pod(ordinal=1, ready=False)], found.RolloutInProgress(1, 2, found.Held.FOR_READINESS)),
        ([pod(outdated=True), pod(ordinal=1), pod(ordinal=2, outdated=True)], found.RolloutInProgress(1, 2)),
    ],
)
def test_replicas_are_up_to_date_rolling_or_being_replaced(members: list[Member], expected: found.Finding) -> None:
    assert up_to_date(snapshot(members=members)) == expected


def test_a_rollout_that_the_guard_holds_says_what_for() -> None:
    members = [pod(outdated=True), pod(ordinal=1)]
    seen = snapshot(members=members, workloads=composed(members[:1]))
    assert up_to_date(seen) == found.RolloutInProgress(1, 2, found.Held.FOR_ADMISSION)


def test_a_settled_status_is_not_written_again() -> None:
    assert decision(settled(), NOW + timedelta(days=1)).status is None


def test_a_pass_patches_only_the_fields_that_changed() -> None:
    seen = replace(settled(), members=(pod(), pod(ordinal=1, ready=False)))
    patch = decision(seen).status
    assert patch is not None
    assert list(patch) == ["phase", "phaseMessage", "roles", "roleSummary"]


def test_a_conditions_time_moves_only_when_its_status_flips() -> None:
    later = NOW + timedelta(minutes=1)
    members = [pod(outdated=True), pod(ordinal=1)]
    rolling = replace(settled(), members=tuple(members))
    assert condition(rolling, "ReplicasUpToDate", later)["lastTransitionTime"] == "2030-01-01T12:01:00Z"
    assert condition(rolling, "QuotaReserved", later)["lastTransitionTime"] == "2030-01-01T12:00:00Z"
    more = replace(rolling, status=patched(rolling.status, decision(rolling, later).status))
    wider = replace(more, members=(members[0], pod(ordinal=1, outdated=True)))
    again = condition(wider, "ReplicasUpToDate", later + timedelta(minutes=1))
    assert (again["message"][:6], again["lastTransitionTime"]) == ("2 of 2", "2030-01-01T12:01:00Z")


def test_a_new_generation_is_recorded_without_moving_times() -> None:
    seen = replace(settled(), deployment=deployment(generation=2))
    rendered = condition(seen, "Rendered", NOW + timedelta(minutes=1))
    assert (rendered["observedGeneration"], rendered["lastTransitionTime"]) == (2, "2030-01-01T12:00:00Z")


def test_conditions_of_others_are_kept() -> None:
    foreign = {
        "type": "ElasticResize",
        "status": "True",
        "reason": "NoRefusal",
        "lastTransitionTime": "2029-01-01T00:00:00Z",
    }
    before = settled()
    mixed = {**before.status, "conditions": [foreign, *before.status["conditions"]]}  # type: ignore[misc]
    seen = replace(before, status=mixed)
    assert condition(seen, "ElasticResize") == foreign
    assert decision(replace(seen, status=written(seen))).status is None


def test_what_a_later_release_wrote_beside_ours_is_kept() -> None:
    later: dict[str, Any] = written(snapshot())
    later["forecast"] = {"replicas": 3}
    later["roles"][0] |= {"temperature": "41"}
    later["conditions"][0] |= {"severity": "Info"}
    half_ready = snapshot(members=[pod(), pod(ordinal=1, ready=False)])
    after: dict[str, Any] = patched(later, decision(replace(half_ready, status=later)).status)
    assert after["roles"][0]["ready"] == 1
    assert after["forecast"] == {"replicas": 3}
    assert after["roles"][0]["temperature"] == "41"
    assert after["conditions"][0]["severity"] == "Info"
    assert decision(replace(snapshot(), status=later)).status is None


@pytest.mark.parametrize("finding", found.CONDITIONS, ids=lambda each: each.__name__)
def test_every_finding_has_a_reason_that_its_condition_may_carry(finding: type[found.Finding]) -> None:
    kind, verdict, reason = found.CONDITIONS[finding]
    allowed = REASONS[kind][ConditionStatus(verdict)]
    own = finding in (found.RenderRefused, found.WeightsRefused, found.WeightsBlocked)
    assert reason in allowed or (own and reason is None)


def test_what_is_written_reads_back_as_the_status_of_the_api() -> None:
    seen = snapshot(members=[pod(), pod(ordinal=1, ready=False)])
    read = ModelDeploymentStatus.model_validate(written(seen))
    assert read.body() == written(seen)
    assert ModelDeployment.model_validate({"spec": seen.deployment.spec.body(), "status": written(seen)}).status == read
