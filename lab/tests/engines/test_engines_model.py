import pytest
from modeldeployment.api.choices import EngineName
from modeldeployment.lab.engines import EngineModel
from modeldeployment.lab.engines.asking import Unreadable, read
from modeldeployment.lab.engines.exposition import metrics
from modeldeployment.render import ENGINES
from prometheus_client.parser import text_string_to_metric_families

LONG = tuple(f"word{number}" for number in range(40))


def samples(engine: EngineName, model: EngineModel, served: str = "model") -> dict[str, float]:
    """Every sample by its name, and by its mode or reason where it has one."""
    found, names = {}, set()
    for family in text_string_to_metric_families(metrics(engine, served, model)):
        for sample in family.samples:
            by = sample.labels.get("mode") or sample.labels.get("finished_reason") or sample.labels.get("le")
            found[f"{sample.name}[{by}]" if by else sample.name] = sample.value
            names.add(sample.labels.get("model_name", served))
    assert names == {served}
    return found


def test_a_request_waits_runs_and_leaves() -> None:
    model = EngineModel(blocks=10)
    request = model.arrive(LONG)
    assert (model.waiting, model.running) == (1, 0)
    model.start(request)
    assert (model.waiting, model.running, model.usage) == (0, 1, 0.25)
    model.first_token(request, 0.3)
    model.next_token(request, 0.02)
    assert (model.prompt_tokens, model.generation_tokens, model.held) == (40, 2, 42)
    model.leave(request, finished=True)
    assert (model.running, model.held, model.finished, model.aborted) == (0, 0, 1, 0)


def test_a_request_that_leaves_while_it_waits_was_never_counted() -> None:
    model = EngineModel()
    model.leave(model.arrive(LONG), finished=False)
    assert (model.waiting, model.running, model.prompt_tokens, model.aborted) == (0, 0, 0, 1)


def test_whole_blocks_of_a_prompt_are_cached_up_to_where_it_differs() -> None:
    model = EngineModel()
    assert model.arrive(LONG).cached == 0
    assert model.arrive(LONG).cached == 32
    assert model.arrive((*LONG[:20], "other", *LONG[21:])).cached == 16
    assert model.arrive(("other", *LONG[1:])).cached == 0


def test_vllm_tells_its_numbers_under_its_own_names() -> None:
    model = EngineModel(blocks=10)
    model.start(model.arrive(LONG))
    request = model.arrive(LONG)
    model.start(request)
    model.first_token(request, 0.3)
    model.received(40)
    found = samples(EngineName.VLLM, model)
    assert found["vllm:num_requests_running"] == 2
    assert found["vllm:num_requests_waiting"] == 0
    assert found["vllm:kv_cache_usage_perc"] == 0.50625
    assert found["vllm:prompt_tokens_total"] == found["vllm:prefix_cache_queries_total"] == 80
    assert found["vllm:prefix_cache_hits_total"] == 32
    assert found["vllm:external_prefix_cache_hits_total"] == 40
    assert found["vllm:generation_tokens_total"] == 1
    assert found["vllm:time_to_first_token_seconds_bucket[0.25]"] == 0
    assert found["vllm:time_to_first_token_seconds_bucket[0.5]"] == 1
    assert found["vllm:time_to_first_token_seconds_sum"] == 0.3


def test_sglang_tells_what_it_computed_by_where_it_came_from() -> None:
    model = EngineModel()
    for _ in range(2):
        model.start(model.arrive(LONG))
    model.arrive(LONG)
    found = samples(EngineName.SGLANG, model)
    assert (found["sglang:num_running_reqs"], found["sglang:num_queue_reqs"]) == (2, 1)
    assert found["sglang:prefill_effective_tokens_total[input]"] == 48
    assert found["sglang:prefill_effective_tokens_total[device_hit]"] == 32
    assert (found["sglang:page_size"], found["sglang:num_pages"]) == (16, 4096)


@pytest.mark.parametrize("engine", EngineName)
def test_every_series_that_we_have_others_read_is_exported(engine: EngineName) -> None:
    known = samples(engine, EngineModel())
    row = ENGINES[engine]
    named = {*row.in_flight.always, *row.in_flight.split, *row.metrics.values()}
    if engine is EngineName.SGLANG:
        named |= set(row.block_metrics.values())
    assert sorted(named - set(known)) == []


def test_a_name_that_needs_escaping_is_escaped() -> None:
    assert samples(EngineName.VLLM, EngineModel(), 'a"b\\c')["vllm:num_requests_running"] == 0


def test_a_prompt_is_read_word_by_word_from_text_tokens_and_messages() -> None:
    parts = [{"type": "text", "text": "three"}, {"type": "image_url", "image_url": {"url": "x"}}]
    chat = {"messages": [{"role": "user", "content": "one two"}, {"role": "user", "content": parts}]}
    assert read(chat, chat=True).prompt == ("one", "two", "three")
    assert read({"prompt": [1, 2, 3]}, chat=False).prompt == ("1", "2", "3")
    assert read({"prompt": ["a b", "c"]}, chat=False).prompt == ("a", "b", "c")


def test_the_newer_name_of_the_limit_wins() -> None:
    assert read({"prompt": "x", "max_tokens": 9, "max_completion_tokens": 3}, chat=False).limit == 3
    assert read({"prompt": "x", "max_tokens": None}, chat=False).limit == 0


@pytest.mark.parametrize("body", [None, [], "text", {}, {"messages": []}])
def test_what_is_no_completion_is_unreadable(body: object) -> None:
    with pytest.raises(Unreadable):
        read(body, chat=False)
