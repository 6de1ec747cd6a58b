"""Facts admission §9, table M: how data parallelism is balanced."""

from typing import Final

from admission_case import Case, Refused
from admission_table_b_owned import ARGUMENTS, COMMAND


def _refused(*names: str) -> tuple[Refused, ...]:
    return (Refused("MD040", ARGUMENTS, names),)


TABLE: Final[tuple[Case, ...]] = (
    Case("M1", {ARGUMENTS: ["--data-parallel-size=4", "--data-parallel-start-rank=0", "--nnodes=1"]}),
    Case("M2", {ARGUMENTS: ["--data-parallel-rank", "$(GPUSTACK_MEMBER_INDEX)"]}),
    Case(
        "M3",
        {
            ARGUMENTS: [
                "--data-parallel-size=4",
                "--data-parallel-size-local=1",
                "--data-parallel-start-rank=1",
                "--headless",
            ]
        },
    ),
    Case("M4", {ARGUMENTS: ["-dpm"]}, refused=_refused("MultiPort", "--data-parallel-multi-port-external-lb")),
    Case("M5", {ARGUMENTS: ["-dpe", "-dph"]}, refused=_refused("different shapes", COMMAND)),
    Case("M6", {COMMAND: ["vllm", "serve", "/m"], ARGUMENTS: ["-dpm"]}),
)
