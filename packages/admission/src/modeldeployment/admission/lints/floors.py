"""The oldest engine release that a role's engine is put to use with, as rendering knows them.

Source: facts engine-versions §1, spec 2 §Counting engine tokens, facts encode §2.
"""

from dataclasses import dataclass
from typing import Final

from modeldeployment.admission.lints.seen import Version, maker, version
from modeldeployment.admission.subjects import DeploymentReview, RoleReview
from modeldeployment.api import RoleKind
from modeldeployment.api.choices import EngineName
from modeldeployment.render import ENGINES, Use


@dataclass(frozen=True, slots=True)
class Floor:
    """The oldest release of an engine that a use of it asks for, and what an older one does."""

    engine: str
    version: Version
    below: str


_FLOORS: Final = {
    (backend.name, each.use): Floor(backend.title, version(each.version), each.below)
    for engine in ENGINES.values()
    for backend in engine.backends.values()
    for each in backend.floors
}
"""Every floor, by the engine on its hardware and the use that asks for it."""


def counts_tokens(review: DeploymentReview) -> bool:
    """Whether the router asks the engines to count tokens, which vLLM does under `--enable-scale-out` alone."""
    router = review.router
    return (
        router is not None
        and router.counts_tokens
        and review.engine.name is EngineName.VLLM
        and RoleKind.ENCODE not in review.kinds
    )


def floor(review: DeploymentReview, role: RoleReview, *, counting: bool) -> Floor | None:
    """The floor under a role, where the router counts tokens or does not.

    None where the maker of its cards, which decides between two floors, is not known.
    """
    made_by = maker(review, role)
    if not made_by and len(review.engine.backends) > 1:
        return None
    backend = review.engine.backend(made_by)
    if counting:
        lowest = backend.floor((Use.COUNTING,))
    else:
        lowest = backend.floor((Use.ENCODING,) if RoleKind.ENCODE in review.kinds else ())
    return _FLOORS[backend.name, lowest.use]
