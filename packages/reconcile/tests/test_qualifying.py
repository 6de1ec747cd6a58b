"""Which replicas may be sent requests, and the label that says so (decisions D4 and D31, facts status §6)."""

from dataclasses import replace
from typing import Any

import msgspec
import pytest
from modeldeployment.api import ModelDeployment, RoleKind, keys
from modeldeployment.kube import shapes
from modeldeployment.reconcile import Answers, Snapshot, observing
from modeldeployment.reconcile.deciding import qualifying
from modeldeployment.reconcile.deciding.qualifying import Leg, Verdict
from modeldeployment.reconcile.deciding.seen import Served, Views
from modeldeployment.reconcile.deciding.steps import AlignObject, CreateObject, CreateReplica, SetEligibility
from modeldeployment.render import Rendering, Seat
from reconcile_stories import new
from reconcile_worlds import (
    condition,
    decision,
    deployment,
    names,
    pair,
    patched,
    pod,
    rendered_role,
    rendering,
    replica,
    role,
    role_slots,
    service,
    snapshot,
    steps,
    workload,
)


def endpoints(seen: Snapshot, place: int = 0) -> dict[str, object]:
    """What status says of the endpoints of one role."""
    written = patched(seen.status, decision(seen).status)
    told: dict[str, object] = written["roles"][place]["endpoints"]  # type: ignore[index]
    return told


def judged(seen: Snapshot, ordinal: int = 0, going: frozenset[str] = frozenset()) -> dict[Leg, Verdict]:
    """The legs of one replica that are not verified."""
    role_seen = role_slots(seen)
    legs = qualifying.legs(role_seen, role_seen.slot(ordinal), going)
    return {leg: verdict for leg, verdict in legs if verdict is not Verdict.VERIFIED}


def test_a_ready_and_admitted_replica_stands_on_all_five_legs() -> None:
    assert judged(snapshot()) == {}
    seen = role_slots(snapshot())
    assert [leg for leg, _ in qualifying.legs(seen, seen.slot(0), ())] == [
        Leg.MEMBER_SET_COMPLETE,
        Leg.MEMBERS_READY,
        Leg.GROUP_FORWARD,
        Leg.NO_PLANNED_RETIREMENT,
        Leg.NO_PENDING_REPLACEMENT,
    ]


def test_a_replica_short_of_a_member_is_not_complete() -> None:
    of = deployment(size=2, replicas=1)
    assert Leg.MEMBER_SET_COMPLETE in judged(snapshot(of, [pod(rendering(of))]))


def test_a_replica_with_a_member_that_is_not_ready_does_not_qualify() -> None:
    of = deployment(size=2, replicas=1)
    wanted = rendering(of)
    seen = snapshot(of, [pod(wanted), pod(wanted, index=1, ready=False)])
    assert judged(seen) == {Leg.MEMBERS_READY: Verdict.FAILED}


@pytest.mark.parametrize("fields", [{"leaving": True}, {"admitted": False}], ids=["terminating", "not-admitted"])
def test_a_group_that_goes_backward_does_not_qualify(fields: dict[str, Any]) -> None:
    member = pod()
    seen = snapshot(members=[member], workloads=[workload(member, **fields)])
    assert judged(seen) == {Leg.GROUP_FORWARD: Verdict.FAILED}


def test_of_ready_members_without_a_workload_it_is_not_known() -> None:
    assert judged(snapshot(members=[pod()], workloads=[])) == {Leg.GROUP_FORWARD: Verdict.UNKNOWN}


def test_a_replica_that_leaves_in_this_pass_does_not_qualify() -> None:
    assert judged(snapshot(), going=frozenset({"uid-chat-server-0-0"})) == {Leg.NO_PENDING_REPLACEMENT: Verdict.FAILED}


