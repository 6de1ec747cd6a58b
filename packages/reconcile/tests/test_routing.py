"""The router's objects kept and its conditions told; nothing about it keeps replicas from anything."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from modeldeployment.api import keys
from modeldeployment.api.conditions import RefusalReason
from modeldeployment.reconcile import (
    Advance,
    Answers,
    Ask,
    Blocked,
    Done,
    Fact,
    Names,
    OwnedKind,
    SeenObject,
    Snapshot,
    Wait,
)
from modeldeployment.reconcile.deciding.passing import LATER
from modeldeployment.reconcile.deciding.steps import (
    AlignObject,
    CreateObject,
    CreateReplica,
    DeleteObject,
    SetEligibility,
    Step,
)
from modeldeployment.render import Rendering, RenderRefusal, RouterRendering
from reconcile_stories import new, running
from reconcile_worlds import (
    NOW,
    STORE,
    condition,
    decision,
    deployment,
    held,
    names,
    pair,
    patched,
    pod,
    question,
    rendering,
    role,
    routed,
    service,
    settled,
    snapshot,
    steps,
)

PAIR = pair()
RENDERED = rendering(PAIR)
assert isinstance(RENDERED.router, RouterRendering)
FRONTS = [service(body) for body in RENDERED.services]
NAME = "chat-router"


def knowing(seen: Snapshot, *foreign: str, of: OwnedKind | None = None) -> Snapshot:
    """The snapshot with the answer whose every name is: these are somebody else's, of one kind or of all."""
    known = {**names(), of: Names(frozenset(foreign))} if of else names(*foreign)
    return replace(seen, answers=Answers(names=known))


def without(kind: OwnedKind) -> list[SeenObject]:
    """Everything owned but the router's object of one kind."""
    return [*FRONTS, *(each for each in routed(RENDERED) if each.kind is not kind)]


def told(seen: Snapshot, kind: str = "RouterReady") -> tuple[str, str, str]:
    """Status, reason and message of a condition."""
    found = condition(seen, kind)
    return found["status"], found["reason"], found["message"]


def written(seen: Snapshot) -> dict[str, Any]:
    """The whole status after a pass."""
    return patched(seen.status, decision(seen).status)


def shown(steps_taken: tuple[Step, ...]) -> list[str]:
    """Steps about objects, in words."""
    return [
        f"{type(each).__name__} {each.kind}"
        for each in steps_taken
        if isinstance(each, CreateObject | AlignObject | DeleteObject)
    ]


def refused(seen: Snapshot, *, retryable: bool = False) -> Snapshot:
    """The snapshot of a deployment whose router cannot be rendered."""
    assert isinstance(seen.rendering, Rendering)
    refusal = RenderRefusal(RefusalReason.ROUTER_PORTS_DIFFER, None, "ports differ", retryable=retryable)
    return replace(seen, rendering=replace(seen.rendering, router=refusal))


def test_who_holds_the_names_of_all_six_kinds_is_asked_once() -> None:
    assert question(snapshot(PAIR, objects=FRONTS)) == Ask(
        Fact.NAMES,
        names={
            OwnedKind.SERVICE_ACCOUNT: (NAME,),
            OwnedKind.ROLE: (NAME,),
            OwnedKind.ROLE_BINDING: (NAME,),
            OwnedKind.CONFIG_MAP: (NAME,),
            OwnedKind.SERVICE: (NAME,),
            OwnedKind.DEPLOYMENT: (NAME,),
        },
    )


def test_a_router_is_created_with_what_it_runs_under_before_it_runs() -> None:
    assert shown(steps(knowing(snapshot(PAIR, objects=FRONTS)))) == [
        "CreateObject ServiceAccount",
        "CreateObject Role",
        "CreateObject RoleBinding",
        "CreateObject ConfigMap",
        "CreateObject Service",
        "CreateObject Deployment",
    ]


def test_a_router_comes_after_replicas_and_their_services() -> None:
    seen = snapshot(PAIR, members=[], objects=[])
    groups = {"prefill": frozenset[str](), "decode": frozenset[str]()}
    done = steps(replace(seen, answers=Answers(groups, names())))
    kinds = [type(each) if isinstance(each, CreateReplica) else getattr(each, "kind", None) for each in done]
    assert kinds[:2] == [CreateReplica, CreateReplica]
    assert kinds[2:5] == [OwnedKind.SERVICE] * 3
    assert kinds[5] is OwnedKind.SERVICE_ACCOUNT


