"""The weights an artifact delivers, as one engine is told to load them.

Sources: facts api-dependencies §6, facts rendering §12.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from modeldeployment.api.conditions import ConditionStatus, Reason, RefusalReason
from modeldeployment.render.engine import Engine
from modeldeployment.render.errors import RenderRefusal
from modeldeployment.render.facts import Delivery, Facts, Policy
from modeldeployment.render.hubs import HUGGING_FACE, MODEL_SCOPE, TOKEN_KEY
from modeldeployment.render.ownership import namespace

if TYPE_CHECKING:
    from modeldeployment.api.artifact import HuggingFace, ModelArtifact, ModelScope, Resolved
    from modeldeployment.api.modeldeployment import ModelDeployment

MODEL_PATH: Final = "/var/lib/gpustack/model"
"""Where weights that somebody else delivers are mounted, read-only."""
CACHE_PATH: Final = "/var/lib/gpustack/model-cache"
"""Where an engine downloads weights to."""
WEIGHTS_PATHS: Final = (MODEL_PATH, CACHE_PATH)
"""Paths no other volume may lie at, in or around while an artifact is named (facts admission §4 row 20)."""

RESOLVED: Final = "Resolved"
"""The condition of an artifact that says its weights are definite."""
DRIVER: Final = "model.csi.gpustack.ai"
"""The CSI driver by which a node delivers weights."""
LEAST_ROOM: Final = 2**30
"""Bytes that a download gets beside its files at the least: a hub's client keeps partial files and a tree of links."""

_DIGEST: Final = re.compile(r"(?:[a-z0-9]+:)?([0-9a-f]{32,})")
_PREFIX_DIGITS: Final = 32


class WeightsRefusal(RenderRefusal):
    """Weights that cannot be delivered as things stand; `why` is the reason of a false `WeightsReady`.

    What waits for the artifact's own controller is retryable. What takes an edit of a setting, of the artifact or of
    the deployment is not.
    """

    def __init__(self, why: Reason, message: str, *, retryable: bool) -> None:
        super().__init__(RefusalReason.WEIGHTS_NOT_READY, None, message, retryable=retryable)
        self.why = why


@dataclass(frozen=True, slots=True)
class Mounted:
    """Weights that lie at `MODEL_PATH` when the engine starts: the volume's source, and where in it they are."""

    source: Mapping[str, Any]
    sub_path: str = ""


@dataclass(frozen=True, slots=True)
class Downloaded:
    """Weights the engine fetches itself into `room` bytes at `CACHE_PATH`, with these arguments and variables.

    `environment` holds Kubernetes env entries without their names; a token is only ever a reference to its Secret.
    """

    arguments: tuple[str, ...]
    environment: Mapping[str, Mapping[str, Any]]
    room: int


@dataclass(frozen=True, slots=True)
class Weights:
    """Resolved weights: `model` is what the engine loads, `prefix` what marks their blocks in a shared store."""

    model: str
    prefix: str
    delivered: Mounted | Downloaded

    @property
    def cache_bytes(self) -> int:
        """What the engine's own download takes of the Pod's ephemeral storage, 0 where nothing is downloaded."""
        return self.delivered.room if isinstance(self.delivered, Downloaded) else 0


def resolve(deployment: ModelDeployment, engine: Engine, facts: Facts) -> Weights | None:
    """Resolve the deployment's artifact; None where it names none.

    Every source waits for the artifact's condition `Resolved`; `Degraded` changes nothing. Blocks are marked by the
    manifest's digest, those of a claim by the artifact's UID, since nobody digests a claim, and those of an image by
    the digest it is pinned to, which is its manifest's. Whether a claim is bound, whether its access modes suit the
    replicas and whether nodes can deliver at all is not known here: the setting's word is taken.

    Raises WeightsRefusal while the weights are not definite or cannot be delivered.
    """
    reference = deployment.spec.model.artifact_ref
    if reference is None:
        return None
    where = f"spec.model.artifactRef is {reference.name!r}"
    artifact = facts.artifact
    if not reference.name:
        way_out = "create a deployment that names one, or leaves artifactRef out"
        raise WeightsRefusal(
            Reason.ARTIFACT_NOT_FOUND, f"{where}: no ModelArtifact is named; {way_out}", retryable=False
        )
    if artifact is None:
        why = f"no ModelArtifact of that name exists in namespace {namespace(deployment)}; create it"
        raise WeightsRefusal(
            Reason.ARTIFACT_NOT_FOUND, f"{where}: {why}, or create a deployment that names another", retryable=True
        )
    source = artifact.spec.source
    if hub := source.hugging_face or source.model_scope:
        return _from_hub(where, namespace(deployment), artifact, hub, engine, facts.policy)
    if claim := source.persistent_volume_claim:
        _resolved(where, artifact)
        volume = {"persistentVolumeClaim": {"claimName": claim.claim_name, "readOnly": True}}
        marked = hashlib.sha256((artifact.metadata.uid or "").encode()).hexdigest()
        return Weights(MODEL_PATH, _prefix(marked), Mounted(volume, claim.path or ""))
    if image := source.image:
        _resolved(where, artifact)
        volume = {"image": {"reference": image.reference, "pullPolicy": "IfNotPresent"}}
        return Weights(
            MODEL_PATH,
            _digested(where, "spec.source.image.reference", image.reference.rpartition("@")[2]),
            Mounted(volume),
        )
    message = f"{where}: its spec.source names no source; create another artifact, and a deployment that names it"
    raise WeightsRefusal(Reason.ARTIFACT_NOT_RESOLVED, message, retryable=False)


