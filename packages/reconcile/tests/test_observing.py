"""Objects of the API server, reduced to what decisions read."""

from dataclasses import replace

import msgspec
import pytest
from modeldeployment.api import keys
from modeldeployment.kube import shapes
from modeldeployment.reconcile import Member, OwnedKind, PodPhase, SeenObject, Workload, observing
from modeldeployment.reconcile.deciding.seen import MARKS
from modeldeployment.reconcile.kinds import Document
from modeldeployment.render import Seat
from reconcile_worlds import deployment, pod, rendered_role, rendering

LABELS = {keys.COMPONENT: "server", keys.ORDINAL: "3", keys.GROUP_NAME: "group"}


def seen_pod(*, labels: dict[str, str] | None = None, deleted: str | None = None, **fields: object) -> shapes.Pod:
    """A Pod as the API server sends it."""
    meta = shapes.ObjectMeta(
        name="p",
        uid="u",
        resource_version="7",
        labels=LABELS if labels is None else labels,
        annotations={keys.FINGERPRINT: "print"},
        deletion_timestamp=deleted,
    )
    return shapes.Pod(metadata=meta, **fields)  # type: ignore[arg-type]


def seen_workload(*conditions: shapes.Condition, **fields: object) -> shapes.Workload:
    """A Workload that owns two Pods, beside owners of other kinds."""
    owners = (
        shapes.OwnerReference(api_version="v1", kind="Pod", uid="u1"),
        shapes.OwnerReference(api_version="v1", kind="Pod", uid="u2"),
        shapes.OwnerReference(api_version="apps/v1", kind="ReplicaSet", uid="u3"),
        shapes.OwnerReference(api_version="other/v1", kind="Pod", uid="u4"),
    )
    meta = shapes.ObjectMeta(name="w", uid="wu", owner_references=owners)
    status = shapes.WorkloadStatus(conditions=conditions, **fields)  # type: ignore[arg-type]
    return shapes.Workload(metadata=meta, spec=shapes.WorkloadSpec(queue_name="entrance"), status=status)


def true(kind: str, reason: str = "") -> shapes.Condition:
    """A true condition."""
    return shapes.Condition(type=kind, status="True", reason=reason)


def test_a_running_pod_reduces_to_its_seat_and_state() -> None:
    status = shapes.PodStatus(
        phase="Running",
        conditions=(
            shapes.Condition(type="PodScheduled", status="True"),
            shapes.Condition(type="Ready", status="True"),
        ),
        container_statuses=(
            shapes.ContainerStatus(name="main", restart_count=2),
            shapes.ContainerStatus(name="proxy", restart_count=1),
        ),
    )
    labels = {**LABELS, keys.MEMBER_INDEX: "1", keys.ELIGIBLE: "true"}
    seen = seen_pod(labels=labels, spec=shapes.PodSpec(node_name="n1"), status=status)
    assert observing.member(seen) == Member(
        name="p",
        uid="u",
        role="server",
        ordinal=3,
        index=1,
        group="group",
        fingerprint="print",
        phase=PodPhase.RUNNING,
        ready=True,
        leaving=False,
        evicted=False,
        restarts=3,
        node="n1",
        eligible=True,
        marks=tuple(labels.get(mark) for mark in MARKS),
    )


@pytest.mark.parametrize(
    ("label", "ordinal"),
    [("0", 0), ("12", 12), ("007", 7), ("-1", None), ("", None), ("x", None), ("1.0", None), ("+1", None), ("²", None)],
)
def test_an_ordinal_that_is_not_plain_digits_reads_as_absent(label: str, ordinal: int | None) -> None:
    assert observing.member(seen_pod(labels={**LABELS, keys.ORDINAL: label})).ordinal == ordinal


@pytest.mark.parametrize(
    ("container", "untouched"),
    [
        ({"started": False}, True),
        ({"started": False, "state": {"running": {"startedAt": "2030-01-01T00:00:00Z"}}}, True),
        ({"started": True}, False),
        ({"started": False, "restartCount": 1}, False),
        ({"started": False, "state": {"terminated": {"exitCode": 137}}}, False),
        ({"started": False, "state": {"waiting": {}}, "lastState": {"terminated": {"exitCode": 1}}}, False),
    ],
)
def test_a_container_that_has_ended_once_may_have_been_sent_requests(
    container: dict[str, object], *, untouched: bool
) -> None:
    status = {"phase": "Running", "containerStatuses": [{"name": "main", **container}]}
    seen = observing.member(seen_pod(status=msgspec.convert(status, shapes.PodStatus)))
    assert (seen.unstarted, seen.untouched) == (untouched, untouched)