def test_a_settled_routed_deployment_is_not_written_asked_about_or_spoken_of() -> None:
    outcome = decision(settled(PAIR), NOW + timedelta(days=1))
    assert (outcome.next, outcome.status, outcome.events) == (Done(), None, ())


def test_a_whole_life_comes_up_in_one_writing_pass_and_leaves_nothing() -> None:
    world = new(pair(finalizers=()))
    story = world.play()
    assert len(story.steps) == 1
    assert {kind for kind, _ in world.cluster.objects} == set(OwnedKind)
    assert world.delete().play().steps[-1].endswith("drop finalizer")
    assert not world.cluster.objects


@pytest.mark.parametrize("kind", OwnedKind)
def test_a_lost_object_comes_back(kind: OwnedKind) -> None:
    (step,) = steps(knowing(snapshot(PAIR, objects=without(kind))))
    assert isinstance(step, CreateObject)
    assert (step.kind, step.name) == (kind, NAME)


@pytest.mark.parametrize("kind", OwnedKind)
def test_an_object_of_ours_that_lost_its_labels_gets_them_back_and_is_not_made_again(kind: OwnedKind) -> None:
    seen = snapshot(PAIR, objects=without(kind))
    known = {**names(), kind: Names(ours={NAME: "u-1"})}
    (step,) = steps(replace(seen, answers=Answers(names=known)))
    assert isinstance(step, AlignObject)
    assert (step.kind, step.uid) == (kind, "u-1")
    assert keys.ROUTER in step.patch["metadata"]["labels"]  # type: ignore[index]


@pytest.mark.parametrize("kind", OwnedKind)
def test_r18_a_foreign_object_of_the_routers_name_is_never_adopted_and_is_named(kind: OwnedKind) -> None:
    seen = knowing(snapshot(PAIR, objects=FRONTS), NAME, of=kind)
    outcome = decision(seen)
    assert outcome.next == Blocked(Wait.NAME_TAKEN, NOW + LATER)
    sentence = f"{kind.lower()} team/chat-router is not owned by this deployment"
    assert [(each.reason.value, each.note.partition(";")[0]) for each in outcome.events] == [("NameTaken", sentence)]
    assert told(seen)[:2] == ("Unknown", "NotDeployed")
    assert told(seen)[2].startswith(sentence)


def test_a_running_router_beside_a_foreign_name_goes_on_and_says_so() -> None:
    seen = knowing(snapshot(PAIR, objects=without(OwnedKind.ROLE)), NAME, of=OwnedKind.ROLE)
    assert told(seen) == (
        "True",
        "Ready",
        "1 of 1 router replica is ready; role team/chat-router is not owned by this deployment",
    )


def test_a_foreign_name_keeps_no_replica_from_being_created() -> None:
    seen = snapshot(PAIR, members=[], objects=FRONTS)
    answers = Answers({"prefill": frozenset(), "decode": frozenset()}, names(NAME))
    assert steps(replace(seen, answers=answers)) == (CreateReplica("prefill", 0), CreateReplica("decode", 0))


def test_removing_the_router_deletes_its_six_objects_and_gives_the_endpoint_back() -> None:
    before = settled(PAIR)
    plain = pair(router="", generation=2)
    seen = replace(before, deployment=plain, rendering=rendering(plain))
    pruned = [each for each in steps(seen) if isinstance(each, DeleteObject)]
    assert sorted(each.kind.value for each in pruned) == sorted(kind.value for kind in OwnedKind)
    assert {each.name for each in pruned} == {NAME}
    after = written(seen)
    assert "router" not in after
    assert after["endpoint"] == "http://chat.team.svc:8000"
    assert after["roleSummary"] == "1P1D"
    assert told(seen)[:2] == ("True", "NotApplicable")


def test_a_config_map_left_behind_by_another_shape_is_pruned() -> None:
    other = pair(router="vllm-router")
    wanted = rendering(other)
    assert isinstance(wanted.router, RouterRendering)
    assert "ConfigMap" not in {body["kind"] for body in wanted.router.objects}
    left = next(each for each in routed(RENDERED) if each.kind is OwnedKind.CONFIG_MAP)
    seen = snapshot(other, objects=[*map(service, wanted.services), *routed(wanted), left])
    assert steps(seen) == (DeleteObject(OwnedKind.CONFIG_MAP, NAME, left.uid),)


def test_a_deployment_that_selects_the_pods_of_another_router_is_replaced() -> None:
    other = pair(router="vllm-router")
    wanted = rendering(other)
    old = next(each for each in routed(RENDERED) if each.kind is OwnedKind.DEPLOYMENT)
    objects = [each for each in routed(wanted) if each.kind is not OwnedKind.DEPLOYMENT]
    seen = snapshot(other, objects=[*map(service, wanted.services), *objects, old])
    assert steps(seen) == (DeleteObject(OwnedKind.DEPLOYMENT, NAME, old.uid),)


