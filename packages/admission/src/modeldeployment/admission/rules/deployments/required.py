"""Fields that must say something, or must not say what they do."""

import re
from collections.abc import Iterator
from typing import Any, Final

from modeldeployment.admission.examples import GONE, Example
from modeldeployment.admission.patching import remove
from modeldeployment.admission.rule import Row, row
from modeldeployment.admission.subjects import DeploymentReview
from modeldeployment.admission.verdict import Cause, Refusal
from modeldeployment.api import frozen, keys
from modeldeployment.api.roles import LABEL_KEY

_LABEL_KEY: Final = re.compile(LABEL_KEY)
_LONGEST_PREFIX: Final = 253


@row(
    trigger=Example({"spec.engine.version": GONE}),
    near_miss=Example({"spec.engine.version": GONE, "spec.engine.image": "registry.example/runner:1"}),
)
def no_image_and_no_version(review: DeploymentReview) -> Iterator[Refusal]:
    """MD010 | spec.engine.version | A role that names no image needs an engine version to make one from.

    A role runs `roles[].image`, else `engine.image`, else the runner image that is put together from `engine.version`
    and the hardware of its InstanceType.

    Way out: any of the three. Source: spec 1 §Runner image formula, decisions D2.
    """
    engine = review.new.spec.engine
    if engine.version or engine.image:
        return
    bare = [f'"{each.role.name}"' for each in review.roles if not each.role.image]
    if bare:
        roles = f"role {bare[0]} names" if len(bare) == 1 else f"roles {', '.join(bare)} name"
        yield Refusal(
            "MD010",
            "spec.engine.version",
            None,
            why=f"{roles} no image, and without a version no runner image can be put together",
            way_out="set spec.engine.version, or spec.engine.image, or the image of every role",
            cause=Cause.REQUIRED,
        )


@row(
    trigger=Example({"spec.kvCache.poolRef.name": ""}),
    near_miss=Example({"spec.kvCache": GONE}),
)
def pool_not_named(review: DeploymentReview) -> Iterator[Refusal]:
    """MD011 | spec.kvCache.poolRef.name | A cache must name the KVCachePoolBinding that grants it.

    The Binding is the point of authorization: an administrator creates it to grant this namespace a pool. An empty
    reference names none, and no pool is attached by guessing.

    Way out: name a Binding of this namespace, or leave `kvCache` out. Source: spec 1 §A minimal deployment.
    """
    cache = review.new.spec.kv_cache
    if cache is not None and not cache.pool_ref.name:
        yield Refusal(
            "MD011",
            "spec.kvCache.poolRef.name",
            "",
            why=frozen.POOL_NAMED.why,
            way_out=frozen.POOL_NAMED.way_out,
            cause=Cause.REQUIRED,
        )


@row(
    trigger=Example({"spec.model.artifactRef": {}}),
    near_miss=Example({"spec.model.artifactRef": {"name": "weights"}}),
)
def artifact_not_named(review: DeploymentReview) -> Iterator[Refusal]:
    """MD058 | spec.model.artifactRef.name | A reference to an artifact must name it.

    The ModelArtifact may be created later, so a name that is not there yet is let in and waited for; an empty name is
    nobody's, and no weights would ever be delivered. Judged at creation, since the model is fixed then.

    Way out: name a ModelArtifact of this namespace, or leave `artifactRef` out. Source: facts api-dependencies §6.
    """
    reference = review.new.spec.model.artifact_ref
    if review.creating and reference is not None and not reference.name:
        yield Refusal(
            "MD058",
            "spec.model.artifactRef.name",
            "",
            why="an empty reference names no ModelArtifact, so no weights would ever be delivered",
            way_out="name a ModelArtifact of this namespace, or leave spec.model.artifactRef out",
            cause=Cause.REQUIRED,
        )


@row(
    trigger=Example({"spec.roles[0].topology.requiredLevel": keys.HOSTNAME}),
    near_miss=Example({"spec.roles[0].topology.requiredLevel": "topology.kubernetes.io/zone"}),
)
def level_not_requirable(review: DeploymentReview) -> Iterator[Refusal]:
    """MD009 | spec.roles[*].topology.requiredLevel | A required level is a label key above the node.

    The value names a level of the queue's topology, as a label key: an optional DNS prefix of at most 253 characters, a
    slash, and a name of at most 63. `kubernetes.io/hostname` is the lowest level of every topology and implicit.
    Whether the queue has the level is Kueue's to say.

    Way out: another level, or none. Source: spec 1 §Topology placement.
    """
    for each in review.roles:
        level = each.role.topology and each.role.topology.required_level
        if not level:
            continue
        path = f"{each.path}.topology.requiredLevel"
        if level == keys.HOSTNAME:
            yield Refusal(
                "MD009",
                path,
                level,
                why=frozen.NOT_HOSTNAME.why,
                way_out=frozen.NOT_HOSTNAME.way_out,
                cause=Cause.FORBIDDEN,
                patch=(remove(path),),
            )
        elif not _LABEL_KEY.fullmatch(level) or len(level.rpartition("/")[0]) > _LONGEST_PREFIX:
            yield Refusal(
                "MD009",
                path,
                level,
                why="a topology level is named by a label key: an optional DNS prefix of at most 253 characters and a "
                "slash, then a name of at most 63 letters, digits, dashes, underscores and dots",
                way_out="name the label key of a level, such as topology.kubernetes.io/zone, or leave it empty",
            )


RULES: Final[tuple[Row[Any, Any], ...]] = (
    no_image_and_no_version,
    pool_not_named,
    artifact_not_named,
    level_not_requirable,
)
