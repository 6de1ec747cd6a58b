"""What a pass with a retirement sends, in order, and whom it asks (facts reconcile §7)."""

from datetime import timedelta

import msgspec
import pytest
from modeldeployment.api import RetirementState, keys
from modeldeployment.kube.errors import Conflict
from modeldeployment.reconcile.retiring.evidence import Evidence, Leg, Stage
from modeldeployment.reconcile.retiring.reservation import Reservation
from modeldeployment.render import Seat
from modeldeployment.router.withdrawal import Verdict
from reconcile_rim import Rim, pod, refusal
from reconcile_worlds import deployment, rendered_role, rendering

STATUS = "/apis/worker.gpustack.ai/v1/namespaces/team/modeldeployments/chat/status"
PODS = "/api/v1/namespaces/team/pods"
PROVEN = Leg(Verdict.PROVEN, "proven")


def shrunk(rim: Rim, *, labelled: bool = True) -> None:
    """Store a deployment of one replica of which two stand."""
    template = rendered_role(rendering(deployment(replicas=2))).template
    owner = {"apiVersion": keys.API_VERSION, "kind": "ModelDeployment", "name": "chat", "uid": "uid-chat"}
    for ordinal in range(2):
        label = {keys.ELIGIBLE: keys.TRUE} if labelled or not ordinal else {}
        metadata = {
            "name": f"p{ordinal}",
            "namespace": "team",
            "uid": f"p{ordinal}",
            "labels": {**template.labels(Seat(ordinal, 0)), **label},
            "ownerReferences": [{**owner, "controller": True}],
        }
        rim.watched.pods.put(pod({"metadata": metadata}, ready=True))
    rim.store((keys.FINALIZER,), roles=[{"name": "server", "replicas": 1, "instanceType": "a10"}])


def draining(rim: Rim) -> None:
    """The same once it has been withdrawn, with both proofs there."""
    kept = Reservation(
        *("server", 1, 1, frozenset({"p1"}), "", RetirementState.DRAINING, "", rim.now),
        deadline=rim.now + timedelta(seconds=300),
        phase_started=rim.now,
    )
    rim.status = {"retirement": kept.body()}
    rim.witness.said = Evidence(frozenset({"p1"}), PROVEN, PROVEN)
    shrunk(rim, labelled=False)


async def test_a_reservation_is_written_by_itself_before_anything_else_of_the_pass() -> None:
    rim = Rim()
    shrunk(rim)
    await rim.run()
    writes = [each for each in rim.client.writes() if "/services" not in each]
    assert writes == [f"PATCH {STATUS}", f"PATCH {STATUS}", f"PATCH {PODS}/p1"]
    assert list(rim.client.statuses()[0]) == ["retirement"]
    assert "retirement" not in rim.client.statuses()[1]
    first = msgspec.json.decode(next(each for each in rim.client.sent if each.method == "PATCH").body or b"")
    assert first["metadata"]["resourceVersion"]


async def test_a_decided_delete_is_written_before_it_is_sent() -> None:
    rim = Rim()
    draining(rim)
    await rim.run()
    assert rim.client.statuses()[0]["retirement"]["state"] == "Deleting"
    order = rim.client.writes()
    assert order.index(f"PATCH {STATUS}") < order.index(f"DELETE {PODS}/p1")


async def test_a_decision_that_loses_a_race_deletes_nothing() -> None:
    rim = Rim()
    draining(rim)
    rim.client.refuse = lambda request: (
        refusal(Conflict, 409) if request.target.partition("?")[0].endswith("/status") else None
    )
    assert await rim.run() == pytest.approx(0.1)
    assert [each for each in rim.client.writes() if each.startswith("DELETE")] == []


async def test_what_is_to_be_witnessed_is_asked_in_every_pass_and_ends_with_the_delete() -> None:
    rim = Rim()
    shrunk(rim)
    await rim.run()
    shrunk(rim, labelled=False)
    await rim.run(later=timedelta(seconds=1))
    assert [each.stage if each else None for each in rim.witness.asked] == [None, Stage.WITHDRAWING]
    draining(rim)
    await rim.run(later=timedelta(seconds=1))
    assert rim.witness.asked[-1] is None


async def test_a_deployment_that_is_gone_is_asked_about_no_more() -> None:
    rim = Rim()
    assert await rim.run() is None
    assert rim.witness.asked == [None]


async def test_a_sentence_that_reads_otherwise_waits_a_second_and_a_step_does_not() -> None:
    rim = Rim()
    draining(rim)
    for number in range(4):
        busy = Leg(Verdict.WAITING, f"p1 runs {number} requests")
        rim.witness.said = Evidence(frozenset({"p1"}), PROVEN, busy)
        await rim.run(later=timedelta(milliseconds=100))
    said = [each["retirement"]["reason"] for each in rim.client.statuses() if "retirement" in each]
    assert said == ["waiting until it runs empty: p1 runs 0 requests"]
    rim.witness.said = Evidence(frozenset({"p1"}), PROVEN, PROVEN)
    await rim.run(later=timedelta(milliseconds=100))
    states = [each["retirement"]["state"] for each in rim.client.statuses() if "retirement" in each]
    assert states == ["Draining", "Deleting"]