def test_replicas_are_counted_and_not_pods() -> None:
    of = deployment(size=2)
    wanted = rendering(of)
    members = [*replica(wanted, 0), pod(wanted, ordinal=1), pod(wanted, ordinal=1, index=1, ready=False)]
    assert endpoints(snapshot(of, members)) == {"eligible": 1, "serving": {"state": "NotConfigured"}}


def test_a_replica_whose_leader_lost_the_label_does_not_count_until_it_is_back() -> None:
    assert endpoints(snapshot(members=[pod(eligible=False), pod(ordinal=1)]))["eligible"] == 1


def test_the_replica_that_turns_over_in_this_pass_is_not_eligible_any_more() -> None:
    rolling = snapshot(members=[pod(), pod(ordinal=1, outdated=True)])
    assert endpoints(rolling)["eligible"] == 1


def test_replicas_that_differ_and_wait_for_their_turn_stay_eligible() -> None:
    waiting = snapshot(members=[pod(outdated=True), pod(ordinal=1, outdated=True)])
    assert endpoints(waiting)["eligible"] == 1
    three = deployment(replicas=3)
    wanted = rendering(three)
    members = [pod(wanted, ordinal=each, outdated=True) for each in range(3)]
    assert endpoints(snapshot(three, members))["eligible"] == 2


def test_none_eligible_is_an_observed_zero() -> None:
    seen = replace(snapshot(members=[]), answers=Answers({"server": frozenset()}))
    assert endpoints(seen)["eligible"] == 0
    assert condition(seen, "EndpointEligibility")["reason"] == "Observed"


def test_while_one_replica_is_not_known_no_count_is_given_and_the_condition_names_the_role() -> None:
    seen = snapshot(members=[pod(), pod(ordinal=1)], workloads=[workload(pod())])
    assert endpoints(seen) == {"serving": {"state": "NotConfigured"}}
    said = condition(seen, "EndpointEligibility")
    assert (said["status"], said["reason"]) == ("Unknown", "NotObserved")
    assert 'role "server"' in said["message"]


def test_behind_a_router_what_it_sends_to_is_unknown() -> None:
    assert [endpoints(snapshot(pair()), place) for place in (0, 1)] == [
        {"eligible": 1, "serving": {"state": "Unknown"}}
    ] * 2


def viewed(*lists: set[str] | None, stored: dict[str, object] | None = None) -> list[object]:
    """What status says is served of the halves of a pair; `lists` name endpoints, P1 one of the first half."""
    roles = {"P": "prefill", "D": "decode"}
    views = Views(
        tuple(None if each is None else frozenset(Served(roles[name[0]], name) for name in each) for each in lists)
    )
    seen = replace(snapshot(pair()), views=views)
    return [endpoints(replace(seen, status=stored or {}), place)["serving"] for place in (0, 1)]


CONFIRMED: dict[str, object] = {"state": "Confirmed", "value": 1}
UNKNOWN = {"state": "Unknown"}


def test_behind_a_router_endpoints_are_counted_once_every_process_says_the_same() -> None:
    assert viewed({"P1", "D1"}) == [CONFIRMED, CONFIRMED]
    assert viewed({"P1", "D1", "D2"}, {"D2", "P1", "D1"}) == [CONFIRMED, {"state": "Confirmed", "value": 2}]


def test_none_served_is_a_confirmed_zero() -> None:
    assert viewed({"D1"}) == [{"state": "Confirmed", "value": 0}, CONFIRMED]


def test_processes_that_say_otherwise_have_not_converged_for_that_role_alone() -> None:
    assert viewed({"P1", "D1"}, {"P1"}) == [CONFIRMED, {"state": "NotConverged"}]
    assert viewed({"P1", "D1"}, {"P1", "D2"}) == [CONFIRMED, {"state": "NotConverged"}]


def test_while_one_process_is_not_known_nothing_is_and_so_it_is_without_any() -> None:
    assert viewed({"P1", "D1"}, None) == [UNKNOWN, UNKNOWN]
    assert viewed() == [UNKNOWN, UNKNOWN]