def _from_hub(
    where: str, home: str, artifact: ModelArtifact, source: HuggingFace | ModelScope, engine: Engine, policy: Policy
) -> Weights:
    if policy.delivery is Delivery.ENGINE:
        _whole(where, artifact)
    resolved = _resolved(where, artifact)
    prefix = _digested(where, "status.resolved.manifestDigest", resolved.manifest_digest or "")
    if policy.delivery is Delivery.NODE:
        return Weights(MODEL_PATH, prefix, Mounted(_by_node(home, artifact, resolved)))
    if not resolved.revision:
        raise _indefinite(where, "status.resolved.revision is not set")
    if resolved.size_bytes is None or resolved.size_bytes < 0:
        raise _indefinite(where, f"status.resolved.sizeBytes is {resolved.size_bytes}")
    is_hugging_face = artifact.spec.source.hugging_face is not None
    hub = HUGGING_FACE if is_hugging_face else MODEL_SCOPE
    endpoint = policy.hugging_face_endpoint if is_hugging_face else policy.model_scope_endpoint
    environment: dict[str, Mapping[str, Any]] = {hub.home: {"value": CACHE_PATH}}
    if endpoint:
        environment[hub.endpoint] = {"value": hub.address(endpoint)}
    if source.secret_ref:
        key = {"name": source.secret_ref.name, "key": TOKEN_KEY}
        environment[hub.token] = {"valueFrom": {"secretKeyRef": key}}
    if not is_hugging_face:
        environment[engine.model_scope_switch] = {"value": "true"}
    size = resolved.size_bytes
    return Weights(
        source.repository,
        prefix,
        Downloaded((engine.revision_argument, resolved.revision), environment, size + max(size // 10, LEAST_ROOM)),
    )


def _by_node(home: str, artifact: ModelArtifact, resolved: Resolved) -> dict[str, Any]:
    """Name the artifact, which says what to fetch, and the manifest's digest, which says what it must turn out to be.

    Which attributes the driver reads is documented nowhere. Without the digest, weights resolved anew would lie under
    Pods that look unchanged.
    """
    attributes = {"modelArtifact": f"{home}/{artifact.metadata.name}", "manifestDigest": resolved.manifest_digest}
    return {"csi": {"driver": DRIVER, "readOnly": True, "volumeAttributes": attributes}}


def _whole(where: str, artifact: ModelArtifact) -> None:
    """Refuse what an engine's own download cannot do: an engine takes the whole repository and checks no digest."""
    spec = artifact.spec
    way_out = f"set model-artifact-delivery-mode to {Delivery.NODE}, or name an artifact without it"
    patterns = {"allowPatterns": spec.allow_patterns, "ignorePatterns": spec.ignore_patterns}
    for name, given in patterns.items():
        if given:
            message = (
                f"{where}: its spec.{name} has {len(given)} entries, and an engine that downloads weights itself "
                f"chooses the files itself; {way_out}"
            )
            raise WeightsRefusal(Reason.FILTER_NEEDS_NODE_DELIVERY, message, retryable=False)
    if spec.expected_digest:
        message = (
            f"{where}: its spec.expectedDigest is {spec.expected_digest}, and an engine that downloads weights itself "
            f"checks no digest; {way_out}"
        )
        raise WeightsRefusal(Reason.ANCHOR_NEEDS_NODE_DELIVERY, message, retryable=False)


def _resolved(where: str, artifact: ModelArtifact) -> Resolved:
    condition = next((each for each in artifact.status.conditions if each.type == RESOLVED), None)
    if condition is None:
        raise _indefinite(where, f"its condition {RESOLVED} is not set")
    if condition.status != ConditionStatus.TRUE:
        because = f" ({condition.reason})" if condition.reason else ""
        raise _indefinite(where, f"its condition {RESOLVED} is {condition.status}{because}")
    from modeldeployment.api.artifact import Resolved  # models are there wherever an artifact is

    return artifact.status.resolved or Resolved()


def _digested(where: str, field: str, digest: str) -> str:
    found = _DIGEST.fullmatch(digest)
    if found is None:
        raise _indefinite(where, f"{field} is {digest!r}, which is no digest")
    return _prefix(found[1])


def _prefix(digits: str) -> str:
    return f"m-{digits[:_PREFIX_DIGITS]}"


def _indefinite(where: str, why: str) -> WeightsRefusal:
    message = f"{where}: {why}, so which weights are meant is open; this resolves once the artifact is resolved"
    return WeightsRefusal(Reason.ARTIFACT_NOT_RESOLVED, message, retryable=True)
