"""Roles and their bounds, and the target that never changes.

Source: facts api-scaler §2 (roles) and §3.
"""

from collections.abc import Iterator
from typing import Any, Final

from modeldeployment.admission import patching
from modeldeployment.admission.examples import Example
from modeldeployment.admission.rule import Row, row
from modeldeployment.admission.subjects import ScalerReview
from modeldeployment.admission.verdict import Cause, Refusal
from modeldeployment.api.scaler import TARGET_FIXED

_SERVER: Final = {"name": "server", "minReplicas": 2, "maxReplicas": 16}


@row(
    trigger=Example({"spec.targetRef.name": "llama-70b"}, old={}, scaler=True),
    near_miss=Example({"spec.mode": "Active", "metadata.labels": {"team": "a"}}, old={}, scaler=True),
)
def retargeted(review: ScalerReview) -> Iterator[Refusal]:
    """MD160 | spec.targetRef | A scaler keeps the target it was created with.

    Its binding, its history and its predictors belong to one deployment. To scale another deployment, create another
    scaler and delete this one. Source: spec 3 §Resource, facts api-scaler §2.
    """
    if review.old is None or review.new.spec.target_ref == review.old.spec.target_ref:
        return
    stored = review.old.spec.target_ref.name
    field = TARGET_FIXED.field
    yield Refusal(
        TARGET_FIXED.code,
        field,
        patching.found(review.body, field),
        why=f"{field} {TARGET_FIXED.why}: this one targets {stored}",
        way_out=TARGET_FIXED.way_out,
        patch=(patching.put(f"{field}.name", stored),),
    )


@row(
    trigger=Example({"spec.roles": [_SERVER, _SERVER | {"maxReplicas": 8}]}, scaler=True),
    near_miss=Example({"spec.roles": [_SERVER]}, scaler=True),
)
def named_twice(review: ScalerReview) -> Iterator[Refusal]:
    """MD101 | spec.roles[*].name | A role has one entry of bounds.

    The schema's list key refuses a second entry first; this is its backstop, for manifests that are checked without a
    cluster. Source: facts api-scaler §2.
    """
    roles = review.new.spec.roles
    for index, role in enumerate(roles):
        first = review.scaled[role.name]
        if first != index:
            yield Refusal(
                "MD101",
                f"spec.roles[{index}].name",
                role.name,
                why=f"spec.roles[{first}] already bounds the role {role.name}",
                way_out="keep one of the two entries",
                cause=Cause.DUPLICATE,
                patch=(patching.remove(f"spec.roles[{index}]"),) if role == roles[first] else (),
            )


@row(
    trigger=Example({"spec.roles[0].minReplicas": 17}, scaler=True),
    near_miss=Example(
        {"spec.roles[0].minReplicas": 16}, scaler=True, known={"qwen-72b": {"spec.roles[0].replicas": 16}}
    ),
)
def floor_above_ceiling(review: ScalerReview) -> Iterator[Refusal]:
    """MD102 | spec.roles[*].minReplicas | The minimum of a role is at most its maximum.

    Both lie between 1 and 1024; equal bounds hold the role at that count. Source: spec 3 §Bounds and ratios.
    """
    for index, role in enumerate(review.new.spec.roles):
        if role.min_replicas > role.max_replicas:
            yield Refusal(
                "MD102",
                f"spec.roles[{index}].minReplicas",
                role.min_replicas,
                why=f"minReplicas {role.min_replicas} of the role {role.name} is above its maxReplicas "
                f"{role.max_replicas}, so no count fits",
                way_out=f"lower minReplicas to {role.max_replicas} or less, or raise maxReplicas to "
                f"{role.min_replicas} or more",
            )


RULES: Final[tuple[Row[Any, Any], ...]] = (retargeted, named_twice, floor_above_ceiling)
