"""One file shows every sentence a user can read; UPDATE_GOLDEN=1 rewrites it."""

import os
from pathlib import Path
from typing import get_args

import pytest
from modeldeployment.api import Reason, keys
from modeldeployment.reconcile.deciding import findings as found
from modeldeployment.reconcile.deciding import sentences
from modeldeployment.reconcile.deciding.seen import Insisted
from reconcile_worlds import NOW, pod

GOLDEN = Path(__file__).parent / "golden" / "sentences.txt"

MARKED = (keys.COMPONENT, keys.INSTANCE)

FINDINGS: tuple[found.Finding | found.Remarked, ...] = (
    found.Rendered(),
    found.RenderRefused("InstanceTypeNotFound", "the renderer's own message, word for word"),
    found.NoReplicas(),
    found.AllReplicasTerminating(),
    found.Parked(3, 4, ("prefill", "decode")),
    found.Parked(1, 1, ("server",)),
    found.Yielding(2, 4, ("team-b/other",)),
    found.PreemptedInPart(1, 3, ()),
    found.PreemptedInPart(2, 1, ("Decode", "Prefill")),
    found.PodGroupIncomplete("server", 1, 4, "a10"),
    found.NoQueueInReservedNamespace("kube-system", "server", 2),
    found.AdmissionInFlight(1),
    found.AdmissionInFlight(3),
    found.Reserved("a10"),
    found.Reserved(""),
    found.Reserved("", checks=True),
    found.Remarked(found.Reserved(""), (found.QueueUnchecked(("a10", "h20")),)),
    found.Remarked(found.AdmissionInFlight(2), (found.NoLocalQueue("server", "entrance-a10"),)),
    found.Remarked(found.AdmissionInFlight(2), (found.NoClusterQueue(("a10",)),)),
    found.Pending(1, 1, "server", "a10", ""),
    found.Pending(2, 4, "server", "a10", "couldn't assign flavors to pod set main: insufficient unused quota"),
    found.Pending(1, 4, "decode", "h20", "insufficient unused quota", holding=3),
    found.Pending(2, 4, "decode", "h20", "", holding=1, stopped="gpustack-fnv64-1", stopped_count=1),
    found.UpToDate(),
    found.RolloutInProgress(1, 1),
    found.RolloutInProgress(2, 3, found.Held.FOR_ADMISSION),
    found.RolloutInProgress(2, 3, found.Held.FOR_READINESS),
    found.ReplacementInProgress(2, 3),
    found.ReplacementInProgress(2, 3, blocked=True),
    found.RolloutNotObserved(),
    found.AllKindsReady(),
    found.KindsNotReady(("Prefill", "Decode")),
    found.RolloutHeldByCache(1, 1),
    found.RolloutHeldByCache(2, 3),
    found.RolloutHeldByWeights(1, 3),
    found.NoCache(),
    found.Registered("team-pool", True),
    found.Registered("team-pool", False),
    found.BindingNotFound("team-pool"),
    found.BindingNotReady("team-pool"),
    found.BindingNotReady("team-pool", "KVCachePool big: spec.backends: Field required"),
    found.BindingDeleting("team-pool"),
    found.NothingToAttach(),
    found.AttachmentUnmanaged(("server",)),
    found.NobodyToAttach(),
    found.CacheActive(1, 2),
    found.CacheActive(2, 2),
    found.CacheActive(0, 2),
    found.CacheOperationsFailing(1, 2),
    found.AttachmentNotObserved(2),
    found.NoArtifact(),
    found.WeightsRefused("ArtifactNotResolved", "the renderer's own message, word for word"),
    found.WeightsBlocked(Reason.CLAIM_NOT_BOUND, found.Unbound("weights", "")),
    found.WeightsBlocked(Reason.CLAIM_NOT_BOUND, found.Unbound("weights", "Pending")),
    found.WeightsBlocked(Reason.ACCESS_MODE_CONFLICT, found.SharedByPods("weights", 4)),
    found.WeightsBlocked(Reason.ACCESS_MODE_CONFLICT, found.SharedByNodes("weights", ("linux/amd64", "linux/arm64"))),
    found.WeightsBlocked(Reason.NODE_DELIVERY_UNAVAILABLE, found.Undelivered("qwen")),
    found.WeightsMaterializing("qwen"),
    found.MaterializationFailed("qwen"),
    found.WeightsMounted(),
    found.WeightsNotMounted(),
    found.WeightsDownloaded(),
    found.WeightsDownloading(),
    found.NoEvents(),
    found.NoRouterForEvents(),
    found.PublisherDisabled(("prefill", "server")),
    found.ProducerUnmanaged(("prefill",)),
    found.Publishing(),
    found.EligibilityObserved(),
    found.EligibilityNotObserved(("server",)),
    found.NoRouterDeclared(),
    found.RouterRefused("the renderer's own message, word for word"),
    found.RouterNotDeployed(),
    found.RouterNotDeployed((sentences.not_owned("ConfigMap", "team-a", "qwen-router"),)),
    found.RouterNotServing(1),
    found.RouterNotServing(2, (sentences.not_owned("Role", "team-a", "qwen-router"),)),
    found.RouterServes(1, 2),
    found.RouterServes(2, 2, (sentences.not_owned("ConfigMap", "team-a", "qwen-router"),)),
)