def test_before_anybody_looked_what_status_says_of_the_router_stands() -> None:
    first = replace(snapshot(pair()), views=Views((frozenset({Served("prefill", "P1"), Served("decode", "D1")}),)))
    written = patched({}, decision(first).status)
    again = replace(first, views=None, status=written)
    assert [endpoints(again, place)["serving"] for place in (0, 1)] == [CONFIRMED, CONFIRMED]
    unrouted = patched({}, decision(snapshot(pair(router=None))).status)
    assert endpoints(replace(again, status=unrouted))["serving"] == UNKNOWN


def with_encode() -> ModelDeployment:
    """A pair with an Encode role before it."""
    kinds = ("Encode", "Prefill", "Decode")
    return pair(roles=[role(kind.lower(), kind=kind, replicas=1) for kind in kinds])


def encoding() -> Snapshot:
    """The same, all ready, its Encode member labelled as all others."""
    of = with_encode()
    wanted = rendering(of)
    return snapshot(of, [pod(wanted, role=each.name) for each in wanted.roles])


def test_encode_is_never_labelled_and_none_of_its_replicas_is_eligible() -> None:
    seen = encoding()
    assert steps(seen) == (SetEligibility("chat-encode-0-0", "uid-chat-encode-0-0", False),)
    assert [endpoints(seen, place)["eligible"] for place in range(3)] == [0, 1, 1]


def test_leaders_are_created_with_the_label_and_nobody_else_is() -> None:
    pair_of_two = rendered_role(rendering(deployment(size=2))).template
    encode = rendered_role(rendering(with_encode()), "encode").template
    bodies = (pair_of_two.body(Seat(0, 0)), pair_of_two.body(Seat(0, 1)), encode.body(Seat(0, 0)))
    made = [observing.member(msgspec.json.decode(body, type=shapes.Pod)) for body in bodies]
    assert [each.eligible for each in made] == [True, False, False]


def test_the_label_is_outside_the_fingerprint_so_that_writing_it_replaces_nobody() -> None:
    seen = snapshot(members=[pod(eligible=False), pod(ordinal=1)])
    assert [type(each) for each in steps(seen)] == [SetEligibility]


def selecting(seen: Snapshot) -> Snapshot:
    """The snapshot with Services that do not ask for the label yet, as an earlier release left them."""
    assert isinstance(seen.rendering, Rendering)
    fronts = []
    for body in seen.rendering.services:
        held = service(body)
        spec = dict(held.body["spec"])  # type: ignore[call-overload]
        spec["selector"] = {key: value for key, value in spec["selector"].items() if key != keys.ELIGIBLE}
        fronts.append(replace(held, body={**held.body, "spec": spec}))
    return replace(seen, objects=tuple(fronts))


def test_labels_are_written_before_any_selector_asks_for_them() -> None:
    seen = selecting(snapshot(members=[pod(eligible=False), pod(ordinal=1, eligible=False)]))
    order = [type(each) for each in steps(seen)]
    assert order == [SetEligibility, SetEligibility, AlignObject, AlignObject]


def test_replicas_are_created_with_their_label_before_any_selector_asks_for_it() -> None:
    seen = replace(snapshot(members=[], objects=[]), answers=Answers({"server": frozenset()}, names()))
    order = [type(each) for each in steps(seen)]
    assert order == [CreateReplica, CreateReplica, CreateObject, CreateObject]


def test_a_deployment_that_comes_up_writes_no_label_of_its_own() -> None:
    story = new(with_encode()).play()
    assert not [line for line in story.steps if "label" in line]


def test_every_kind_that_answers_is_labelled() -> None:
    for kind in RoleKind:
        of = with_encode() if kind is not RoleKind.SERVER else deployment()
        each = next(each for each in rendering(of).roles if each.kind is kind)
        assert each.template.occupants.answers == (kind is not RoleKind.ENCODE)
