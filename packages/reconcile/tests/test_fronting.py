"""The Services in front of the replicas: created, aligned, pruned, and never taken over (facts reconcile §8)."""

from dataclasses import replace
from typing import Any

import pytest
from modeldeployment.api import keys
from modeldeployment.reconcile import Answers, Ask, Blocked, Done, Fact, Names, OwnedKind, SeenObject, Snapshot, Wait
from modeldeployment.reconcile.deciding.drifting import drift
from modeldeployment.reconcile.deciding.passing import LATER
from modeldeployment.reconcile.deciding.steps import AlignObject, CreateObject, DeleteObject
from reconcile_worlds import (
    NOW,
    composed,
    decision,
    deployment,
    names,
    pod,
    question,
    rendering,
    service,
    snapshot,
    steps,
)

SERVICES = rendering().services
FRONT, ROLE = SERVICES
PAIR = deployment(replicas=1, size=2)


def knowing(seen: Snapshot, *foreign: str) -> Snapshot:
    """The snapshot with the answer which Service names somebody else holds."""
    return replace(seen, answers=Answers(names=names(*foreign)))


def drifted(body: dict[str, Any], **spec: object) -> SeenObject:
    """A Service whose spec somebody has changed."""
    return service({**body, "spec": {**body["spec"], **spec}})


def test_a_missing_service_asks_first_who_holds_its_name() -> None:
    assert question(snapshot(objects=[service(ROLE)])) == Ask(Fact.NAMES, names={OwnedKind.SERVICE: ("chat",)})


def test_a_missing_service_is_created_as_rendered() -> None:
    seen = knowing(snapshot(objects=[service(ROLE)]), "somebody-else")
    assert steps(seen) == (CreateObject(OwnedKind.SERVICE, "chat", FRONT),)


def test_a_name_that_somebody_else_holds_is_left_alone_said_and_looked_at_later() -> None:
    outcome = decision(knowing(snapshot(objects=[service(ROLE)]), "chat"))
    assert outcome.next == Blocked(Wait.NAME_TAKEN, NOW + LATER)
    assert [(each.reason, each.about) for each in outcome.events] == [("NameTaken", "chat")]


def test_a_taken_name_does_not_keep_the_other_services_from_being_created() -> None:
    assert steps(knowing(snapshot(objects=[]), "chat")) == (CreateObject(OwnedKind.SERVICE, "chat-server", ROLE),)


def test_services_as_rendered_are_not_touched() -> None:
    assert decision(snapshot()).next == Done()


def test_a_changed_selector_is_set_whole_and_foreign_terms_are_taken_out() -> None:
    held = drifted(FRONT, selector={"app": "mine", keys.NAME: "model-deployment"})
    (step,) = steps(snapshot(objects=[held, service(ROLE)]))
    assert isinstance(step, AlignObject)
    assert step.patch == {"spec": {"selector": {"app": None, **FRONT["spec"]["selector"]}}}


def test_changed_ports_are_set_whole_and_the_address_is_not_mentioned() -> None:
    held = drifted(FRONT, ports=[{"name": "http", "port": 80, "targetPort": 8000}])
    assert steps(snapshot(objects=[held, service(ROLE)])) == (
        AlignObject(
            OwnedKind.SERVICE,
            "chat",
            "svc-chat",
            {"spec": {"ports": [{"name": "http", "protocol": "TCP", "port": 8000, "targetPort": 8000}]}},
        ),
    )


def test_what_the_api_server_adds_to_a_port_is_no_drift() -> None:
    port = {**FRONT["spec"]["ports"][0], "nodePort": 30080, "protocol": "TCP"}
    assert decision(snapshot(objects=[drifted(FRONT, ports=[port]), service(ROLE)])).next == Done()


def test_a_lost_label_comes_back_and_a_foreign_one_stays() -> None:
    held = service({**FRONT, "metadata": {**FRONT["metadata"], "labels": {"team": "blue"}}})
    (step,) = steps(snapshot(objects=[held, service(ROLE)]))
    assert isinstance(step, AlignObject)
    assert step.patch == {"metadata": {"labels": FRONT["metadata"]["labels"]}}
    labels = {**FRONT["metadata"]["labels"], "team": "blue"}
    both = service({**FRONT, "metadata": {**FRONT["metadata"], "labels": labels}})
    assert decision(snapshot(objects=[both, service(ROLE)])).next == Done()


@pytest.mark.parametrize(
    ("spec", "patch"),
    [
        ({"type": "LoadBalancer"}, {"type": "ClusterIP"}),
        ({"publishNotReadyAddresses": True}, {"publishNotReadyAddresses": False}),
    ],
)
def test_a_changed_type_or_readiness_rule_is_set_back(spec: dict[str, object], patch: dict[str, object]) -> None:
    assert drift(OwnedKind.SERVICE, FRONT, drifted(FRONT, **spec).body) == {"spec": patch}


def test_a_service_that_is_no_longer_wanted_is_pruned() -> None:
    old = SeenObject(OwnedKind.SERVICE, "chat-ape", "svc-ape", {})
    assert steps(snapshot(objects=[*map(service, SERVICES), old])) == (
        DeleteObject(OwnedKind.SERVICE, "chat-ape", "svc-ape"),
    )


def test_an_unwanted_service_without_the_resource_note_is_kept() -> None:
    old = SeenObject(OwnedKind.SERVICE, "chat-ape", "svc-ape", {}, managed=False)
    assert decision(snapshot(objects=[*map(service, SERVICES), old])).next == Done()


def test_a_headless_service_stays_until_the_last_pod_of_its_ordinal_has_gone() -> None:
    wider = rendering(deployment(replicas=2, size=2))
    fronts = [service(body) for body in wider.services]
    members = [pod(wider, index=0), pod(wider, index=1), pod(wider, ordinal=1, leaving=True)]
    seen = snapshot(PAIR, members, composed(members[:2]), fronts)
    assert decision(seen).next == Done()
    gone = snapshot(PAIR, members[:2], composed(members[:2]), fronts)
    assert steps(gone) == (DeleteObject(OwnedKind.SERVICE, "chat-server-r1", "svc-chat-server-r1"),)


def test_replicas_of_one_pod_have_no_headless_service() -> None:
    assert [body["metadata"]["name"] for body in SERVICES] == ["chat", "chat-server"]
    assert [body["metadata"]["name"] for body in rendering(PAIR).services] == ["chat", "chat-server", "chat-server-r0"]


def test_services_are_written_after_replicas() -> None:
    seen = replace(snapshot(members=[], objects=[]), answers=Answers({"server": frozenset()}, names()))
    assert [type(step).__name__ for step in steps(seen)] == ["CreateReplica"] * 2 + ["CreateObject"] * 2


def test_a_service_of_ours_that_lost_its_labels_gets_them_back() -> None:
    answers = Answers(names={OwnedKind.SERVICE: Names(ours={"chat": "svc-1", "chat-server": "svc-chat-server"})})
    marks = {key: FRONT["metadata"][key] for key in ("labels", "annotations")}
    assert steps(replace(snapshot(objects=[service(ROLE)]), answers=answers)) == (
        AlignObject(OwnedKind.SERVICE, "chat", "svc-1", {"metadata": marks}),
    )