def label(said: found.Finding | found.Remarked) -> str:
    """Condition, status and reason of a finding, as `kubectl get -o yaml` would show them."""
    finding = said.finding if isinstance(said, found.Remarked) else said
    kind, verdict, reason = found.CONDITIONS[type(finding)]
    own = (
        finding.reason
        if isinstance(finding, found.RenderRefused | found.WeightsRefused | found.WeightsBlocked)
        else reason
    )
    return f"{kind.value}={verdict}/{own}"


def text() -> str:
    """All sentences, each under what it stands beside."""
    said = [(label(each), sentences.of(each)) for each in FINDINGS]
    said += [
        ("event ReplicaEvicted", sentences.evicted(pod())),
        ("event ReplicaLeaving", sentences.leaving(pod())),
        ("event ReplicaRestarted", sentences.restarted(pod(restarts=1))),
        ("event ReplicaRestarted", sentences.restarted(pod(restarts=3))),
        ("event RuntimeVersionSkew", sentences.skew("server", "12.8", ("12.9", "13.0"))),
        ("event NameTaken", sentences.name_taken("chat-server")),
        ("event NameTaken", sentences.group_taken("server/2", "stranger", "chat", "uid-chat")),
        ("event ObjectRefused", sentences.undone("chat-server-x", MARKED, Insisted(3, NOW))),
        ("event ObjectRefused", sentences.undone("chat-server-x", MARKED, Insisted(3, NOW, "403 Forbidden: no"))),
        ("event NameTaken", sentences.router_name_taken(sentences.not_owned("ConfigMap", "team-a", "qwen-router"))),
    ]
    return "".join(f"{head}\n    {sentence}\n" for head, sentence in said)


def test_every_sentence_reads_as_recorded() -> None:
    if os.environ.get("UPDATE_GOLDEN") == "1":
        GOLDEN.write_text(text(), encoding="utf-8")
    assert text() == GOLDEN.read_text(encoding="utf-8")


@pytest.mark.parametrize("finding", get_args(found.Finding), ids=lambda each: each.__name__)
def test_every_finding_has_its_sentence_in_the_golden_file(finding: type[found.Finding]) -> None:
    assert any(type(each) is finding for each in FINDINGS)


def test_no_sentence_ends_with_a_stop_so_that_callers_can_go_on() -> None:
    for finding in FINDINGS:
        sentence = sentences.of(finding)
        assert sentence == sentence.strip()
        assert not sentence.endswith(".")