@pytest.mark.parametrize("wanted", [PAIR, pair(router=""), pair(router="vllm-router")], ids=["kept", "pruned", "other"])
def test_an_object_that_somebodys_finalizer_holds_is_not_written_again(wanted: Any) -> None:
    left = [replace(each, leaving=True, body={}) for each in routed(RENDERED)]
    seen = snapshot(wanted, objects=[*map(service, rendering(wanted).services), *left])
    assert decision(knowing(seen)).next == Done()


def test_an_object_without_the_resource_note_is_not_pruned() -> None:
    plain = pair(router="")
    left = replace(routed(RENDERED)[0], managed=False)
    fronts = map(service, rendering(plain).services)
    assert decision(snapshot(plain, objects=[*fronts, left])).next == Done()


def test_a_role_called_router_keeps_its_service() -> None:
    of = deployment(roles=[role("router")])
    assert NAME in [each.name for each in snapshot(of).objects]
    assert decision(snapshot(of)).next == Done()


def test_r14_an_argument_more_takes_exactly_two_updates() -> None:
    edited = pair(router={"name": "llm-d-router", "extraArgs": ["--zap-log-level=debug"]})
    seen = snapshot(edited, objects=[*FRONTS, *routed(RENDERED)])
    assert shown(steps(seen)) == ["AlignObject ConfigMap", "AlignObject Deployment"]
    world = running(PAIR)
    spec = world.cluster.deployment.spec
    world.cluster.deployment = edited.model_copy(
        update={"metadata": edited.metadata.model_copy(update={"generation": 2})}
    )
    assert spec != edited.spec
    assert world.play().steps == ["align chat-router, align chat-router"]


def test_a_scale_of_a_role_touches_nothing_of_the_router() -> None:
    wider = pair(replicas=3)
    members = [pod(rendering(wider), role=name, ordinal=each) for name in ("prefill", "decode") for each in range(3)]
    seen = snapshot(wider, members, objects=[*FRONTS, *routed(RENDERED)])
    assert decision(seen).next == Done()


# --- what status says ---


def test_the_contract_is_published_with_its_endpoint_once_a_replica_is_ready() -> None:
    after = written(snapshot(PAIR))
    assert after["endpoint"] == after["router"]["endpoint"] == "http://chat-router.team.svc:8081"
    assert (after["router"]["name"], [each["name"] for each in after["router"]["roles"]]) == (
        "llm-d-router",
        ["prefill", "decode"],
    )
    assert after["roleSummary"] == "1R1P1D"
    assert told(snapshot(PAIR)) == ("True", "Ready", "1 of 1 router replica is ready")


def test_r20_without_a_ready_router_there_is_no_endpoint_and_the_phase_names_the_router() -> None:
    seen = snapshot(PAIR, objects=[*FRONTS, *routed(RENDERED, ready=0)])
    after = written(seen)
    assert "endpoint" not in after
    assert "endpoint" not in after["router"]
    assert after["router"]["name"] == "llm-d-router"
    assert (after["phase"], after["phaseMessage"], after["roleSummary"]) == (
        "Degraded",
        "2 of 2 replicas ready; the router is not ready: none of 1 router replica is ready",
        "0R1P1D",
    )
    assert told(seen)[:2] == ("False", "NoReadyReplicas")


def test_a_router_that_loses_its_last_replica_takes_the_endpoint_away() -> None:
    before = settled(PAIR)
    seen = replace(before, objects=(*FRONTS, *routed(RENDERED, ready=0)))
    patch = decision(seen).status
    assert patch is not None
    assert (patch["endpoint"], patch["router"]) == (None, {"endpoint": None})
    assert "endpoint" not in patched(seen.status, patch)["router"]  # type: ignore[operator]


def test_what_a_later_release_wrote_into_the_contract_is_kept() -> None:
    before = settled(PAIR)
    router: Any = before.status["router"]
    roles = [{**each, "waiting": 5} for each in router["roles"]]
    later = {**before.status, "router": {**router, "roles": roles, "load": 3}}
    assert decision(replace(before, status=later)).status is None
    seen = replace(before, status=later, objects=(*FRONTS, *routed(RENDERED, ready=0)))
    assert (written(seen)["router"]["load"], written(seen)["router"]["roles"]) == (3, roles)


