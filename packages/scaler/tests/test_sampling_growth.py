"""What an engine did between two readings is told by what it counted (spec 3 §Engine signals)."""

import pytest
from modeldeployment.api.choices import EngineName
from modeldeployment.scaler.sampling import growth
from modeldeployment.scaler.sampling.growth import Growth, Waits
from sampling_engines import SGLANG, VLLM, histogram, sglang, told, vllm


def grown(before: str, now: str) -> Growth | None:
    return growth.between(told(before), told(now), VLLM)


def grown_sglang(before: str, now: str) -> Growth | None:
    return growth.between(told(before, EngineName.SGLANG), told(now, EngineName.SGLANG), SGLANG)


def prompt(before: str, now: str) -> float | None:
    found = grown(before, now)
    return found.prompt if found else None


def prompt_sglang(before: str, now: str) -> float | None:
    found = grown_sglang(before, now)
    return found.prompt if found else None


def test_tokens_of_vllm_are_those_of_the_prompts_that_no_cache_answered() -> None:
    assert prompt(vllm(prompt=1000, hits=300), vllm(prompt=1600, hits=500)) == 400


def test_hits_are_not_capped_by_how_often_the_cache_was_asked() -> None:
    queries = "vllm:prefix_cache_queries_total"
    now = vllm(prompt=1600, hits=900).replace(
        f'{queries}{{engine="0",model_name="m"}} 1600', f'{queries}{{engine="0",model_name="m"}} 1001'
    )
    assert "} 1001\n" in now
    assert prompt(vllm(prompt=1000, hits=300), now) == 0


def test_more_hits_than_tokens_leave_nothing_and_not_less() -> None:
    assert prompt(vllm(prompt=1000), vllm(prompt=1100, hits=500)) == 0


def test_without_hits_all_tokens_of_the_prompts_count() -> None:
    def bare(tokens: int) -> str:
        return f"vllm:num_requests_running 0\nvllm:num_requests_waiting 0\nvllm:prompt_tokens_total {tokens}\n"

    assert prompt(bare(100), bare(700)) == 600


def test_hits_that_are_only_in_one_of_two_readings_are_not_subtracted() -> None:
    bare = "vllm:num_requests_running 0\nvllm:num_requests_waiting 0\nvllm:prompt_tokens_total 100\n"
    assert prompt(bare, vllm(prompt=500, hits=300).replace('{engine="0",model_name="m"}', "")) == 400


def test_generated_tokens_are_counted() -> None:
    found = grown(vllm(generation=10), vllm(generation=25))
    assert found is not None
    assert found.generation == 15


def test_sglang_counts_what_it_computed() -> None:
    before = sglang(prompt=0, effective={"input": 100, "device_hit": 50, "host_hit": 0, "storage_hit": 0})
    now = sglang(prompt=9999, effective={"input": 340, "device_hit": 900, "host_hit": 0, "storage_hit": 0})
    assert prompt_sglang(before, now) == 240


@pytest.mark.parametrize(
    ("before", "now"),
    [({"device_hit": 10}, {"input": 400, "device_hit": 110}), ({"device_hit": 10}, {"device_hit": 110})],
)
def test_what_sglang_did_not_count_in_both_readings_is_reckoned_from_hits(
    before: dict[str, float], now: dict[str, float]
) -> None:
    assert prompt_sglang(sglang(prompt=0, effective=before), sglang(prompt=1000, effective=now)) == 900


def test_every_kind_of_hit_that_sglang_counts_is_subtracted() -> None:
    before = sglang(prompt=0, effective={"device_hit": 1, "host_hit": 2, "storage_hit": 3})
    now = sglang(prompt=1000, effective={"device_hit": 11, "host_hit": 22, "storage_hit": 33})
    assert prompt_sglang(before, now) == 940


def test_more_hits_than_tokens_of_sglang_leave_nothing_and_not_less() -> None:
    assert (
        prompt_sglang(sglang(prompt=0, effective={"host_hit": 0}), sglang(prompt=10, effective={"host_hit": 99})) == 0
    )


def test_sglang_without_an_account_of_its_cache_has_all_tokens_of_its_prompts() -> None:
    assert prompt_sglang(sglang(prompt=100), sglang(prompt=700)) == 600


def test_an_engine_that_does_not_count_tokens_has_none_which_is_no_zero() -> None:
    found = grown_sglang(sglang(), sglang())
    assert found == Growth(None, None, Waits(), Waits())


def test_tokens_that_are_counted_for_the_first_time_have_no_growth() -> None:
    found = grown_sglang(sglang(), sglang(prompt=500, generation=20))
    assert found is not None
    assert (found.prompt, found.generation) == (None, None)


def test_a_series_that_joins_others_of_its_name_began_at_nothing() -> None:
    more = 'sglang:generation_tokens_total{is_streaming="false",model_name="m"} 30\n'
    found = grown_sglang(sglang(generation=10), sglang(generation=15) + more)
    assert found is not None
    assert found.generation == 35


@pytest.mark.parametrize(
    ("before", "now"),
    [
        (vllm(prompt=10), vllm(prompt=9)),
        (vllm(hits=10), vllm(hits=9, prompt=100)),
        (vllm(generation=10), vllm(generation=0)),
        (vllm(first=[0.05, 0.3]), vllm(first=[0.05])),
        (vllm(first=[0.05, 0.3]), vllm(first=[0.3, 0.3])),
        (vllm(between=[0.9]), vllm(between=[0.2])),
    ],
)
def test_a_counter_that_goes_back_says_nothing_of_any_other(before: str, now: str) -> None:
    assert grown(before, now) is None


def test_a_counter_that_goes_away_says_nothing_of_any_other() -> None:
    assert grown_sglang(sglang(prompt=10, generation=10), sglang(generation=20)) is None


def test_waits_are_told_by_bucket() -> None:
    found = grown(vllm(first=[0.05], between=[0.2]), vllm(first=[0.05, 0.3, 0.25, 2.0], between=[0.2, 0.7]))
    assert found is not None
    assert (found.first.count, round(found.first.seconds, 9)) == (3, 2.55)
    assert found.first.buckets == {0.1: 0, 0.5: 2, 1.0: 0, float("inf"): 1}
    assert found.between.buckets == {0.1: 0, 0.5: 0, 1.0: 1, float("inf"): 0}


def test_buckets_without_the_last_one_are_none() -> None:
    name = "vllm:inter_token_latency_seconds"
    idle = "vllm:num_requests_running 0\nvllm:num_requests_waiting 0\n"

    def body(count: int) -> str:
        return f'{idle}{name}_bucket{{le="1"}} {count}\n{name}_sum {count}\n{name}_count {count}\n'

    found = grown(body(1), body(3))
    assert found is not None
    assert found.between == Waits(2, 2, {})


def test_a_histogram_without_buckets_has_its_sum_and_count() -> None:
    idle = "vllm:num_requests_running 0\nvllm:num_requests_waiting 0\n"
    name = "vllm:time_to_first_token_seconds"
    found = grown(
        idle + histogram(name, 'engine="0"', [1.0], bounds=()),
        idle + histogram(name, 'engine="0"', [1.0, 3.0], bounds=()),
    )
    assert found is not None
    assert found.first == Waits(1, 3, {})
