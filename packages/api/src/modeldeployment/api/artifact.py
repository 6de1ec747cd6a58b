"""The ModelArtifact kind: weights that a deployment names, and what they were resolved to.

Sources: facts api-dependencies §6, decisions D21.
"""

from enum import StrEnum
from typing import Annotated, Final

from pydantic import Field

from modeldeployment.api.cel import Rule
from modeldeployment.api.condition import Condition
from modeldeployment.api.document import (
    ATOMIC,
    OPEN,
    Document,
    Int32,
    Int64,
    absent,
    guarding,
    list_map,
    words,
)
from modeldeployment.api.keys import API_VERSION
from modeldeployment.api.metadata import NamedReference, ObjectMeta

_KIND: Final = "ModelArtifact"
_SOURCES: Final = ("huggingFace", "modelScope", "persistentVolumeClaim", "image")

SPEC_FIXED: Final = Rule(
    code="MD212",
    kind=_KIND,
    field="spec",
    why="is fixed when the artifact is created, since running replicas have loaded these weights",
    way_out="create another artifact",
)
ONE_SOURCE: Final = Rule(
    code="MD213",
    kind=_KIND,
    field="spec.source",
    why=f"says not exactly one of {', '.join(_SOURCES)}, so which weights are meant is open",
    way_out="keep the one the weights come from",
    holds=f"[{', '.join(f'has(self.{source})' for source in _SOURCES)}].filter(given, given).size() == 1",
)
HUB_ONLY: Final = tuple(
    Rule(
        code="MD214",
        kind=_KIND,
        field=f"spec.{name}",
        why="chooses among the files of a hub, and the source is none",
        way_out="leave it out, or take the weights from huggingFace or modelScope",
        holds=f"!has(self.{name}) || has(self.source.huggingFace) || has(self.source.modelScope)",
        at=f".{name}",
    )
    for name in ("allowPatterns", "ignorePatterns", "expectedDigest")
)


class HuggingFace(Document):
    """A repository of Hugging Face."""

    repository: Annotated[str, Field(min_length=1, max_length=256)]
    """Repository, for example Qwen/Qwen2.5-72B-Instruct."""
    revision: Annotated[str, Field(max_length=255)] = "main"
    """Branch, tag or commit."""
    secret_ref: NamedReference | None = None
    """Secret of this namespace whose key token opens the repository."""


class ModelScope(Document):
    """A repository of ModelScope."""

    repository: Annotated[str, Field(min_length=1, max_length=256)]
    """Repository, for example Qwen/Qwen2.5-72B-Instruct."""
    revision: Annotated[str, Field(max_length=255)] = "master"
    """Branch, tag or commit."""
    secret_ref: NamedReference | None = None
    """Secret of this namespace whose key token opens the repository."""


class Claim(Document):
    """Weights on a volume."""

    claim_name: Annotated[str, Field(min_length=1, max_length=253)]
    """PersistentVolumeClaim of this namespace."""
    path: Annotated[str, Field(max_length=1024, pattern=r"^[^/].*$")] | None = None
    """Relative path of the weights on the volume; unset is its root."""


class Image(Document):
    """Weights in an image."""

    reference: Annotated[str, Field(max_length=512, pattern=r"^[^@\s]+@sha256:[0-9a-f]{64}$")]
    """Image, pinned by digest."""


class Source(Document):
    """Where the weights come from: exactly one of the four."""

    model_config = guarding(ONE_SOURCE)

    hugging_face: HuggingFace | None = None
    """A repository of Hugging Face."""
    model_scope: ModelScope | None = None
    """A repository of ModelScope."""
    persistent_volume_claim: Claim | None = None
    """Weights on a volume."""
    image: Image | None = None
    """Weights in an image."""


_Patterns = Annotated[
    tuple[Annotated[str, Field(min_length=1, max_length=256)], ...], Field(max_length=32, exclude_if=absent), ATOMIC
]


class ModelArtifactSpec(Document):
    """Which weights; nothing of it is ever edited."""

    model_config = guarding(SPEC_FIXED, *HUB_ONLY)

    source: Source
    """Where the weights come from."""
    allow_patterns: _Patterns = ()
    """Files to take, as globs; hubs only."""
    ignore_patterns: _Patterns = ()
    """Files to leave, as globs; hubs only."""
    expected_digest: Annotated[str, Field(max_length=71, pattern=r"^sha256:[0-9a-f]{64}$")] | None = None
    """Digest the manifest must have; hubs only."""


class DigestSource(StrEnum):
    """Who vouches for a manifest's digest."""

    HUB = "Hub"
    EXPECTED = "Expected"


class Resolved(Document):
    """The weights, made definite."""

    model_config = OPEN

    revision: str | None = None
    """Commit, 40 hexadecimal digits."""
    manifest_digest: str | None = None
    """Digest of the list of files."""
    digest_source: Annotated[str, words(DigestSource)] | None = None
    """Who vouches for the digest."""
    file_count: Int32 | None = None
    """Files."""
    size_bytes: Int64 | None = None
    """Bytes of all files together."""


class ModelArtifactStatus(Document):
    """What the weights were resolved to."""

    model_config = OPEN

    conditions: Annotated[tuple[Condition, ...], Field(exclude_if=absent), list_map("type")] = ()
    """Resolved, Degraded and others."""
    resolved: Resolved | None = None
    """The weights, made definite; left out until they are."""


class ModelArtifact(Document):
    """Weights that deployments of its namespace name in spec.model.artifactRef."""

    api_version: str = API_VERSION
    kind: str = _KIND
    metadata: ObjectMeta = Field(default_factory=ObjectMeta)
    spec: ModelArtifactSpec
    """Which weights; frozen whole."""
    status: ModelArtifactStatus = Field(default_factory=ModelArtifactStatus)
    """What the weights were resolved to."""
