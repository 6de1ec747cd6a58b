"""What the benchmark of reading numbers reads."""

from importlib import resources

from modeldeployment.lab.bench import parsing
from modeldeployment.router.exposition import Series


def test_the_recorded_body_says_all_that_a_scaler_reads() -> None:
    found = parsing.read((resources.files("modeldeployment.lab.bench") / parsing.BODY).read_bytes())
    assert (found.running, found.waiting, found.usage, len(found.counts)) == (0, 0, 0.0, 50)
    assert found.counts[Series("vllm:generation_tokens_total", (("engine", "0"), ("model_name", "tiny")))] == 347
