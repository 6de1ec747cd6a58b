"""What a scaler may do with its target, on the real control plane, through the operator's own process."""

import asyncio
import json

import pytest
from e2e_scaling import Scaled
from e2e_scaling import scaled as scaled
from modeldeployment.api import keys
from modeldeployment.kube import Invalid, PatchType
from modeldeployment.kube.shapes import Custom
from modeldeployment.reconcile import DEPLOYMENTS
from modeldeployment.scaler import SCALERS

pytestmark = pytest.mark.lab


async def test_shadow_tells_what_it_would_do_and_writes_nothing(scaled: Scaled) -> None:
    await scaled.start()
    await scaled.deploy(replicas=1)
    scaled.busy(40)
    await scaled.scale(mode="Shadow")
    await scaled.until(lambda: scaled.role().get("constrainedReplicas", 0) > 1, "growth is recommended")
    assert scaled.reasons()["Bound"] == "Bound"
    assert scaled.reasons()["Active"] == "ShadowMode"
    assert scaled.status()["binding"]["targetName"] == "chat"
    assert "term" not in scaled.status()["binding"]
    stored = scaled.scaler()
    assert stored is not None
    assert stored.metadata.finalizers == ()
    await asyncio.sleep(6)
    assert (scaled.replicas, scaled.binding(), scaled.decision()) == (1, {}, {})


async def test_active_commits_counts_together_with_their_decision(scaled: Scaled) -> None:
    await scaled.start()
    await scaled.deploy(replicas=1)
    scaled.busy(24)
    await scaled.scale()
    await scaled.until(lambda: scaled.replicas > 1, "it grew")
    for change in scaled.world.board.story:
        old, new = change.old, change.new
        if isinstance(old, Custom) and isinstance(new, Custom) and counts(old) != counts(new):
            decided = json.loads(new.metadata.annotations[keys.SCALER_DECISION])
            assert decided["vector"] == counts(new)
            assert decided["term"] == 1
            assert old.metadata.annotations.get(keys.SCALER_DECISION) != new.metadata.annotations[keys.SCALER_DECISION]
    binding, decision = scaled.binding(), scaled.decision()
    stored = scaled.scaler()
    assert stored is not None
    assert binding == {"scalerName": "chat", "scalerUID": stored.metadata.uid, "term": 1}
    assert stored.metadata.finalizers == (keys.SCALER_FINALIZER,)
    await scaled.until(lambda: scaled.status().get("lastCommit"), "the commit is told")
    assert scaled.status()["lastCommit"]["decisionID"] == decision["decisionID"]
    assert scaled.reasons()["Active"] == "Active"
    await scaled.until(
        lambda: any("server 1 -> " in note for note in scaled.world.board.notes("Committed")), "the commit is an event"
    )


async def test_nobody_else_writes_counts_or_claims_while_it_is_bound(scaled: Scaled) -> None:
    await scaled.start()
    await scaled.deploy(replicas=1)
    await scaled.scale()
    await scaled.until(scaled.binding, "it is bound")
    with pytest.raises(Invalid, match="ModelDeploymentScaler chat owns the counts"):
        await scaled.world.scale("chat", 3)
    annotated = await scaled.world.kubectl("annotate", "modeldeployment", "chat", f"{keys.SCALER_BINDING}-")
    assert annotated.code == 1
    labelled = await scaled.world.kubectl("label", "modeldeployment", "chat", "team=a")
    assert labelled.code == 0
    reverted = scaled.world.manifest(replicas=3)
    said = await scaled.world.apply(reverted, "--server-side", "--force-conflicts", "--field-manager=argocd-controller")
    assert said.code == 1
    assert "this write by argocd-controller changes server from 1 to 3" in said.err
    assert "ignore replicas and both scaler annotations" in said.err


