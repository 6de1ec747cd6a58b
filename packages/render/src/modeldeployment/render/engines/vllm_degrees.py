"""How vLLM is told its parallel degrees. Sources: facts rendering §9, facts admission §6, facts status §5."""

from collections.abc import Mapping
from typing import Final

from modeldeployment.render.parallelism import Degree, DegreeFlag, DegreeTable, LoadBalance, ModeFlag, WiringFlag


def _factors(in_force: Mapping[Degree, int], modes: Mapping[str, bool]) -> tuple[Degree, ...]:
    """A member runs its local ranks; where nobody says how many are local, all of them are taken to be."""
    del modes
    local = in_force[Degree.DATA_LOCAL]
    data = Degree.DATA_LOCAL if local > 0 else Degree.DATA
    return Degree.TENSOR, Degree.PIPELINE, Degree.PREFILL_CONTEXT, data


VLLM_DEGREES: Final = DegreeTable(
    flags=(
        DegreeFlag(Degree.TENSOR, ("--tensor-parallel-size", "-tp"), abbreviations=("-t",)),
        DegreeFlag(Degree.PIPELINE, ("--pipeline-parallel-size", "-pp")),
        DegreeFlag(Degree.DATA, ("--data-parallel-size", "-dp")),
        DegreeFlag(Degree.DATA_LOCAL, ("--data-parallel-size-local", "-dpl"), minimum=0),
        DegreeFlag(Degree.PREFILL_CONTEXT, ("--prefill-context-parallel-size", "-pcp"), abbreviations=("-pc",)),
        DegreeFlag(Degree.DECODE_CONTEXT, ("--decode-context-parallel-size", "-dcp")),
        ModeFlag(
            "expertParallel",
            ("--enable-expert-parallel", "-ep"),
            abbreviations=("-e",),
            negations=("--no-enable-expert-parallel",),
        ),
        WiringFlag(("--nnodes", "-n")),
        WiringFlag(("--node-rank", "-r")),
        WiringFlag(("--master-addr",)),
        WiringFlag(("--master-port",)),
        WiringFlag(("--data-parallel-rank", "-dpn"), balance=LoadBalance.EXTERNAL),
        WiringFlag(("--data-parallel-start-rank", "-dpr")),
        WiringFlag(("--data-parallel-address", "-dpa")),
        WiringFlag(("--data-parallel-rpc-port", "-dpp")),
        WiringFlag(("--data-parallel-backend", "-dpb")),
        WiringFlag(
            ("--data-parallel-hybrid-lb", "-dph"),
            takes_value=False,
            negations=("--no-data-parallel-hybrid-lb",),
            balance=LoadBalance.HYBRID,
        ),
        WiringFlag(
            ("--data-parallel-external-lb", "-dpe"),
            takes_value=False,
            negations=("--no-data-parallel-external-lb",),
            balance=LoadBalance.EXTERNAL,
        ),
        WiringFlag(
            ("--data-parallel-multi-port-external-lb", "-dpm"), takes_value=False, balance=LoadBalance.MULTI_PORT
        ),
    ),
    factors=_factors,
    underscores=True,
    variable="VLLM_DP_SIZE",
)