def test_a_pod_without_an_ordinal_is_an_orphan() -> None:
    assert observing.member(seen_pod(labels={})) == Member(
        name="p",
        uid="u",
        role="",
        ordinal=None,
        fingerprint="print",
        phase=PodPhase.UNKNOWN,
        marks=(None,) * len(MARKS),
    )


@pytest.mark.parametrize("label", ["x", "-1", ""])
def test_an_unreadable_member_index_reads_as_the_leader(label: str) -> None:
    assert observing.member(seen_pod(labels={**LABELS, keys.MEMBER_INDEX: label})).index == 0


@pytest.mark.parametrize("phase", ["Pending", "Running", "Succeeded", "Failed", "Unknown"])
def test_every_phase_of_a_pod_is_read(phase: str) -> None:
    assert observing.member(seen_pod(status=shapes.PodStatus(phase=phase))).phase == phase


@pytest.mark.parametrize("phase", ["", "Hibernating"])
def test_a_phase_that_is_missing_or_new_reads_as_unknown(phase: str) -> None:
    assert observing.member(seen_pod(status=shapes.PodStatus(phase=phase))).phase is PodPhase.UNKNOWN


def test_a_deletion_timestamp_means_leaving_and_an_eviction_is_read_from_the_reason() -> None:
    seen = observing.member(seen_pod(deleted="2030-01-01T00:00:00Z", status=shapes.PodStatus(reason="Evicted")))
    assert (seen.leaving, seen.evicted) == (True, True)


@pytest.mark.parametrize("value", ["false", "True", ""])
def test_only_the_exact_word_makes_a_pod_eligible(value: str) -> None:
    assert not observing.member(seen_pod(labels={**LABELS, keys.ELIGIBLE: value})).eligible


def test_a_rendered_body_reduces_to_the_seat_it_was_rendered_for() -> None:
    wanted = rendering(deployment(size=2))
    body = rendered_role(wanted).template.body(Seat(1, 1))
    seen = observing.member(msgspec.json.decode(body, type=shapes.Pod))
    expected = pod(wanted, ordinal=1, index=1, ready=False, name="chat-server-r1-m1", phase=PodPhase.UNKNOWN, node="")
    assert seen == replace(expected, uid="")


def test_a_workload_is_owned_by_core_pods_only() -> None:
    assert observing.workload(seen_workload()) == Workload("w", "wu", frozenset({"u1", "u2"}), queue="entrance")


def test_a_waiting_workload_says_why_in_kueues_words() -> None:
    waiting = shapes.Condition(type="QuotaReserved", status="False", message="no room")
    assert observing.workload(seen_workload(waiting)).waits_because == "no room"


def test_an_admitted_workload_has_its_queue_and_its_accelerators_flavors() -> None:
    assigned = (
        shapes.PodSetAssignment(name="a", flavors={"credits.gpustack.ai/nvidia": "z-flavor", "cpu": "cpu-flavor"}),
        shapes.PodSetAssignment(name="b", flavors={"credits.gpustack.ai/nvidia": "a-flavor"}),
    )
    admission = shapes.Admission(cluster_queue="a10", pod_set_assignments=assigned)
    seen = observing.workload(seen_workload(true("QuotaReserved"), true("Admitted"), admission=admission))
    assert (seen.reserved, seen.admitted, seen.cluster_queue) == (True, True, "a10")
    assert seen.flavors == ("a-flavor", "z-flavor")


def test_a_reservation_is_not_an_admission() -> None:
    seen = observing.workload(seen_workload(true("QuotaReserved")))
    assert (seen.reserved, seen.admitted) == (True, False)


@pytest.mark.parametrize(
    ("condition", "preempted"),
    [
        (true("Preempted"), True),
        (true("Evicted", "Preempted"), True),
        (true("Evicted", "PodsReadyTimeout"), False),
        (shapes.Condition(type="Evicted", status="False", reason="Preempted"), False),
        (shapes.Condition(type="Preempted", status="False"), False),
    ],
)
def test_preempted_is_the_condition_or_an_eviction_for_that_reason(
    condition: shapes.Condition, preempted: bool
) -> None:
    assert observing.workload(seen_workload(condition)).preempted is preempted


