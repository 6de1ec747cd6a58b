"""The retirement of a deployment in a pass: what it reserves, labels, deletes, asks and says (facts reconcile §7)."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import msgspec
import pytest
from modeldeployment.api import EngineName, RoleKind, RouterName, keys
from modeldeployment.kube import shapes
from modeldeployment.reconcile import Advance, Blocked, Decision, Done, PodPhase, Snapshot, Wait, observing
from modeldeployment.reconcile.deciding import lasting, pacing
from modeldeployment.reconcile.deciding.steps import DeletePod, DeleteWorkload, SetEligibility, TakeOffRetry
from modeldeployment.reconcile.retiring.evidence import Evidence, Leg, Stage
from modeldeployment.router.withdrawal import Verdict
from reconcile_stories import running
from reconcile_worlds import (
    NOW,
    condition,
    decision,
    deployment,
    pair,
    patched,
    pod,
    proven,
    refusal,
    rendering,
    role,
    settled,
    snapshot,
    steps,
    workload,
)

WIDE = rendering(deployment(replicas=4))


def shrunk(replicas: int = 1, stands: int = 2, **fields: Any) -> Snapshot:
    """A settled deployment of so many replicas, of which so many stand."""
    of = deployment(replicas=stands)
    before = settled(of)
    narrower = deployment(replicas=replicas, generation=2)
    return replace(before, deployment=narrower, rendering=rendering(narrower), **fields)


def told(seen: Snapshot, outcome: Decision) -> Snapshot:
    """The snapshot once the store shows what the pass wrote to status."""
    return replace(seen, status=patched(patched(seen.status, outcome.retirement), outcome.status))


def held(outcome: Decision) -> dict[str, Any]:
    """What the pass writes of the retirement."""
    assert outcome.retirement is not None
    kept = outcome.retirement["retirement"]
    assert isinstance(kept, dict)
    return kept


def aborted(seen: Snapshot, **fields: Any) -> Snapshot:
    """The snapshot whose first intent was reserved and given up."""
    kept = held(decision(seen)) | {"state": "Aborted", "reason": "drain took all of its time", **fields}
    return replace(seen, status={**seen.status, "retirement": kept})


def test_a_scale_down_reserves_the_highest_ordinal_and_deletes_nothing() -> None:
    outcome = decision(shrunk(1, 3))
    kept = held(outcome)
    assert (kept["roleName"], kept["replicaOrdinal"], kept["state"]) == ("server", 2, "Admitted")
    assert kept["targetMemberUIDs"] == ["uid-chat-server-2-0"]
    assert kept["targetWorkloadUID"].startswith("wl-")
    assert (kept["observedGeneration"], kept["startedAt"]) == (2, "2030-01-01T12:00:00Z")
    assert (kept["deadline"], kept["phaseStartedAt"]) == ("2030-01-01T12:05:00Z", "2030-01-01T12:00:00Z")
    assert not [each for each in steps(shrunk(1, 3)) if isinstance(each, DeletePod | DeleteWorkload)]


def test_the_label_goes_first_and_from_the_target_alone() -> None:
    assert steps(shrunk()) == (SetEligibility("chat-server-1-0", "uid-chat-server-1-0", eligible=False),)


def test_the_reservation_is_a_patch_of_its_own_field_and_status_does_not_repeat_it() -> None:
    outcome = decision(shrunk())
    assert list(outcome.retirement or {}) == ["retirement"]
    assert "retirement" not in (outcome.status or {})


def test_what_is_cleared_is_written_as_null() -> None:
    seen = proven(shrunk())
    gone = {**seen.status["retirement"], "state": "Settling"}  # type: ignore[dict-item]
    left = replace(seen, members=seen.members[:1], workloads=seen.workloads[:1], status={"retirement": gone})
    assert decision(left).retirement == {"retirement": None}


def test_a_pass_that_changes_nothing_writes_nothing_of_it() -> None:
    seen = replace(proven(shrunk()), evidence=None)
    then = told(seen, decision(seen))
    assert decision(then, NOW + timedelta(seconds=5)).retirement is None


def test_an_operation_under_way_is_looked_at_when_its_time_is_spent() -> None:
    seen = told(shrunk(), decision(shrunk()))
    waits = decision(replace(seen, members=tuple(replace(each, eligible=each.ordinal == 0) for each in seen.members)))
    assert isinstance(waits.next, Blocked)
    assert (waits.next.on, waits.next.until) == (Wait.RETIREMENT, NOW + timedelta(seconds=30))


def test_both_proofs_delete_pods_and_workload_by_uid() -> None:
    outcome = steps(proven(shrunk()))
    assert [type(each).__name__ for each in outcome] == ["DeletePod", "DeleteWorkload"]
    assert isinstance(outcome[0], DeletePod)
    assert outcome[0].uid == "uid-chat-server-1-0"


def test_a_delete_is_asked_for_again_while_the_pod_stands_and_only_then() -> None:
    seen = proven(shrunk())
    deleting = {**seen.status["retirement"], "state": "Deleting"}  # type: ignore[dict-item]
    seen = replace(seen, status={"retirement": deleting}, evidence=None)
    assert [type(each).__name__ for each in steps(seen)] == ["DeletePod", "DeleteWorkload"]
    leaving = replace(seen.members[1], leaving=True, ready=False)
    released = replace(seen.workloads[1], leaving=True)
    waits = decision(replace(seen, members=(seen.members[0], leaving), workloads=(seen.workloads[0], released)))
    assert waits.next == Blocked(Wait.RETIREMENT, NOW + timedelta(seconds=2))


def test_a_workload_that_also_owns_a_pod_that_stays_is_left_alone() -> None:
    seen = shrunk()
    both = workload(*seen.members, name="both")
    going = steps(proven(replace(seen, workloads=(both,))))
    assert [type(each).__name__ for each in going] == ["DeletePod"]


def test_what_is_asked_names_the_members_and_whom_to_ask() -> None:
    seen = told(shrunk(), decision(shrunk()))
    seen = replace(seen, members=tuple(replace(each, eligible=each.ordinal == 0) for each in seen.members))
    inquiry = decision(seen).inquiry
    assert inquiry is not None
    assert (inquiry.members, inquiry.answering) == (frozenset({"uid-chat-server-1-0"}),) * 2
    assert (inquiry.kind, inquiry.engine, inquiry.router) == (RoleKind.SERVER, EngineName.VLLM, None)
    assert (inquiry.port, inquiry.stage, inquiry.since) == (8000, Stage.WITHDRAWING, NOW)


def test_of_a_replica_of_two_pods_only_the_leader_is_asked() -> None:
    wide = settled(deployment(replicas=2, size=2))
    narrower = deployment(replicas=1, size=2, generation=2)
    seen = proven(replace(wide, deployment=narrower, rendering=rendering(narrower)))
    inquiry = decision(replace(seen, evidence=None)).inquiry
    assert inquiry is not None
    assert inquiry.members == {"uid-chat-server-1-0", "uid-chat-server-1-1"}
    assert inquiry.answering == {"uid-chat-server-1-0"}


def test_nothing_is_asked_while_nothing_retires() -> None:
    assert decision(settled()).inquiry is None


def test_an_eligible_replica_is_one_that_does_not_retire() -> None:
    def eligible(seen: Snapshot) -> int:
        roles: Any = patched(seen.status, decision(seen).status)["roles"]
        return int(roles[0]["endpoints"]["eligible"])

    assert eligible(settled()) == 2
    assert eligible(replace(proven(shrunk(1, 3)), evidence=None)) == 2
    assert eligible(aborted(shrunk(1, 3))) == 3


def test_while_it_is_held_a_replica_is_still_counted() -> None:
    seen = shrunk()
    roles: Any = patched(seen.status, decision(seen).status)["roles"]
    assert (roles[0]["desired"], roles[0]["ready"]) == (1, 2)


def test_what_is_retained_gets_its_label_back_and_is_told_of() -> None:
    seen = aborted(shrunk())
    off = replace(seen, members=tuple(replace(each, eligible=each.ordinal == 0) for each in seen.members))
    outcome = decision(off)
    assert steps(off) == (SetEligibility("chat-server-1-0", "uid-chat-server-1-0", eligible=True),)
    assert outcome.inquiry is not None
    assert outcome.inquiry.stage is Stage.RESTORING
    assert (outcome.status or {})["phaseMessage"] == "replica server/1 is retained, see status.retirement"
    (said,) = outcome.events
    assert (said.reason, said.note) == (
        "RetirementAborted",
        "retirement of replica server/1 was aborted: drain took all of its time",
    )


def test_what_is_retained_waits_for_nothing_by_itself() -> None:
    seen = aborted(shrunk())
    outcome = decision(told(seen, decision(seen)))
    assert outcome.next == Blocked(Wait.RETIREMENT, None)
    assert lasting.lasting(told(seen, decision(seen)), outcome) is not None


def test_a_decision_that_moves_a_retirement_does_not_last() -> None:
    outcome = decision(shrunk())
    assert lasting.lasting(shrunk(), replace(outcome, next=Done(), status=None)) is None


def test_a_second_removal_is_refused_while_one_is_retained_and_told_of() -> None:
    seen = aborted(shrunk(1, 3))
    outcome = decision(seen)
    notes = {each.reason.value: each.note for each in outcome.events}
    assert notes["RetirementHeld"].startswith("replica server/1 stays: the retirement of server/2 was aborted")
    assert not [each for each in steps(proven(shrunk(1, 3))) if getattr(each, "uid", "") == "uid-chat-server-1-0"]


def test_of_many_that_are_held_alike_the_first_is_told_of() -> None:
    outcome = decision(aborted(shrunk(1, 6)))
    notes = [each.note for each in outcome.events if each.reason == "RetirementHeld"]
    assert [note.split(" stays")[0] for note in notes] == ["replica server/4"]


def test_a_replica_that_waits_its_turn_is_no_news() -> None:
    seen = told(shrunk(1, 3), decision(shrunk(1, 3)))
    assert [each.reason.value for each in decision(seen).events] == []


def test_a_scale_up_again_adopts_the_replica_that_was_given_up() -> None:
    world = running(deployment(replicas=2))
    before = world.uids()
    world.witness = False
    world.edit(replicas=1).play()
    assert world.status["retirement"]["state"] == "Disqualified"  # type: ignore[index]
    world.witness = True
    story = world.edit(replicas=2).play()
    assert story.retired == ["server/1 Aborted", "nobody"]
    assert story.steps == ["label server/1"]
    assert world.uids() == before
    assert story.waits[-1] == "done"


def test_a_scale_up_in_the_middle_of_a_delete_fills_the_place_only_when_the_operation_is_over() -> None:
    world = running(deployment(replicas=2))
    going = world.uids()[1]
    story = world.edit(replicas=1).live(5)
    assert story.retired[-1] == "server/1 Deleting"
    story = world.edit(replicas=2).play()
    assert story.retired[-1] == "nobody"
    assert story.steps[-1] == "create server/1"
    assert going not in world.uids()


def test_an_operation_whose_replica_is_lost_is_told_and_holds_nothing() -> None:
    world = running(deployment(replicas=2))
    world.witness = False
    world.edit(replicas=1).play()
    world.cluster.delete(world.uids()[1])
    story = world.play()
    assert story.retired == ["server/1 Aborted"]
    assert world.status["retirement"]["reason"].endswith("nothing is held")  # type: ignore[index]
    assert len(world.uids()) == 1


def test_a_replica_that_was_never_ready_leaves_without_evidence() -> None:
    world = running(deployment(replicas=1))
    world.cluster.starts = False
    world.edit(replicas=2).play()
    world.witness = False
    story = world.edit(replicas=1).play()
    assert story.retired[-1] == "nobody"
    assert len(world.uids()) == 1


@pytest.mark.parametrize(
    ("phase", "started", "restarts", "untouched"),
    [
        ("Pending", None, 0, True),
        ("Running", False, 0, True),
        ("Running", False, 1, False),
        ("Running", True, 0, False),
        ("Running", None, 0, False),
    ],
)
def test_a_pod_is_untouched_until_its_engine_passes_its_start_up_gate_for_the_first_time(
    phase: str, started: bool | None, restarts: int, untouched: bool
) -> None:
    container = {"name": "engine", "started": started, "restartCount": restarts}
    body = {"metadata": {"name": "p", "uid": "p"}, "status": {"phase": phase, "containerStatuses": [container]}}
    seen = observing.member(msgspec.json.decode(msgspec.json.encode(body), type=shapes.Pod))
    assert seen.untouched is untouched


def test_the_last_worker_that_a_router_has_of_a_kind_stays_and_says_why() -> None:
    behind = replace(shrunk(), deployment=deployment(replicas=1, generation=2, router="vllm-router"))
    behind = replace(behind, members=(replace(behind.members[0], ready=False), behind.members[1]))
    outcome = decision(behind)
    assert outcome.retirement is None
    assert [each.reason.value for each in outcome.events] == ["RetirementHeld"]
    assert "it is the last worker of its kind" in str((outcome.status or {})["phaseMessage"])
    ready = replace(behind, members=(replace(behind.members[0], ready=True), behind.members[1]))
    assert held(decision(ready))["replicaOrdinal"] == 1


def test_without_a_router_the_last_ready_replica_may_leave() -> None:
    seen = shrunk()
    alone = replace(seen, members=(replace(seen.members[0], ready=False), seen.members[1]))
    assert held(decision(alone))["replicaOrdinal"] == 1


def test_a_half_of_a_pair_waits_out_the_grace_of_its_role() -> None:
    before = snapshot(pair(replicas=2))
    roles = [role("prefill", kind="Prefill", replicas=2), role("decode", kind="Decode", replicas=1)]
    roles[1]["terminationGracePeriodSeconds"] = 45
    narrower = deployment(roles=roles, router="llm-d-router", generation=2)
    seen = proven(replace(before, deployment=narrower, rendering=rendering(narrower)))
    early = decision(seen, NOW + timedelta(seconds=44))
    assert "handoff window of 45 s" in held(early)["reason"]
    assert held(decision(seen, NOW + timedelta(seconds=45)))["state"] == "Deleting"
    waiting = decision(replace(seen, evidence=None)).inquiry
    assert waiting is not None
    assert (waiting.kind, waiting.router) == (RoleKind.DECODE, RouterName.LLM_D)


def test_a_deployment_that_cannot_be_rendered_any_more_gives_its_retirement_up() -> None:
    outcome = decision(replace(proven(shrunk()), rendering=refusal()))
    assert held(outcome)["state"] == "Aborted"
    assert "cannot be rendered" in held(outcome)["reason"]
    assert isinstance(outcome.next, Advance)
    assert outcome.next.steps == (SetEligibility("chat-server-1-0", "uid-chat-server-1-0", eligible=True),)


def test_a_deployment_that_is_deleted_takes_no_notice_of_its_retirement() -> None:
    seen = proven(shrunk())
    outcome = decision(replace(seen, deployment=deployment(replicas=1, deleted=True)))
    assert (outcome.retirement, outcome.inquiry) == (None, None)


def test_a_reservation_that_cannot_be_read_is_none_and_is_taken_away() -> None:
    broken: dict[str, object] = {"roleName": "server", "replicaOrdinal": "first", "state": "Deleting"}
    seen = settled()
    outcome = decision(replace(seen, status={**seen.status, "retirement": broken}))
    assert (outcome.retirement, outcome.next) == ({"retirement": None}, Done())


def retried(seen: Snapshot, value: str) -> Snapshot:
    """The snapshot whose deployment carries the annotation."""
    meta = seen.deployment.metadata.model_copy(update={"annotations": {keys.RETIREMENT_RETRY: value}})
    return replace(seen, deployment=seen.deployment.model_copy(update={"metadata": meta}))


def test_a_retry_is_stored_first_and_the_annotation_goes_in_the_next_pass() -> None:
    seen = retried(aborted(shrunk()), "server:1:again")
    first = decision(seen)
    assert (held(first)["state"], held(first)["lastConsumedRetryToken"]) == ("Admitted", "again")
    assert TakeOffRetry() not in steps(seen)
    assert TakeOffRetry() in steps(told(seen, first))


def test_a_retry_that_is_not_heeded_stays_and_is_told_of_once() -> None:
    for value in ("server:1", "server:0:t", "other:1:t"):
        outcome = decision(retried(aborted(shrunk()), value))
        assert [each.note for each in outcome.events if each.reason == "RetryRefused"]
        assert outcome.retirement is None


def test_a_retry_without_a_retirement_is_told_of() -> None:
    outcome = decision(retried(settled(), "server:1:t"))
    assert [each.reason.value for each in outcome.events] == ["RetryRefused"]
    assert outcome.next == Done()


def test_a_retirement_that_only_waits_for_something_else_now_may_rest_a_moment() -> None:
    seen = told(shrunk(), decision(shrunk()))
    kept: Any = seen.status["retirement"]
    assert pacing.same_step(seen.status, {"retirement": {**kept, "reason": "another"}})
    assert not pacing.same_step(seen.status, {"retirement": {**kept, "state": "Draining"}})
    assert not pacing.same_step(seen.status, {"retirement": None})
    assert not pacing.same_step({}, {"retirement": kept})


def test_surplus_that_became_what_is_declared_is_kept() -> None:
    members = (pod(ordinal=0), pod(ordinal=1), pod(ordinal=1, name="a", uid="a", ready=False))
    seen = snapshot(members=members)
    kept = held(decision(seen))
    assert kept["targetMemberUIDs"] == ["uid-chat-server-1-0"] or kept["targetMemberUIDs"] == ["a"]
    lost = tuple(each for each in members if each.uid not in kept["targetMemberUIDs"])
    spared = replace(seen, members=lost, workloads=(workload(*lost),), status={"retirement": kept})
    assert held(decision(spared))["state"] == "Aborted"


def test_a_terminal_target_is_left_to_the_ordinary_way() -> None:
    seen = proven(shrunk())
    over = replace(seen, members=(seen.members[0], replace(seen.members[1], phase=PodPhase.FAILED, ready=False)))
    assert held(decision(over))["state"] == "Aborted"
    assert [type(each).__name__ for each in steps(over)] == ["DeletePod", "DeleteWorkload"]


def test_an_account_of_idleness_alone_deletes_nothing() -> None:
    waiting = Leg(Verdict.WAITING, "router chat-router-1 lists it")
    seen = proven(shrunk())
    assert seen.evidence is not None
    said = Evidence(seen.evidence.members, waiting, Leg(Verdict.PROVEN, ""))
    outcome = decision(replace(seen, evidence=said))
    assert held(outcome)["reason"] == "waiting until it runs empty: router chat-router-1 lists it"
    assert isinstance(outcome.next, Blocked)


def test_up_to_date_is_said_of_what_is_declared() -> None:
    assert condition(shrunk(), "ReplicasUpToDate")["reason"] == "UpToDate"