async def test_suspending_and_deleting_give_the_target_back_and_leave_it_serving(scaled: Scaled) -> None:
    await scaled.start()
    await scaled.deploy(replicas=2)
    await scaled.scale(roles=[{"name": "server", "minReplicas": 2, "maxReplicas": 5}])
    await scaled.until(scaled.binding, "it is bound")
    pods = {pod.metadata.uid for pod in scaled.world.board.all_pods("chat")}
    await scaled.edit({"suspend": True})
    await scaled.until(lambda: not scaled.binding(), "it is released")
    await scaled.until(lambda: scaled.reasons().get("Bound") == "Suspended", "it says so")
    await scaled.edit({"suspend": False})
    again = await scaled.until(scaled.binding, "it is bound again")
    assert again["term"] == 2
    await scaled.delete()
    assert scaled.binding() == {}
    assert {pod.metadata.uid for pod in scaled.world.board.all_pods("chat")} == pods
    assert scaled.world.board.settled("chat")


async def test_a_second_scaler_waits_until_the_first_lets_go(scaled: Scaled) -> None:
    await scaled.start()
    await scaled.deploy(replicas=1)
    await scaled.scale()
    await scaled.until(scaled.binding, "it is bound")
    await scaled.scale("second")
    await scaled.until(lambda: scaled.reasons("second").get("Bound") == "AlreadyBound", "the second one waits")
    assert "chat owns ModelDeployment chat under term 1" in scaled.message("Active", "second")
    assert scaled.binding()["scalerName"] == "chat"
    await scaled.delete()
    await scaled.until(lambda: scaled.binding().get("scalerName") == "second", "the second one is bound")


async def test_a_scaler_waits_for_its_target(scaled: Scaled) -> None:
    await scaled.start()
    await scaled.scale()
    await scaled.until(lambda: scaled.reasons().get("Active") == "TargetNotFound", "it says that there is none")
    await scaled.deploy(replicas=1)
    await scaled.until(lambda: scaled.reasons().get("Active") == "Active", "it is bound")


async def test_another_target_of_the_same_name_is_taken_on_once_the_scaler_is_edited(scaled: Scaled) -> None:
    await scaled.start()
    await scaled.deploy(replicas=1)
    scaled.busy(24)
    await scaled.scale()
    await scaled.until(lambda: scaled.status().get("lastCommit"), "it committed")
    before = scaled.status()["binding"]["targetUID"]
    await scaled.world.delete()
    await scaled.world.gone()
    await scaled.until(lambda: scaled.reasons()["Bound"] == "TargetNotFound", "it is missed")
    await scaled.deploy(replicas=1)
    await scaled.until(lambda: scaled.reasons()["Bound"] == "TargetReplaced", "it is another")
    assert (scaled.binding(), scaled.decision()) == ({}, {})
    assert scaled.status()["binding"]["targetUID"] == before
    await scaled.edit({"sampling": {"intervalSeconds": 6}})
    await scaled.until(lambda: scaled.reasons()["Active"] == "Active", "it is taken on")
    assert scaled.binding()["term"] == 1
    assert scaled.status()["binding"]["targetUID"] != before
    assert scaled.status().get("lastCommit", {"term": 1})["term"] == 1


async def test_a_binding_that_cannot_be_read_is_left_alone_until_it_is_taken_away(scaled: Scaled) -> None:
    await scaled.start("controllers", "scaler")
    await scaled.deploy(replicas=1)
    spoilt = {"metadata": {"annotations": {keys.SCALER_BINDING: "{"}}}
    namespace = scaled.world.namespace
    await scaled.world.client.patch(DEPLOYMENTS, "chat", spoilt, namespace, how=PatchType.MERGE)
    await scaled.scale()
    await scaled.until(lambda: scaled.reasons().get("Bound") == "InvalidBinding", "it cannot tell who owns it")
    assert scaled.reasons()["Active"] == "InvalidBinding"
    mended = await scaled.world.kubectl("annotate", "modeldeployment", "chat", f"{keys.SCALER_BINDING}-")
    assert mended.code == 0
    await scaled.until(lambda: scaled.reasons()["Active"] == "Active", "it is bound")


