"""Why a replica does not serve: for each cause the chain of codes, on which object each is read, and what it says."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from modeldeployment.reconcile import Member, PodPhase, Queue, Snapshot, Workload
from modeldeployment.reconcile.explaining import chains, sentences
from modeldeployment.reconcile.explaining.links import Link, Why
from modeldeployment.reconcile.explaining.picture import (
    Check,
    Flavor,
    Lease,
    Picture,
    PodDetails,
    QueueDetails,
    WorkloadDetails,
)
from modeldeployment.reconcile.sets.counting import Count
from reconcile_worlds import (
    deployment,
    pair,
    pending,
    pod,
    refusal,
    rendering,
    replica,
    role,
    settled,
    snapshot,
    workload,
)

OURS = "gpustack-model-deployment-joint"
LED = {"entrance-a10": Queue("a10")}
ROOM = {"a10": QueueDetails("a10", flavors=(Flavor("a10-flavor", Fraction(6), Fraction(2), "cards"),))}


def one(*members: Member, workloads: tuple[Workload, ...] | None = None, **fields: Any) -> Picture:
    """A deployment of one replica, as given."""
    fields = {"queues": LED, **fields}
    return Picture(snapshot(deployment(replicas=1), members, workloads, status=looked_at(), **fields), queues=ROOM)


def looked_at(generation: int = 1) -> dict[str, object]:
    """A status that judges the present spec."""
    return {"conditions": [{"type": "Rendered", "status": "True", "observedGeneration": generation}]}


def links(picture: Picture, name: str = "server/0") -> tuple[Link, ...]:
    """The chain of one replica; none where it serves."""
    return next((each.links for each in chains.explain(picture).waiting if each.name == name), ())


def codes(picture: Picture, name: str = "server/0") -> list[Why]:
    """The codes of that chain."""
    return [link.why for link in links(picture, name)]


def said(picture: Picture, name: str = "server/0") -> list[str]:
    """Its sentences."""
    return [sentences.of(link) for link in links(picture, name)]


def starting(**fields: Any) -> Member:
    """The Pod of `server/0`, admitted and not ready."""
    return pod(rendering(deployment(replicas=1)), ready=False, **fields)


def test_what_serves_is_not_explained() -> None:
    told = chains.explain(Picture(settled(queues=LED), queues=ROOM))
    assert told.serving
    assert told.waiting == ()
    assert told.whole == ()


def test_what_waits_for_quota_says_what_kueue_says_and_what_is_free_beside_what_it_asks_for() -> None:
    member = starting(node="")
    picture = one(member, workloads=(pending(member, because="couldn't assign flavors to pod set server"),))
    assert codes(picture) == [Why.UNRESERVED, Why.FREE]
    where = f"Workload {member.group} in LocalQueue entrance-a10"
    assert said(picture) == [
        f"server/0 has no quota: {where}: couldn't assign flavors to pod set server",
        "ClusterQueue a10, flavor a10-flavor, has 4 of 6 cards free; server/0 asks for 1 card",
    ]


def test_a_replica_that_is_larger_than_its_queue_never_fits() -> None:
    wide = deployment(roles=[role(replicas=1, size=8)])
    members = replica(rendering(wide), 0, ready=False)
    seen = snapshot(wide, members, (pending(*members),), status=looked_at(), queues=LED)
    assert codes(Picture(seen, queues=ROOM)) == [Why.UNRESERVED, Why.FREE, Why.NEVER_FITS]
    shared = {"a10": replace(ROOM["a10"], cohort="all")}
    assert codes(Picture(seen, queues=shared)) == [Why.UNRESERVED, Why.FREE]


def test_a_queue_that_admits_nothing_is_named_with_its_own_reason_and_its_figures_are_not() -> None:
    member = starting()
    stopped = {"a10": replace(ROOM["a10"], active=False, because="Stopped: is stopped")}
    picture = replace(one(member, workloads=(pending(member),)), queues=stopped)
    assert codes(picture) == [Why.UNRESERVED, Why.QUEUE_INACTIVE]
    assert said(picture)[1] == "ClusterQueue a10 admits nothing: Stopped: is stopped"


def test_a_queue_that_leads_to_nothing_says_so() -> None:
    member = starting()
    gone = {"a10": QueueDetails("a10", there=False)}
    picture = replace(one(member, workloads=(pending(member),)), queues=gone)
    assert said(picture)[1] == "ClusterQueue a10 does not exist"


@pytest.mark.parametrize(
    ("led", "expected"),
    [
        ({"entrance-a10": Queue("")}, [Why.NO_WORKLOAD, Why.NO_LOCAL_QUEUE]),
        (LED, [Why.NO_WORKLOAD]),
        ({}, [Why.NO_WORKLOAD]),
    ],
)
def test_pods_without_a_workload_say_whether_their_queue_is_there(
    led: Mapping[str, Queue], expected: list[Why]
) -> None:
    assert codes(one(starting(), workloads=(), queues=led)) == expected


def test_a_replica_that_lost_its_quota_says_to_whom_and_goes_on_with_what_it_waits_for() -> None:
    member = starting()
    lost = pending(member, preempted=True)
    told = {lost.uid: WorkloadDetails(evicted="Preempted to accommodate a workload (UID: 7)")}
    picture = replace(one(member, workloads=(lost,)), workloads=told)
    assert codes(picture) == [Why.PREEMPTED, Why.UNRESERVED, Why.FREE]
    assert said(picture)[0] == "server/0 lost its quota: Preempted to accommodate a workload (UID: 7)"


def test_an_eviction_for_another_reason_is_told_as_kueue_tells_it() -> None:
    member = starting()
    lost = pending(member)
    told = {lost.uid: WorkloadDetails(evicted="Workload was evicted as there was no replacement for a failed node: n1")}
    assert codes(replace(one(member, workloads=(lost,)), workloads=told)) == [Why.EVICTED, Why.UNRESERVED, Why.FREE]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"active": False, "parked": True}, Why.PARKED),
        ({"active": False, "yields_to": "team/older"}, Why.YIELDING),
        ({"active": False}, Why.STOPPED),
    ],
)
def test_a_workload_that_queues_no_more_says_who_took_it_out(fields: dict[str, Any], expected: Why) -> None:
    member = starting()
    assert codes(one(member, workloads=(pending(member, **fields),))) == [expected]


def test_a_workload_that_kueue_stopped_says_what_kueue_says() -> None:
    member = starting()
    stopped = pending(member, active=False)
    told = {stopped.uid: WorkloadDetails(evicted="exceeded the maximum number of re-queuing retries")}
    (sentence,) = said(replace(one(member, workloads=(stopped,)), workloads=told))
    assert sentence == (
        f"server/0 is stopped: spec.active of Workload {stopped.name} is false, and set admission did not do it: "
        "exceeded the maximum number of re-queuing retries"
    )


def held(check: Check, count: Count | None = None) -> Picture:
    """A pair whose decoder holds quota and whose prefill half does not."""
    of = pair()
    wanted = rendering(of)
    prefill = pod(wanted, role="prefill", ready=False)
    decode = pod(wanted, role="decode", ready=False)
    reserved = workload(decode, admitted=False)
    groups = (pending(prefill, because="insufficient unused quota"), reserved)
    seen = snapshot(of, (prefill, decode), groups, status=looked_at(), queues=LED)
    details = {reserved.uid: WorkloadDetails((check,))}
    return Picture(seen, queues=ROOM, workloads=details, count=count, ours=frozenset({OURS}))


def test_what_waits_for_its_set_goes_on_with_what_the_set_waits_for() -> None:
    picture = held(Check(OURS, "Pending"), Count(2, 1, ("prefill",), (), ()))
    assert codes(picture, "decode/0") == [Why.HELD, Why.UNRESERVED, Why.FREE]
    assert said(picture, "decode/0")[0] == (
        "decode/0 holds quota and waits for its set: 1 of 2 replicas hold theirs; role prefill waits"
    )
    assert said(picture, "decode/0")[1].startswith("prefill/0 has no quota: ")
    assert codes(picture, "prefill/0") == [Why.UNRESERVED, Why.FREE]


def test_another_check_is_named_with_its_state_and_message() -> None:
    picture = held(Check("provisioning", "Retry", "no such machine"))
    assert said(picture, "decode/0") == [
        "decode/0 holds quota and waits for the check provisioning, which is Retry: no such machine"
    ]


def test_what_every_check_let_through_waits_for_kueue_alone() -> None:
    assert codes(held(Check(OURS, "Ready")), "decode/0") == [Why.ADMITTING]


@pytest.mark.parametrize(
    ("details", "expected"),
    [
        (PodDetails(gates=("kueue.x-k8s.io/topology",)), "still gated by kueue.x-k8s.io/topology"),
        (PodDetails(unscheduled="0/3 nodes are available"), "is not scheduled: 0/3 nodes are available"),
        (PodDetails(node_ready=False), "runs on node node-1, which is not Ready"),
        (PodDetails(waiting=("engine waits: ImagePullBackOff",)), "container engine waits: ImagePullBackOff"),
        (PodDetails(node_ready=True), "is Pending and not ready yet"),
    ],
)
def test_what_is_admitted_is_followed_to_its_pod(details: PodDetails, expected: str) -> None:
    member = starting(phase=PodPhase.PENDING)
    (sentence,) = said(replace(one(member), pods={member.uid: details}))
    assert sentence.endswith(expected)


def test_a_pod_that_restarts_says_how_often() -> None:
    assert said(one(starting(restarts=3))) == ["Pod chat-server-0-0 of server/0 is not ready and has restarted 3 times"]


def test_members_of_which_the_same_is_true_are_one_fact() -> None:
    wide = deployment(roles=[role(replicas=1, size=4)])
    members = (*replica(rendering(wide), 0, ready=False)[:3], replica(rendering(wide), 0)[3])
    picture = Picture(snapshot(wide, members, status=looked_at(), queues=LED))
    assert said(picture) == [
        "Pod chat-server-0-0, one of 3 alike, of server/0 is Running and not ready yet",
    ]


def test_a_slot_that_nothing_holds_has_no_pod_yet() -> None:
    assert codes(one()) == [Why.NOT_CREATED]


def test_a_slot_waits_for_the_pod_that_leaves_it_and_says_whose_finalizer_holds_that() -> None:
    member = starting(leaving=True)
    picture = replace(one(member, workloads=()), pods={member.uid: PodDetails(finalizers=("kueue.x-k8s.io/managed",))})
    assert codes(picture) == [Why.LEAVING]
    assert said(picture) == [
        "server/0 waits for Pod chat-server-0-0 to go, which is leaving and held by kueue.x-k8s.io/managed"
    ]
    assert codes(one(member)) == [Why.LEAVING, Why.STRANDED]


def test_a_replica_that_lost_a_member_is_replaced_whole() -> None:
    wide = deployment(roles=[role(replicas=1, size=2)])
    seen = snapshot(wide, replica(rendering(wide), 0)[:1], status=looked_at())
    assert said(Picture(seen)) == ["server/0 has 1 of 2 Pods and is replaced whole"]


def test_a_replica_whose_containers_ended_for_good_says_so() -> None:
    assert codes(one(starting(phase=PodPhase.FAILED))) == [Why.ENDED]


# --- of the whole deployment ---


def whole(seen: Snapshot, **fields: Any) -> list[Why]:
    """What holds a deployment whole."""
    return [link.why for link in chains.explain(Picture(seen, **fields)).whole]


def test_what_cannot_be_rendered_says_the_renderer_s_own_words() -> None:
    seen = replace(snapshot(status=looked_at()), rendering=refusal())
    (link,) = chains.explain(Picture(seen)).whole
    assert sentences.of(link) == "chat cannot be rendered: no such InstanceType"


def test_what_a_person_may_not_read_is_not_told_as_refused() -> None:
    seen = replace(snapshot(status=looked_at()), rendering=refusal())
    assert whole(seen, blind="you may not read instancetypes") == [Why.NOT_RENDERED_HERE]


def test_a_status_that_judges_an_older_spec_says_so_and_whether_an_operator_is_there() -> None:
    seen = snapshot(deployment(generation=2), status=looked_at(1))
    assert whole(seen) == [Why.STATUS_OLD]
    assert whole(seen, lease=Lease("default/modeldeployment-operator", "a", live=True)) == [Why.STATUS_OLD]
    nobody = Lease("default/modeldeployment-operator")
    assert whole(seen, lease=nobody) == [Why.STATUS_OLD, Why.NO_OPERATOR]
    assert whole(snapshot(status=looked_at()), lease=nobody) == []
    assert whole(snapshot(deployment(deleted=True)), lease=nobody) == [Why.DELETING, Why.NO_OPERATOR]


def test_a_deployment_on_its_way_out_says_what_is_left_and_who_holds_it() -> None:
    seen = snapshot(deployment(deleted=True), status=looked_at())
    uid = seen.members[0].uid
    told = chains.explain(Picture(seen, pods={uid: PodDetails(finalizers=("example.org/keep",))}))
    assert [sentences.of(link) for link in told.whole] == [
        "chat is being deleted, 2 Pods left; Pod chat-server-0-0 is held by example.org/keep"
    ]
    assert told.waiting == ()


def test_a_rollout_that_waits_for_admission_says_how_many_are_admitted() -> None:
    of = deployment()
    wanted = rendering(of)
    old, new = pod(wanted, ordinal=0, outdated=True), pod(wanted, ordinal=1, ready=False)
    seen = snapshot(of, (old, new), (workload(old), pending(new)), status=looked_at())
    told = chains.explain(Picture(seen))
    assert [link.why for link in told.whole] == [Why.TURN_AWAITS_ADMISSION]
    assert sentences.of(told.whole[0]).endswith("once all 2 are admitted, 1 are")


def test_a_rollout_that_waits_for_readiness_says_so() -> None:
    of = deployment()
    wanted = rendering(of)
    old, new = pod(wanted, ordinal=0, outdated=True), pod(wanted, ordinal=1, ready=False)
    assert whole(snapshot(of, (old, new), status=looked_at())) == [Why.TURN_AWAITS_READINESS]


def test_a_router_that_is_not_ready_holds_the_deployment() -> None:
    of = pair()
    routerless = [each for each in snapshot(of).objects if each.kind != "Deployment"]
    assert whole(snapshot(of, objects=routerless, status=looked_at())) == [Why.ROUTER_NOT_READY]


def test_a_queue_that_does_not_hold_the_set_together_is_named_where_there_is_a_set() -> None:
    unchecked = {"entrance-a10": Queue("a10", checked=False)}
    assert whole(snapshot(pair(), status=looked_at(), queues=unchecked)) == [Why.QUEUE_UNCHECKED]
    assert whole(snapshot(status=looked_at(), queues=unchecked)) == []
    missing = {"entrance-a10": Queue("typo", checked=False, missing=True)}
    assert Why.QUEUE_UNCHECKED not in whole(snapshot(pair(), status=looked_at(), queues=missing))


# --- folding ---


def test_replicas_of_which_the_same_is_true_are_one_chain() -> None:
    of = deployment(replicas=5)
    wanted = rendering(of)
    members = [pod(wanted, ordinal=ordinal, ready=ordinal == 0) for ordinal in range(5)]
    groups = [workload(members[0]), *(pending(each) for each in members[1:4]), pending(members[4], because="other")]
    seen = snapshot(of, members, groups, status=looked_at(), queues=LED)
    told = chains.folded(chains.explain(Picture(seen, queues=ROOM)).waiting)
    assert [each.subjects for each in told] == [("server/1", "server/2", "server/3"), ("server/4",)]
