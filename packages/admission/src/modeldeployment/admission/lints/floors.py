"""The oldest engine releases this operator's rendering was run on.

Source: facts engine-versions §1, spec 2 §Counting engine tokens, facts encode §2.
"""

from dataclasses import dataclass
from typing import Final

from modeldeployment.admission.lints.seen import ASCEND, Version, maker, version
from modeldeployment.admission.subjects import DeploymentReview, RoleReview
from modeldeployment.api import RoleKind
from modeldeployment.api.modeldeployment import EngineName


@dataclass(frozen=True, slots=True)
class Floor:
    """The oldest release of an engine that a use of it asks for, and what an older one does."""

    engine: str
    version: Version
    below: str


_UNRUN: Final = "nothing older was run with this operator; it may serve while no block moves"
_UNCOUNTED: Final = "older ones answer none of llm-d-router's token counts, and nothing reports it"
_NO_ENCODER: Final = "older ones hand no encoder output over"

_VLLM: Final = Floor("vLLM", version("0.29.0"), _UNRUN)
_VLLM_COUNTING: Final = Floor("vLLM", version("0.30.0"), _UNCOUNTED)
_VLLM_ENCODING: Final = Floor("vLLM", version("0.30.0"), _NO_ENCODER)
_ASCEND: Final = Floor("vLLM-Ascend", version("0.23.0"), _UNRUN)
_ASCEND_COUNTING: Final = Floor("vLLM-Ascend", version("0.30.0rc1"), _UNCOUNTED)
_SGLANG: Final = Floor("SGLang", version("0.5.18"), _UNRUN)


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
    if review.engine.name is EngineName.SGLANG:
        return _SGLANG
    made_by = maker(review, role)
    if not made_by:
        return None
    if counting:
        return _ASCEND_COUNTING if made_by == ASCEND else _VLLM_COUNTING
    if made_by == ASCEND:
        return _ASCEND
    return _VLLM_ENCODING if RoleKind.ENCODE in review.kinds else _VLLM
