"""Elastic expert parallelism, which no release renders yet."""

from collections.abc import Iterator
from typing import Any, Final

from modeldeployment.admission.examples import Example
from modeldeployment.admission.patching import found, remove
from modeldeployment.admission.rule import Row, row
from modeldeployment.admission.subjects import DeploymentReview
from modeldeployment.admission.verdict import Cause, Refusal


# A stored object of a release that rendered the field must still be able to go, hence `spares_deleting`.
@row(
    trigger=Example({"spec.roles[0].elasticEp": {"width": 2}}),
    near_miss=Example({"spec.roles[0].extraArgs": ["--enable-expert-parallel"]}),
    spares_deleting=True,
)
def elastic_ep(review: DeploymentReview) -> Iterator[Refusal]:
    """MD042 | spec.roles[*].elasticEp | Elastic expert parallelism is not supported by this release.

    The field is in the schema and nothing renders it. A field that is accepted and does nothing is worse than a
    refusal.

    Way out: leave it out and scale by `replicas`. Source: decisions D24.
    """
    for each in review.roles:
        if each.role.elastic_ep is not None:
            path = f"{each.path}.elasticEp"
            yield Refusal(
                "MD042",
                path,
                found(review.body, path),
                why="this release does not support elastic expert parallelism: nothing renders it, so the role would "
                "not be what it says",
                way_out="leave elasticEp out and scale the role by replicas",
                cause=Cause.FORBIDDEN,
                patch=(remove(path),),
            )


RULES: Final[tuple[Row[Any, Any], ...]] = (elastic_ep,)