def test_an_owned_object_keeps_what_its_drift_is_judged_by_and_whether_it_is_ours_to_prune() -> None:
    for labels, managed in (({keys.RESOURCE_TYPE: "modeldeployments"}, True), ({"app": "x"}, False)):
        meta = shapes.ObjectMeta(name="s", uid="su", labels=labels)
        seen = observing.owned(OwnedKind.SERVICE)(Document(metadata=meta, spec=msgspec.Raw(b'{"type":"ClusterIP"}')))
        body = {"metadata": {"name": "s", "labels": labels, "annotations": {}}, "spec": {"type": "ClusterIP"}}
        assert seen == SeenObject(OwnedKind.SERVICE, "s", "su", body, managed=managed)


def test_of_a_deployments_status_only_its_ready_pods_are_read() -> None:
    status = msgspec.Raw(b'{"readyReplicas":2,"conditions":[{"lastUpdateTime":"now"}]}')
    seen = observing.owned(OwnedKind.DEPLOYMENT)(
        Document(metadata=shapes.ObjectMeta(name="d", uid="du"), status=status)
    )
    assert (seen.ready, list(seen.body)) == (2, ["metadata"])


def test_an_owned_object_that_a_finalizer_holds_is_leaving() -> None:
    meta = shapes.ObjectMeta(name="d", uid="du")
    gone = msgspec.structs.replace(meta, deletion_timestamp="2030-01-02T00:00:00Z")
    leaving = [observing.owned(OwnedKind.SERVICE)(Document(metadata=each)).leaving for each in (meta, gone)]
    assert leaving == [False, True]


def test_a_role_a_binding_and_a_config_map_keep_their_own_parts() -> None:
    parts = Document(
        metadata=shapes.ObjectMeta(name="r", uid="ru"),
        rules=msgspec.Raw(b'[{"verbs":["get"]}]'),
        subjects=msgspec.Raw(b"null"),
        data=msgspec.Raw(b'{"a":"b"}'),
    )
    body = observing.owned(OwnedKind.ROLE)(parts).body
    assert {key: body[key] for key in body if key != "metadata"} == {"data": {"a": "b"}, "rules": [{"verbs": ["get"]}]}


@pytest.mark.parametrize("raw", [b"", b"null", b"{}"])
def test_an_absent_part_of_a_document_is_empty(raw: bytes) -> None:
    assert observing.table(msgspec.Raw(raw)) == {}


def test_ownership_is_the_controller_reference_alone() -> None:
    owners = (shapes.OwnerReference(uid="a"), shapes.OwnerReference(uid="b", controller=True))
    assert observing.controllers(owners) == ("b",)


def test_an_object_is_reduced_once_a_version() -> None:
    calls: list[str] = []

    def reduce(seen: shapes.Pod) -> str:
        calls.append(seen.metadata.resource_version)
        return seen.metadata.name

    reductions = observing.Reductions(reduce)
    assert [reductions.of(seen_pod()), reductions.of(seen_pod())] == ["p", "p"]
    assert calls == ["7"]


def test_a_change_that_no_decision_reads_is_none() -> None:
    reductions = observing.Reductions(observing.member)
    before = seen_pod()
    meta = msgspec.structs.replace(before.metadata, resource_version="8", labels={**LABELS, "other": "x"})
    after = msgspec.structs.replace(before, metadata=meta)
    assert reductions.alike(before, after)
    ready = shapes.PodStatus(conditions=(true("Ready"),))
    later = msgspec.structs.replace(after, metadata=msgspec.structs.replace(meta, resource_version="9"), status=ready)
    assert not reductions.alike(after, later)


def test_coming_and_going_are_always_changes() -> None:
    reductions = observing.Reductions(observing.member)
    assert not reductions.alike(None, seen_pod())
    assert not reductions.alike(seen_pod(), None)


def test_another_object_of_the_same_name_is_a_change() -> None:
    reductions = observing.Reductions(observing.member)
    before = seen_pod()
    other = msgspec.structs.replace(before, metadata=msgspec.structs.replace(before.metadata, uid="v"))
    assert not reductions.alike(before, other)
