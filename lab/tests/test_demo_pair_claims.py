import dataclasses
from typing import Any

import pytest
from demo_worlds import Story, decode, prefill, routed, router, workload, world
from modeldeployment.lab.demo import pair_claims
from modeldeployment.lab.demo.history import DeploymentSeen, Seen, Window, World
from modeldeployment.lab.demo.pair_claims import Fate

ROLES = {"prefill": 2, "decode": 2}
URL = "http://chat-router.team-a.svc:8081"


def still(seen: World, *told: str) -> Window:
    return Window(seen, (), told)


def without(whole: World, *uids: str) -> World:
    return World({uid: each for uid, each in whole.objects.items() if uid not in uids})


def with_(whole: World, *seen: Seen) -> World:
    return World({**whole.objects, **{each.uid: each for each in seen}})


def said(**status: Any) -> DeploymentSeen:
    deployment = routed().deployment
    assert deployment is not None
    return dataclasses.replace(deployment, **status)


def edited() -> Story:
    """One prefill more, and both decodes replaced, the highest first."""
    story = Story(routed()).put(prefill(2, ready=False), workload("P2"), prefill(2))
    for ordinal in (1, 0):
        old, new = f"D{ordinal}", f"N{ordinal}"
        story.put(decode(ordinal, leaving=True)).gone(f"w-{old}", old)
        story.put(decode(ordinal, new, ready=False), workload(new), decode(ordinal, new))
    return story


def test_a_pair_is_ready_when_every_seat_of_both_roles_has_one_ready_pod_and_the_status_says_so() -> None:
    verdict = pair_claims.all_ready(still(routed()), ROLES)
    assert verdict.claim == "2 of 2 replicas of prefill and 2 of 2 replicas of decode are Ready"
    assert verdict.holds


@pytest.mark.parametrize(
    ("unready", "against"),
    [
        (without(routed(), "D1"), ("the Pods sit at decode/0, prefill/0, prefill/1",)),
        (with_(routed(), prefill(1, ready=False)), ("Pod chat-prefill-P1 is not Ready",)),
        (with_(routed(), said(phase="Degraded", ready=3)), ("its status says Degraded, 3 ready",)),
        (without(routed(), "d"), ("the deployment is not there",)),
    ],
    ids=["missing", "unready", "old status", "no deployment"],
)
def test_whatever_a_pair_lacks_to_be_ready_is_told(unready: World, against: tuple[str, ...]) -> None:
    assert pair_claims.all_ready(still(unready), ROLES).against == against


def test_a_router_has_one_object_of_each_of_its_kinds_and_one_pod() -> None:
    assert pair_claims.router_objects(still(routed()), "chat").holds
    assert pair_claims.router_ready(still(routed())).holds


def test_a_missing_a_surplus_and_a_foreign_object_of_a_router_are_told() -> None:
    assert pair_claims.router_objects(still(without(routed(), "r-Role", "r-ConfigMap")), "chat").against == (
        "there are Deployment/chat-router, RoleBinding/chat-router, Service/chat-router, ServiceAccount/chat-router",
    )
    assert not pair_claims.router_objects(still(with_(routed(), router("Role", uid="other"))), "chat").holds
    assert not pair_claims.router_objects(still(routed()), "other").holds
    assert pair_claims.router_objects(still(World()), "chat").against == ("there are none",)


def test_a_router_whose_pod_whose_deployment_or_whose_condition_is_not_ready_is_told() -> None:
    assert pair_claims.router_ready(still(with_(routed(), router("Pod", ready=False)))).against == (
        "its Pod chat-router is not Ready",
    )
    assert pair_claims.router_ready(still(with_(routed(), router("Deployment", ready=False)))).against == (
        "its Deployment chat-router is not Ready",
    )
    assert pair_claims.router_ready(still(without(routed(), "r-Pod"))).against == ("it has 0 Pods",)
    assert pair_claims.router_ready(still(with_(routed(), said(conditions=())))).against == (
        "RouterReady is Unknown (): ",
    )
    assert pair_claims.router_ready(still(without(routed(), "d"))).against == ("the deployment is not there",)


def test_another_summary_and_another_endpoint_are_told() -> None:
    assert pair_claims.summary(still(routed()), "1R2P2D").holds
    assert pair_claims.summary(still(routed()), "1R3P2D").against == ("it says 1R2P2D",)
    assert pair_claims.endpoint(still(routed()), URL).holds
    assert pair_claims.endpoint(still(with_(routed(), said(endpoint="http://chat.team-a.svc:8000"))), URL).against == (
        "it is http://chat.team-a.svc:8000",
    )
    assert pair_claims.summary(still(World()), "1R2P2D").against == ("it says nothing",)
    assert pair_claims.endpoint(still(World()), URL).against == ("it is not there",)


def test_a_decoder_without_its_proxy_and_a_prefiller_with_one_are_told() -> None:
    assert pair_claims.proxied(still(routed()), "decode", "routing-proxy").holds
    wrong = with_(routed(), decode(0, sidecars=()), prefill(1, sidecars=("routing-proxy",)))
    assert pair_claims.proxied(still(wrong), "decode", "routing-proxy").against == (
        "Pod chat-decode-D0 runs nothing beside its engine",
        "Pod chat-prefill-P1 runs routing-proxy beside its engine",
    )


