"""What status says a role declares is what the engine's own parser makes of the same arguments."""

from typing import Final

import pytest
from conformance_parsing import OURS, Parsed, parse
from modeldeployment.lab.pytest_plugin import ObtainProgram
from render_worlds import one_role

BASE: Final = {
    "vLLM": ["vllm", "serve", OURS],
    "SGLang": ["python3", "-m", "sglang.launch_server", "--model-path", OURS],
}
READ_AS: Final = {
    "vLLM": {
        "tensorParallel": "tensor_parallel_size",
        "pipelineParallel": "pipeline_parallel_size",
        "dataParallel": "data_parallel_size",
        "dataParallelLocal": "data_parallel_size_local",
        "prefillContextParallel": "prefill_context_parallel_size",
        "decodeContextParallel": "decode_context_parallel_size",
    },
    "SGLang": {
        "tensorParallel": "tp_size",
        "pipelineParallel": "pp_size",
        "dataParallel": "dp_size",
        "expertParallel": "ep_size",
        "decodeContextParallel": "dcp_size",
        "attentionContextParallel": "attn_cp_size",
        "moeDpSize": "moe_dp_size",
        "dwdpSize": "dwdp_size",
    },
}
LINES: Final = {
    "vLLM": (
        "-tp 4 -pp 2 -dp 3 -dpl 1 -pcp 2 -dcp 2",
        "--tensor-parallel-size=4 --pipeline_parallel_size 2",
        "--tensor 2 --pipe=3 --decode-context 2",
        "-tp 2 -tp 8 --data-parallel-size=2 -dp 4",
        "-tp 1 -dp 2 -dpl 0",
    ),
    "SGLang": (
        "--tp-size 8 --pp-size 2 --dp-size 4 --ep 8 --dcp-size 2",
        "--tensor-parallel-size=8 --attn-cp-size 2 --moe-dp-size=2 --dwdp-size 4",
        "--tp 2 --pipeline 3 --expert-par 2",
        "--tp-size 2 --tensor-parallel-size 4",
        "--tp-size 1",
    ),
}


@pytest.mark.parametrize("engine", LINES)
def test_degrees_are_declared_as_the_engine_reads_them(
    engine: str, program: ObtainProgram, tmp_path_factory: pytest.TempPathFactory
) -> None:
    lines = {line: [*BASE[engine], *line.split()] for line in LINES[engine]}
    parsed: Parsed = parse(program(engine.lower()), lines.values(), tmp_path_factory.mktemp(engine))
    seen: set[str] = set()
    for line, words in lines.items():
        said = one_role(engine, extraArgs=line.split()).parallelism
        declared, values = said["declared"], parsed.accepted(words)
        assert isinstance(declared, dict)
        assert declared, line
        assert declared == {degree: values[READ_AS[engine][degree]] for degree in declared}, line
        seen |= set(declared)
    assert seen == set(READ_AS[engine])