async def test_a_restart_keeps_the_term_and_what_was_remembered(scaled: Scaled) -> None:
    first = await scaled.start()
    await scaled.deploy(replicas=1)
    scaled.busy(14)
    await scaled.scale()
    await scaled.until(lambda: scaled.status().get("lastCommit"), "it committed")
    await scaled.until(lambda: scaled.replicas == 2, "it grew to two")
    await scaled.world.settled()
    first.kill()
    told = scaled.status()["lastCommit"]
    second = await scaled.start()
    scaled.busy(20)
    await scaled.until(lambda: scaled.replicas > 2, "it grows on")
    binding, decision = scaled.binding(), scaled.decision()
    assert binding["term"] == decision["term"] == 1
    await scaled.until(lambda: scaled.status()["lastCommit"] != told, "that is told")
    assert scaled.status()["lastCommit"]["baselineVector"] == told["vector"]
    assert second.metric("modeldeployment_scaler_commits_adopted_total") == 0


async def test_an_orphaned_binding_is_taken_away_by_a_user_and_its_term_is_not_used_again(scaled: Scaled) -> None:
    first = await scaled.start()
    await scaled.deploy(replicas=1)
    scaled.busy(14)
    await scaled.scale()
    await scaled.until(lambda: scaled.status().get("lastCommit"), "it committed")
    first.kill()
    await scaled.start("webhook")
    unheld = {"metadata": {"finalizers": None}}
    await scaled.world.client.patch(SCALERS, "chat", unheld, scaled.world.namespace, how=PatchType.MERGE)
    await scaled.delete()
    await scaled.start("controllers", "scaler")
    await scaled.scale()
    await scaled.until(lambda: scaled.reasons().get("Bound") == "AlreadyBound", "the orphan stands in its way")
    assert "is there no more" in scaled.message("Bound")
    freed = await scaled.world.kubectl("annotate", "modeldeployment", "chat", f"{keys.SCALER_BINDING}-")
    assert freed.code == 0, freed.err
    await scaled.until(lambda: scaled.binding().get("term") == 2, "it is bound under the next term")


async def test_a_process_may_scale_alone_beside_one_that_reconciles(scaled: Scaled) -> None:
    reconciling = await scaled.start("webhook", "controllers")
    alone = await scaled.start("scaler")
    await scaled.deploy(replicas=1)
    scaled.busy(14)
    await scaled.scale()
    await scaled.until(lambda: scaled.replicas == 2, "it grew")
    await scaled.world.settled()
    assert alone.metric('modeldeployment_scaler_commits_total{move="Planned"}') == 1
    assert reconciling.metric("modeldeployment_leader") == 1
    assert await alone.stop() == 0


async def test_counts_that_were_put_back_where_nobody_reviews_are_told_with_their_writer(scaled: Scaled) -> None:
    await scaled.start("controllers", "scaler")
    await scaled.deploy(replicas=1)
    scaled.busy(14)
    await scaled.scale()
    await scaled.until(lambda: scaled.status().get("lastCommit"), "it committed")
    said = await scaled.world.apply(
        scaled.world.manifest(replicas=1), "--server-side", "--force-conflicts", "--field-manager=argocd-controller"
    )
    assert said.code == 0, said.err
    (note,) = await scaled.until(lambda: scaled.world.board.notes("CountsReverted"), "it is told")
    assert note.startswith("server 2 -> 1 was written by argocd-controller")
    await scaled.until(lambda: scaled.replicas == 2, "it grows again")


def counts(stored: Custom) -> dict[str, int]:
    """The declared counts of a deployment."""
    return {each["name"]: each.get("replicas", 1) for each in json.loads(bytes(stored.spec))["roles"]}