FATES = (Fate("prefill", created=1), Fate("decode", replaced=2), Fate("router"))
FORETOLD = (
    "role prefill: scale only (2 → 3): 1 Pod created",
    "role decode: rolls one by one (changed: spec.roles[decode].image): 2 Pods replaced",
    '  spec.containers[main].image: "a" → "b"',
    "router: nothing",
    "Pods: 2 replaced, 1 created, 0 deleted",
)


def test_what_is_foretold_is_read_role_by_role() -> None:
    verdict = pair_claims.foretold(still(routed(), *FORETOLD), FATES)
    assert verdict.claim == "it foretells what becomes of Pods: prefill 1 created; decode 2 replaced; router nothing"
    assert verdict.holds


def test_a_foretelling_of_something_else_is_told() -> None:
    scale, roll, image, _, total = FORETOLD
    restarts = still(routed(), scale, roll, image, "router: restarts 1 Pod: changed Deployment/chat-router", total)
    assert pair_claims.foretold(restarts, FATES).against == ("it foretells prefill 1 created; decode 2 replaced",)
    more = still(routed(), scale, roll.replace("2 Pods", "3 Pods"), "router: nothing")
    assert pair_claims.foretold(more, FATES).against == (
        "it foretells prefill 1 created; decode 3 replaced; router nothing",
    )
    refused = still(routed(), "refused: the edit is not let in, so no Pod is touched")
    assert pair_claims.foretold(refused, FATES).against == ("it foretells nothing that can be read",)


def test_whatever_an_answer_touched_is_told_and_a_status_that_is_written_again_is_not() -> None:
    assert pair_claims.nothing_touched(Story(routed()).put(said(phase="Degraded")).window).holds
    brief = Story(routed()).put(prefill(2)).gone("P2").put(decode(0, ready=False), decode(0))
    assert pair_claims.nothing_touched(brief.window).against == (
        "chat-decode-D0 changed, came or went",
        "chat-prefill-P2 changed, came or went",
    )


def test_an_edit_that_went_as_foretold_holds() -> None:
    window = edited().window
    assert pair_claims.as_foretold(window, FATES).holds
    assert pair_claims.one_by_one(window).holds
    assert pair_claims.role_kept(window, "prefill").holds
    assert pair_claims.router_kept(window).holds


def test_a_pod_replaced_beyond_what_was_foretold_is_told() -> None:
    story = edited().gone("w-P0", "P0").put(prefill(0, "N-P0"), workload("N-P0"))
    assert pair_claims.as_foretold(story.window, FATES).against == ("in fact prefill 1 replaced, 1 created",)
    assert pair_claims.role_kept(story.window, "prefill").against == ("Pod chat-prefill-P0 changed or went",)


def test_a_pod_that_was_to_be_replaced_and_was_not_is_told() -> None:
    story = Story(routed()).put(prefill(2), workload("P2"))
    assert pair_claims.as_foretold(story.window, FATES).against == ("in fact decode nothing",)


def test_a_pod_replaced_twice_is_told() -> None:
    story = edited().gone("w-N0", "N0").put(decode(0, "M0"), workload("M0"))
    assert pair_claims.as_foretold(story.window, FATES).against == ("Pod chat-decode-N0 came and went",)


def test_a_router_pod_replaced_or_unready_for_one_moment_is_told() -> None:
    restarted = edited().gone("r-Pod").put(dataclasses.replace(router("Pod", uid="other"), name="chat-router-2"))
    assert pair_claims.as_foretold(restarted.window, FATES).against == ("in fact router 1 created, 1 deleted",)
    assert pair_claims.router_kept(restarted.window).against == (
        "Pod chat-router changed, came or went",
        "Pod chat-router-2 changed, came or went",
    )
    unready = Story(routed()).put(router("Deployment", ready=False), router("Deployment"))
    assert pair_claims.router_kept(unready.window).against == ("Deployment chat-router changed, came or went",)


def test_two_replicas_of_a_role_missing_at_once_are_told_and_one_of_each_is_not() -> None:
    one_each = Story(routed()).put(prefill(0, leaving=True), decode(0, leaving=True))
    assert pair_claims.one_by_one(one_each.window).holds
    both = Story(routed()).put(prefill(2)).put(prefill(0, leaving=True), prefill(1, leaving=True))
    assert pair_claims.one_by_one(both.window).against == ("at one moment only 0 served of prefill",)


def test_a_role_that_had_nobody_kept_nobody() -> None:
    assert pair_claims.role_kept(still(World()), "prefill").against == ("it had no Pod to begin with",)


def test_an_object_of_the_router_that_is_left_is_named() -> None:
    assert pair_claims.nothing_left(still(World())).holds
    assert pair_claims.nothing_left(still(world(router("ConfigMap")))).against == ("of the router chat-router is left",)
