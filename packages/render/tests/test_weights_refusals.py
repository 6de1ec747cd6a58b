"""Weights that cannot be delivered, and whether waiting helps."""

from typing import Any

import pytest
from modeldeployment.api.artifact import ModelArtifact
from modeldeployment.api.conditions import REASONS, ConditionStatus, ConditionType, Reason, RefusalReason
from modeldeployment.render import Policy, RenderRefusal, WeightsRefusal, render
from render_artifacts import (
    BY_NODE,
    CLAIM,
    DIGEST,
    HUGGING_FACE,
    MODEL_SCOPE,
    PINNED,
    RESOLVED,
    artifact,
    known,
    served,
)

OPEN = "so which weights are meant is open; this resolves once the artifact is resolved"
EXPECTED = f"sha256:{DIGEST}"
WAY_OUT = "set model-artifact-delivery-mode to Node, or name an artifact without it"


def refused(found: ModelArtifact | None, policy: Policy | None = None, name: str = "weights") -> WeightsRefusal:
    with pytest.raises(RenderRefusal) as caught:
        render(served(name=name), known(found, policy))
    refusal = caught.value
    assert isinstance(refusal, WeightsRefusal)
    assert (refusal.reason, refusal.role) == (RefusalReason.WEIGHTS_NOT_READY, None)
    assert refusal.why in REASONS[ConditionType.WEIGHTS_READY][ConditionStatus.FALSE]
    return refusal


def test_an_artifact_may_be_created_later() -> None:
    refusal = refused(None)
    assert (refusal.why, refusal.retryable) == (Reason.ARTIFACT_NOT_FOUND, True)
    assert refusal.message == (
        "spec.model.artifactRef is 'weights': no ModelArtifact of that name exists in namespace team-a; create it, or "
        "create a deployment that names another"
    )


@pytest.mark.parametrize("found", [None, artifact(CLAIM)], ids=["none", "another"])
def test_a_reference_without_a_name_names_nothing(found: ModelArtifact | None) -> None:
    refusal = refused(found, name="")
    assert (refusal.why, refusal.retryable) == (Reason.ARTIFACT_NOT_FOUND, False)
    assert refusal.message == (
        "spec.model.artifactRef is '': no ModelArtifact is named; create a deployment that names one, or leaves "
        "artifactRef out"
    )


@pytest.mark.parametrize("source", [HUGGING_FACE, MODEL_SCOPE, CLAIM, PINNED], ids=lambda source: next(iter(source)))
@pytest.mark.parametrize("policy", [None, BY_NODE], ids=["engine", "node"])
@pytest.mark.parametrize(
    ("condition", "said"),
    [(None, "is not set"), ("False", "is False (Waiting)"), ("Unknown", "is Unknown (Waiting)")],
)
def test_every_source_waits_until_it_is_resolved(
    source: dict[str, Any], policy: Policy | None, condition: str | None, said: str
) -> None:
    refusal = refused(artifact(source, condition=condition), policy)
    assert (refusal.why, refusal.retryable) == (Reason.ARTIFACT_NOT_RESOLVED, True)
    assert refusal.message == f"spec.model.artifactRef is 'weights': its condition Resolved {said}, {OPEN}"


@pytest.mark.parametrize(
    ("lacks", "policy", "said"),
    [
        ({"revision": None}, None, "status.resolved.revision is not set"),
        ({"sizeBytes": None}, None, "status.resolved.sizeBytes is None"),
        ({"sizeBytes": -1}, None, "status.resolved.sizeBytes is -1"),
        ({"manifestDigest": None}, None, "status.resolved.manifestDigest is '', which is no digest"),
        ({"manifestDigest": None}, BY_NODE, "status.resolved.manifestDigest is '', which is no digest"),
        ({"manifestDigest": "sha256:ab"}, None, "status.resolved.manifestDigest is 'sha256:ab', which is no digest"),
    ],
)
def test_what_is_resolved_in_part_is_waited_for(lacks: dict[str, Any], policy: Policy | None, said: str) -> None:
    refusal = refused(artifact(HUGGING_FACE, resolved={**RESOLVED, **lacks}), policy)
    assert (refusal.why, refusal.retryable) == (Reason.ARTIFACT_NOT_RESOLVED, True)
    assert refusal.message == f"spec.model.artifactRef is 'weights': {said}, {OPEN}"


def test_a_node_needs_neither_commit_nor_size() -> None:
    render(served(), known(artifact(HUGGING_FACE, resolved={"manifestDigest": EXPECTED}), BY_NODE))


@pytest.mark.parametrize("field", ["allowPatterns", "ignorePatterns"])
@pytest.mark.parametrize("source", [HUGGING_FACE, MODEL_SCOPE], ids=["hugging-face", "model-scope"])
@pytest.mark.parametrize("condition", ["True", None], ids=["resolved", "unresolved"])
def test_an_engine_cannot_choose_files_and_waiting_does_not_help(
    field: str, source: dict[str, Any], condition: str | None
) -> None:
    filtered: dict[str, Any] = {field: ["*.safetensors", "*.json"], "expectedDigest": EXPECTED}
    refusal = refused(artifact(source, condition=condition, **filtered))
    assert (refusal.why, refusal.retryable) == (Reason.FILTER_NEEDS_NODE_DELIVERY, False)
    assert refusal.message == (
        f"spec.model.artifactRef is 'weights': its spec.{field} has 2 entries, and an engine that downloads weights "
        f"itself chooses the files itself; {WAY_OUT}"
    )
    render(served(), known(artifact(source, **filtered), BY_NODE))


def test_an_engine_cannot_check_a_digest_and_waiting_does_not_help() -> None:
    anchored = artifact(HUGGING_FACE, expectedDigest=EXPECTED)
    refusal = refused(anchored)
    assert (refusal.why, refusal.retryable) == (Reason.ANCHOR_NEEDS_NODE_DELIVERY, False)
    assert refusal.message == (
        f"spec.model.artifactRef is 'weights': its spec.expectedDigest is {EXPECTED}, and an engine that downloads "
        f"weights itself checks no digest; {WAY_OUT}"
    )
    render(served(), known(anchored, BY_NODE))


def test_an_artifact_older_than_its_rules_may_name_no_source() -> None:
    refusal = refused(artifact({}))
    assert (refusal.why, refusal.retryable) == (Reason.ARTIFACT_NOT_RESOLVED, False)
    assert "its spec.source names no source; create another artifact" in refusal.message
