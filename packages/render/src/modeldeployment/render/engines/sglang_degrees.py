"""How SGLang is told its parallel degrees. Sources: facts rendering §9, facts admission §6."""

from collections.abc import Mapping
from typing import Final

from modeldeployment.render.parallelism import Degree, DegreeFlag, DegreeTable, ModeFlag, WiringFlag

_DP_ATTENTION: Final = "--enable-dp-attention"
_SHARES_CARDS: Final = (Degree.DWDP, Degree.MOE_DATA, Degree.ATTENTION_CONTEXT)
"""Degrees above 1 under which the data-parallel ranks run on the cards the other degrees already count."""


def _factors(in_force: Mapping[Degree, int], modes: Mapping[str, bool]) -> tuple[Degree, ...]:
    shared = modes.get(_DP_ATTENTION, False) or any(in_force[degree] > 1 for degree in _SHARES_CARDS)
    return (Degree.TENSOR, Degree.PIPELINE) if shared else (Degree.TENSOR, Degree.PIPELINE, Degree.DATA)


SGLANG_DEGREES: Final = DegreeTable(
    flags=(
        DegreeFlag(Degree.TENSOR, ("--tp-size", "--tensor-parallel-size")),
        DegreeFlag(Degree.PIPELINE, ("--pp-size", "--pipeline-parallel-size")),
        DegreeFlag(Degree.DATA, ("--dp-size", "--data-parallel-size")),
        DegreeFlag(Degree.EXPERT, ("--ep-size", "--expert-parallel-size", "--ep")),
        DegreeFlag(Degree.DECODE_CONTEXT, ("--dcp-size", "--decode-context-parallel-size")),
        DegreeFlag(Degree.ATTENTION_CONTEXT, ("--attn-cp-size", "--attention-context-parallel-size")),
        DegreeFlag(Degree.MOE_DATA, ("--moe-dp-size", "--moe-data-parallel-size")),
        DegreeFlag(Degree.DWDP, ("--dwdp-size",)),
        ModeFlag("dpAttention", (_DP_ATTENTION,)),
        ModeFlag("prefillContextParallel", ("--enable-prefill-cp",)),
        WiringFlag(("--nnodes",)),
        WiringFlag(("--node-rank",)),
        WiringFlag(("--dist-init-addr", "--nccl-init-addr")),
    ),
    factors=_factors,
)
