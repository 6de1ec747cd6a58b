"""What a pass sees of a target: its seats, who of them serves, and what still holds a place."""

import pytest
from modeldeployment.api import EngineName, RoleKind
from modeldeployment.api.retirement import RetirementState
from modeldeployment.kube import shapes
from modeldeployment.scaler import observing
from modeldeployment.scaler.binding import Claimed
from modeldeployment.scaler.planning.observed import RetirementSeen, Seat
from scaler_worlds import custom, deployment, pod, shared, workload


def seats(
    of: shapes.Custom, pods: tuple[shapes.Pod, ...] = (), workloads: tuple[shapes.Workload, ...] = ()
) -> tuple[Seat, ...]:
    """The seats of the first role of a deployment among these Pods and Workloads."""
    stores = shared()
    for each in pods:
        stores.pods.put(each)
    for held in workloads:
        stores.workloads.put(held)
    return observing.seen(observing.declared(of), stores.pods, stores.workloads).target.roles[0].seats


def test_a_settled_replica_is_admitted_and_ready() -> None:
    assert seats(deployment({"server": 1}), (pod(),), (workload("uid-chat-server-0"),)) == (
        Seat(ordinal=0, admitted=True, ready=True),
    )


def test_a_declared_replica_has_its_seat_before_it_has_a_pod() -> None:
    assert seats(deployment({"server": 2})) == (Seat(ordinal=0), Seat(ordinal=1))


def test_a_pod_without_a_workload_neither_waits_nor_is_admitted() -> None:
    assert seats(deployment({"server": 1}), (pod(ready=False),)) == (Seat(ordinal=0),)


def test_a_workload_that_is_not_admitted_waits() -> None:
    found = seats(deployment({"server": 1}), (pod(ready=False),), (workload("uid-chat-server-0", admitted=False),))
    assert found == (Seat(ordinal=0, waiting=True),)


def test_a_replica_that_is_declared_no_more_keeps_its_seat_while_a_pod_of_it_stands() -> None:
    standing = (pod(), pod(ordinal=1, leaving=True))
    held = (workload("uid-chat-server-0"), workload("uid-chat-server-1"))
    assert seats(deployment({"server": 1}), standing, held) == (
        Seat(ordinal=0, admitted=True, ready=True),
        Seat(ordinal=1, admitted=True),
    )


def test_a_retiring_replica_serves_nothing_new_and_keeps_its_seat_as_long_as_its_workload() -> None:
    retirement = {
        "roleName": "server",
        "replicaOrdinal": 1,
        "state": "Draining",
        "targetMemberUIDs": ["uid-chat-server-1"],
    }
    of = deployment({"server": 1}, retirement=retirement)
    held = (workload("uid-chat-server-0"), workload("uid-chat-server-1"))
    assert seats(of, (pod(), pod(ordinal=1)), held)[1] == Seat(ordinal=1, admitted=True)
    assert seats(of, (pod(),), held)[1] == Seat(ordinal=1, admitted=True)
    assert len(seats(of, (pod(),), held[:1])) == 1


def test_an_aborted_retirement_keeps_a_replica_that_serves() -> None:
    retirement = {
        "roleName": "server",
        "replicaOrdinal": 1,
        "state": "Aborted",
        "targetMemberUIDs": ["uid-chat-server-1"],
    }
    of = deployment({"server": 1}, retirement=retirement)
    found = seats(of, (pod(), pod(ordinal=1)), (workload("uid-chat-server-0"), workload("uid-chat-server-1")))
    assert found[1] == Seat(ordinal=1, admitted=True, ready=True)
    assert observing.declared(of).retirement == RetirementSeen(role="server", ordinal=1, state=RetirementState.ABORTED)


@pytest.mark.parametrize("stranger", [pod(owner="uid-before"), pod(ordinal="first"), pod("other")])
def test_a_pod_of_somebody_else_holds_no_seat(stranger: shapes.Pod) -> None:
    assert seats(deployment({"server": 1}), (stranger,)) == (Seat(ordinal=0),)


def test_a_replica_is_ready_when_its_leader_is() -> None:
    led = (pod(index=0), pod(index=1, ready=False))
    assert seats(deployment({"server": 1}), led)[0].ready
    assert not seats(deployment({"server": 1}), (pod(index=0, ready=False), pod(index=1)))[0].ready


def test_what_is_declared_is_read_with_its_kinds_and_its_claims() -> None:
    said = {
        "modeldeployment.gpustack.ai/scaler-binding": "b",
        "modeldeployment.gpustack.ai/scaler-decision": "d",
        "team": "x",
    }
    of = observing.declared(
        deployment({"prefill": 2, "decode": 3}, kinds={"prefill": "Prefill", "decode": "Decode"}, annotations=said)
    )
    assert of.vector == {"prefill": 2, "decode": 3}
    assert [role.kind for role in of.roles] == [RoleKind.PREFILL, RoleKind.DECODE]
    assert of.claimed == Claimed("uid-t", binding="b", decision="d")
    assert of.engine == "vLLM"


def test_what_says_nothing_of_its_kind_and_count_is_one_server() -> None:
    of = observing.declared(custom({"metadata": {"name": "chat"}, "spec": {"roles": [{"name": "a", "kind": None}]}}))
    assert of.roles == (observing.Role("a", RoleKind.SERVER, 1, ""),)


def test_ready_replicas_are_counted_by_role() -> None:
    stores = shared()
    for each in (pod("a"), pod("a", 1), pod("b", ready=False)):
        stores.pods.put(each)
    seen = observing.seen(observing.declared(deployment({"a": 2, "b": 1})), stores.pods, stores.workloads)
    assert observing.ready(seen.target) == {"a": 2, "b": 0}
    assert [(each.role, each.ordinal) for each in seen.leaders if each.ready] == [("a", 0), ("a", 1)]


def test_the_leaders_of_ready_replicas_are_asked_where_their_annotations_say() -> None:
    of, stores = observing.declared(deployment({"server": 3})), shared()
    for each in (pod(index=0), pod(index=1), pod(ordinal=1, ready=False), pod(ordinal=2, leaving=True)):
        stores.pods.put(each)
    (asked,) = observing.engines(of, observing.seen(of, stores.pods, stores.workloads))
    assert (asked.role, asked.name, asked.pod) == ("server", EngineName.VLLM, "chat-server-0-0")
    assert asked.url == "http://127.0.0.1:8000/metrics"
    assert observing.answers_still(asked, stores.pods)


def test_who_was_asked_answers_no_more_once_its_container_or_its_address_is_another() -> None:
    of, stores = observing.declared(deployment({"server": 1})), shared()
    stores.pods.put(pod())
    (asked,) = observing.engines(of, observing.seen(of, stores.pods, stores.workloads))
    stores.pods.put(pod(address="127.0.0.2", version=11))
    assert not observing.answers_still(asked, stores.pods)
    stores.pods.remove(pod(version=12))
    assert not observing.answers_still(asked, stores.pods)


def test_an_engine_that_nobody_knows_is_not_asked() -> None:
    of, stores = observing.declared(deployment({"server": 1}, engine="llama.cpp")), shared()
    stores.pods.put(pod())
    assert observing.engines(of, observing.seen(of, stores.pods, stores.workloads)) == ()