def test_a_router_that_rolls_is_not_said_to_have_more_ready_replicas_than_it_wants() -> None:
    seen = snapshot(PAIR, objects=[*FRONTS, *routed(RENDERED, ready=2)])
    assert told(seen) == ("True", "Ready", "1 of 1 router replica is ready")


def test_without_any_ready_replica_a_routed_deployment_is_starting() -> None:
    wanted = [pod(RENDERED, role=name, ready=False) for name in ("prefill", "decode")]
    assert written(snapshot(PAIR, wanted))["phase"] == "Starting"


def test_a_router_that_is_not_there_yet_is_not_deployed() -> None:
    assert told(knowing(snapshot(PAIR, objects=FRONTS))) == (
        "Unknown",
        "NotDeployed",
        "the router has not been created yet",
    )


def test_a_router_that_cannot_be_rendered_says_why_and_everything_else_goes_on() -> None:
    seen = replace(
        refused(snapshot(PAIR, members=[], objects=[])),
        answers=Answers({"prefill": frozenset(), "decode": frozenset()}, names()),
    )
    outcome = decision(seen)
    assert isinstance(outcome.next, Advance)
    assert [type(each) for each in outcome.next.steps][:2] == [CreateReplica, CreateReplica]
    assert told(seen) == ("False", "RenderFailed", "ports differ")
    assert told(seen, "Rendered")[0] == "True"
    assert [(each.reason.value, each.note) for each in outcome.events] == [("RenderFailed", "ports differ")]


def test_a_router_that_cannot_be_rendered_any_more_runs_on_as_it_is() -> None:
    seen = refused(settled(PAIR))
    assert decision(seen).next == Blocked(Wait.RENDER)
    after = written(seen)
    assert after["endpoint"] == "http://chat-router.team.svc:8081"
    assert after["router"]["name"] == "llm-d-router"
    assert after["phase"] == "Ready"


def test_a_router_that_cannot_be_rendered_and_is_ready_again_is_reached_where_it_was() -> None:
    lost = replace(refused(settled(PAIR)), objects=(*FRONTS, *routed(RENDERED, ready=0)))
    status = written(lost)
    assert "endpoint" not in status
    assert "endpoint" not in status["router"]
    back = written(replace(refused(settled(PAIR)), status=status))
    assert back["endpoint"] == back["router"]["endpoint"] == "http://chat-router.team.svc:8081"


def test_a_refused_router_that_stands_writes_no_status_again() -> None:
    first = refused(settled(PAIR))
    again = replace(first, status=written(first))
    assert decision(again, NOW + timedelta(hours=1)).status is None


def test_a_refused_router_that_the_cluster_can_mend_is_looked_at_later() -> None:
    assert decision(refused(settled(PAIR), retryable=True)).next == Blocked(Wait.RENDER, NOW + LATER)


@pytest.mark.parametrize(
    ("of", "says"),
    [
        (deployment(), ("True", "NotApplicable")),
        (pair(router=""), ("False", "NoRouter")),
        (pair(), ("True", "Publishing")),
        (pair(engine="SGLang"), ("False", "PublisherDisabled")),
        (pair(router="vllm-router"), ("False", "PublisherDisabled")),
        (
            pair(roles=[role("prefill", kind="Prefill", command=["serve"], replicas=1), role("decode", kind="Decode")]),
            ("Unknown", "RoleUnmanaged"),
        ),
        (deployment(router="llm-d-router"), ("True", "Publishing")),
    ],
)
def test_kv_events_are_told_from_what_is_rendered(of: Any, says: tuple[str, str]) -> None:
    assert told(snapshot(of), "KVEventsPublishing")[:2] == says


# --- who answers ---


def test_an_encoder_is_never_eligible() -> None:
    roles = [role(kind.lower(), kind=kind, replicas=1) for kind in ("Encode", "Prefill", "Decode")]
    of = pair(roles=roles)
    wanted = rendering(of)
    members = [pod(wanted, role=name, eligible=name != "encode") for name in ("encode", "prefill", "decode")]
    assert decision(snapshot(of, members)).next == Done()
    labelled = [pod(wanted, role=name, eligible=True) for name in ("encode", "prefill", "decode")]
    assert steps(snapshot(of, labelled)) == (SetEligibility("chat-encode-0-0", "uid-chat-encode-0-0", False),)


def test_the_pool_endpoint_of_a_store_is_part_of_the_contract() -> None:
    of = pair(kv_cache="share")
    assert written(snapshot(of, store=STORE))["router"]["poolEndpoint"] == STORE.master
    assert held(RENDERED.router.objects[0]).name == NAME  # type: ignore[union-attr]
