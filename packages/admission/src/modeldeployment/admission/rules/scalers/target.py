"""The scaled roles against those of the target.

Nothing is said while there is no target; the operator's own writes, and an edit that only suspends, are let through.
Source: spec 3 §Resource and §Limitations, facts api-scaler §3.
"""

from collections.abc import Iterator
from typing import Any, Final

from modeldeployment.admission import patching
from modeldeployment.admission.examples import Example
from modeldeployment.admission.facts import Needs
from modeldeployment.admission.rule import Row, row
from modeldeployment.admission.subjects import ScalerReview
from modeldeployment.admission.verdict import Cause, Refusal
from modeldeployment.api import Role, names
from modeldeployment.api.scaler import ScaledRole

LABEL: Final = 63
"""Longest name a Kubernetes label, and so a hostname, may have."""

_BOUNDS: Final = {"name": "server", "minReplicas": 2, "maxReplicas": 16}


@row(
    trigger=Example({"spec.roles[0].name": "servers"}, scaler=True),
    near_miss=Example({"spec.roles[0].name": "servers"}, scaler=True, known={"qwen-72b": None}),
    needs=Needs.TARGET,
)
def unknown_role(review: ScalerReview) -> Iterator[Refusal]:
    """MD143 | spec.roles[*].name | A scaled role is a role of the target.

    Bounds of a role that the target does not have would be read by nobody, and the name is most often misspelled. A
    role of the target without bounds is let in, though nothing is planned until it has some. Source: spec 3 §Resource.
    """
    if review.fitted is None:
        return
    roles = [role.name for role in review.fitted.spec.roles]
    for index, scaled in enumerate(review.new.spec.roles):
        if scaled.name not in roles:
            yield Refusal(
                "MD143",
                f"spec.roles[{index}].name",
                scaled.name,
                why=f"{review.fitted.metadata.name} has no role {scaled.name}; its roles are {', '.join(roles)}",
                way_out="name one of them",
                cause=Cause.NOT_FOUND,
            )


@row(
    trigger=Example(scaler=True, known={"qwen-72b": {"spec.roles[0].command": ["serve"]}}),
    near_miss=Example(scaler=True, known={"qwen-72b": {"spec.roles[0].extraArgs": ["--verbose"]}}),
    needs=Needs.TARGET,
)
def unmanaged(review: ScalerReview) -> Iterator[Refusal]:
    """MD140 | spec.roles[*].name | A role with a `command` of its own is not scaled.

    The operator does not write that command line, so what the role serves and measures is not known. The command is
    frozen; a deployment without it is another deployment. Source: spec 3 §Limitations.
    """
    for index, scaled, role in review.matched:
        if not role.managed:
            yield Refusal(
                "MD140",
                f"spec.roles[{index}].name",
                scaled.name,
                why=f"the role {scaled.name} of {review.new.spec.target_ref.name} has a command of its own, so its "
                "serving signals are not managed",
                way_out=f"set replicas of {scaled.name} by hand, or scale a deployment that leaves command out",
                cause=Cause.FORBIDDEN,
            )


@row(
    trigger=Example(scaler=True, known={"qwen-72b": {"spec.roles[0].elasticEp": {"width": 2}}}),
    near_miss=Example(scaler=True, known={"qwen-72b": {"spec.roles[0].size": 2}}),
    needs=Needs.TARGET,
)
def elastic(review: ScalerReview) -> Iterator[Refusal]:
    """MD141 | spec.roles[*].name | A role with `elasticEp` is not scaled.

    Its width grows one collective; it does not add replicas that serve on their own. Source: spec 3 §Limitations,
    decisions D24.
    """
    for index, scaled, role in review.matched:
        if role.elastic_ep is not None:
            yield Refusal(
                "MD141",
                f"spec.roles[{index}].name",
                scaled.name,
                why=f"the role {scaled.name} of {review.new.spec.target_ref.name} has elasticEp, whose width grows one "
                "collective rather than adding independent replicas",
                way_out=f"scale a deployment whose role {scaled.name} leaves elasticEp out",
                cause=Cause.FORBIDDEN,
            )


@row(
    trigger=Example(
        {"spec.roles": [_BOUNDS | {"name": "s" * 48, "maxReplicas": 11}]},
        scaler=True,
        known={"qwen-72b": {"spec.roles[0].name": "s" * 48, "spec.roles[0].size": 2}},
    ),
    near_miss=Example(
        {"spec.roles": [_BOUNDS | {"name": "s" * 48, "maxReplicas": 10}]},
        scaler=True,
        known={"qwen-72b": {"spec.roles[0].name": "s" * 48, "spec.roles[0].size": 2}},
    ),
    needs=Needs.TARGET,
)
def names_too_long(review: ScalerReview) -> Iterator[Refusal]:
    """MD142 | spec.roles[*].maxReplicas | At `maxReplicas`, the names of members still fit 63 characters.

    Above `size` 1 every Pod is called `<deployment>-<role>-r<replica>-m<member>`, which is its hostname and so a label.
    Names grow with the number of replicas, and a count that cannot be named cannot be written. Both parts of the name
    are fixed once the deployment exists. Source: spec 3 §Limitations, facts api-scaler §3.
    """
    for index, scaled, role in review.matched:
        if role.size == 1:
            continue
        longest = _longest(review, scaled.max_replicas, role)
        if len(longest) > LABEL:
            field = f"spec.roles[{index}].maxReplicas"
            fitting = _fitting(review, scaled, role)
            lower = f", or lower maxReplicas to {fitting} or less" if fitting else ""
            yield Refusal(
                "MD142",
                field,
                scaled.max_replicas,
                why=f"the last member would be called {longest}, which is {len(longest)} characters long, and the name "
                f"of a Pod in a group fits a label of {LABEL}",
                way_out=f"shorten the name of the deployment or of the role{lower}",
                patch=(patching.put(field, fitting),) if fitting >= scaled.min_replicas else (),
            )


def _longest(review: ScalerReview, replicas: int, role: Role) -> str:
    return names.member_pod(review.new.spec.target_ref.name, role.name, replicas - 1, role.size - 1)


def _fitting(review: ScalerReview, scaled: ScaledRole, role: Role) -> int:
    """Most replicas whose members can be named; 0 where not even one replica's can."""
    counts = (scaled.max_replicas, 1000, 100, 10)
    return next(
        (count for count in counts if count <= scaled.max_replicas and len(_longest(review, count, role)) <= LABEL), 0
    )


RULES: Final[tuple[Row[Any, Any], ...]] = (unknown_role, unmanaged, elastic, names_too_long)
