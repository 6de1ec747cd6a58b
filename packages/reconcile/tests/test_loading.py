"""Weights that cannot be mounted: no Pod comes, and nothing that runs is disturbed (facts api-dependencies §6)."""

from dataclasses import replace

import pytest
from modeldeployment.api import ModelDeployment, Reason
from modeldeployment.reconcile import Answers, Blocked, Done, PodPhase, Snapshot, Wait, Weights
from modeldeployment.reconcile.deciding.seen import Claim
from modeldeployment.reconcile.deciding.steps import DeletePod
from reconcile_worlds import (
    condition,
    decision,
    deployment,
    patched,
    pod,
    proven,
    rendering,
    role,
    settled,
    snapshot,
    steps,
)

LINUX = ("linux/amd64",)
BOUND = Claim("weights", "Bound", ("ReadOnlyMany",), LINUX)
PENDING = replace(BOUND, phase="Pending")


def held(claim: Claim | None, said: Reason | None = None) -> Weights:
    """Weights that a claim holds."""
    return Weights(True, {"artifact": "qwen"}, claim, said)


def ready(seen: Snapshot) -> tuple[str, str]:
    """Status and reason of the condition."""
    found = condition(seen, "WeightsReady")
    return found["status"], found["reason"]


@pytest.mark.parametrize("claim", [Claim("weights"), PENDING, replace(BOUND, phase="Lost")])
def test_a_claim_that_is_missing_or_not_bound_lets_no_pod_come(claim: Claim) -> None:
    seen = snapshot(members=[], objects=[], weights=held(claim))
    seen = replace(seen, answers=Answers(names={}), objects=snapshot().objects)
    assert decision(seen).next == Blocked(Wait.WEIGHTS)
    assert ready(seen) == ("False", "ClaimNotBound")


MANY, ONE, PLATFORMS = deployment(replicas=2), deployment(replicas=1), ("linux/amd64", "linux/arm64")


@pytest.mark.parametrize(
    ("of", "modes", "platforms", "conflict"),
    [
        (MANY, ("ReadWriteOncePod",), LINUX, True),
        (ONE, ("ReadWriteOncePod",), LINUX, False),
        (deployment(replicas=1, size=2), ("ReadWriteOncePod",), LINUX, True),
        (MANY, ("ReadWriteOnce",), LINUX, False),
        (MANY, ("ReadWriteOnce",), PLATFORMS, True),
        (MANY, ("ReadWriteOnce", "ReadOnlyMany"), PLATFORMS, False),
        (MANY, ("ReadWriteOncePod", "ReadWriteMany"), LINUX, False),
        (MANY, ("ReadOnlyMany",), PLATFORMS, False),
        (MANY, (), PLATFORMS, False),
    ],
)
def test_only_what_certainly_cannot_be_mounted_by_all_is_a_conflict(
    of: ModelDeployment, modes: tuple[str, ...], platforms: tuple[str, ...], conflict: bool
) -> None:
    seen = snapshot(of, weights=held(Claim("weights", "Bound", modes, platforms)))
    assert (ready(seen) == ("False", "AccessModeConflict")) is conflict


def test_weights_that_no_node_can_deliver_let_no_pod_come() -> None:
    seen = snapshot(members=[pod()], weights=held(None, Reason.NODE_DELIVERY_UNAVAILABLE))
    assert decision(seen).next == Blocked(Wait.WEIGHTS)
    assert ready(seen) == ("False", "NodeDeliveryUnavailable")


@pytest.mark.parametrize("said", [Reason.MATERIALIZING, Reason.MATERIALIZATION_FAILED])
def test_weights_on_their_way_are_told_until_a_replica_has_loaded_them_and_hold_nobody(said: Reason) -> None:
    starting = [pod(ready=False), pod(ordinal=1, ready=False)]
    seen = snapshot(members=starting, weights=held(None, said))
    assert decision(seen).next == Done()
    assert ready(seen) == ("False", said.value)
    assert ready(snapshot(weights=held(None, said))) == ("True", "Mounted")


def edited(weights: Weights) -> Snapshot:
    """Two running replicas of which an edit made both outdated."""
    of = deployment(image="engine:2")
    return replace(settled(weights=held(BOUND)), deployment=of, rendering=rendering(of), weights=weights)


def test_replicas_that_differ_stay_while_a_replacement_could_not_load_its_weights() -> None:
    seen = edited(held(PENDING))
    outcome = decision(seen)
    assert outcome.next == Blocked(Wait.WEIGHTS)
    said = condition(seen, "ReplicasUpToDate")
    assert (said["status"], said["reason"]) == ("False", "RolloutHeldByWeights")
    assert patched(seen.status, outcome.status)["phase"] == "Ready"


def test_a_claim_that_is_bound_again_lets_the_rollout_go_on() -> None:
    assert [each.name for each in steps(edited(held(BOUND))) if isinstance(each, DeletePod)] == ["chat-server-1-0"]


def test_a_scale_down_and_a_broken_replica_go_while_weights_are_blocked() -> None:
    narrower = deployment(replicas=1)
    seen = replace(settled(weights=held(PENDING)), deployment=narrower, rendering=rendering(narrower))
    assert [each.name for each in steps(proven(seen)) if isinstance(each, DeletePod)] == ["chat-server-1-0"]
    broken = snapshot(members=[pod(), pod(ordinal=1, phase=PodPhase.FAILED)], weights=held(PENDING))
    assert [each.name for each in steps(broken) if isinstance(each, DeletePod)] == ["chat-server-1-0"]


def test_a_count_that_stays_short_for_the_weights_says_so() -> None:
    said = condition(snapshot(members=[pod()], weights=held(PENDING)), "ReplicasUpToDate")
    assert said["reason"] == "ReplacementInProgress"
    assert said["message"].endswith("the rest wait for the weights")


def test_roles_are_held_each_by_itself() -> None:
    of = deployment(roles=[role("first"), role("last")])
    wanted = rendering(of)
    members = [pod(wanted, role="first", ordinal=each) for each in range(2)]
    assert decision(snapshot(of, members, weights=held(PENDING))).next == Blocked(Wait.WEIGHTS)
