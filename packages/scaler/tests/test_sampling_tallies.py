"""What one engine says is read whole or not at all, and what it does not say is no zero (spec 3 §Engine signals)."""

import pytest
from modeldeployment.api import RoleKind
from modeldeployment.api.choices import EngineName
from modeldeployment.router.exposition import Series
from modeldeployment.scaler.planning.observed import Silence
from modeldeployment.scaler.sampling.tallies import Fault, tally
from sampling_engines import VLLM, histogram, read, sglang, told, vllm

SGLANG = EngineName.SGLANG


def counted(body: str, name: EngineName = EngineName.VLLM) -> dict[str, float]:
    """What was counted, by name, buckets left out."""
    return {series.name: count for series, count in told(body, name).counts.items() if "bucket" not in series.name}


def test_vllm_says_requests_usage_and_tokens() -> None:
    said = told(vllm(running=3, waiting=2, usage=0.25, prompt=100, hits=40, generation=7))
    assert (said.running, said.waiting, said.usage) == (3, 2, 0.25)
    assert counted(vllm(prompt=100, hits=40, generation=7)) == {
        "vllm:prefix_cache_hits_total": 40,
        "vllm:prompt_tokens_total": 100,
        "vllm:generation_tokens_total": 7,
        "vllm:time_to_first_token_seconds_sum": 0,
        "vllm:time_to_first_token_seconds_count": 0,
        "vllm:inter_token_latency_seconds_sum": 0,
        "vllm:inter_token_latency_seconds_count": 0,
    }


def test_sglang_says_requests_usage_and_tokens() -> None:
    body = sglang(running=3, queued=2, transfers=4, usage=0.5, prompt=9, generation=8, effective={"input": 7})
    said = told(body, SGLANG)
    assert (said.running, said.waiting, said.usage) == (3, 2, 0.5)
    assert counted(body, SGLANG) == {
        "sglang:prompt_tokens_total": 9,
        "sglang:generation_tokens_total": 8,
        "sglang:prefill_effective_tokens_total": 7,
    }


def test_requests_that_wait_for_a_transfer_wait_on_a_decode_role_alone() -> None:
    body = sglang(queued=2, transfers=4)
    assert told(body, SGLANG, RoleKind.DECODE).waiting == 6
    assert told(body, SGLANG, RoleKind.PREFILL).waiting == 2


def test_a_decode_role_that_does_not_say_how_many_wait_for_a_transfer_is_not_read() -> None:
    body = sglang(queued=2, transfers=None)
    assert read(body, SGLANG, RoleKind.DECODE) == Fault(Silence.INCOMPLETE, "sglang:num_decode_transfer_queue_reqs")
    assert told(body, SGLANG, RoleKind.SERVER).waiting == 2


def test_only_the_first_rank_is_read() -> None:
    said = told(vllm(running=3, prompt=10) + vllm(running=50, prompt=100, rank=1))
    assert (said.running, said.counts[Series("vllm:prompt_tokens_total", (("engine", "0"), ("model_name", "m")))]) == (
        3,
        10,
    )
    assert told(sglang(running=3) + sglang(running=50, rank=1), SGLANG).running == 3


@pytest.mark.parametrize("label", ["tp_rank", "pp_rank", "dp_rank", "moe_ep_rank"])
def test_a_series_of_another_rank_is_none_of_sglang(label: str) -> None:
    other = f'sglang:num_running_reqs{{{label}="1"}} 5\nsglang:num_queue_reqs{{{label}="1"}} 5\n'
    assert read(other, SGLANG) == Fault(Silence.INCOMPLETE, "sglang:num_running_reqs")


def test_an_unlabelled_series_is_read() -> None:
    assert told("vllm:num_requests_running 2\nvllm:num_requests_waiting 1\n").running == 2
    assert told('vllm:num_requests_running{engine=""} 2\nvllm:num_requests_waiting 1\n').running == 2


def test_what_another_rank_says_amiss_does_not_matter() -> None:
    assert told(vllm(running=3) + vllm(running=float("nan"), rank=1)).running == 3


def test_requests_that_are_counted_once_more_by_priority_are_counted_once() -> None:
    by_priority = 'sglang:num_running_reqs{tp_rank="0",priority="5"} 2\nsglang:num_queue_reqs{priority="5"} 2\n'
    assert told(sglang(running=3) + by_priority, SGLANG).running == 3


def test_what_processes_of_one_engine_count_side_by_side_is_added_up() -> None:
    more = 'vllm:num_requests_running{engine="0",model_name="lora"} 4\n'
    assert told(vllm(running=3) + more).running == 7


@pytest.mark.parametrize("name", ["vllm:num_requests_running", "vllm:num_requests_waiting"])
def test_an_engine_without_its_gauges_of_requests_is_not_read(name: str) -> None:
    body = "".join(line for line in vllm().splitlines(keepends=True) if not line.startswith(name))
    assert read(body) == Fault(Silence.INCOMPLETE, name)


@pytest.mark.parametrize("body", ["", "<html>not metrics</html>", "vllm:num_requests_running_total 3\n", "\x00" * 99])
def test_a_body_of_something_else_is_not_read(body: str) -> None:
    assert read(body) == Fault(Silence.INCOMPLETE, "vllm:num_requests_running")


@pytest.mark.parametrize("value", ["NaN", "+Inf", "-Inf", "-1", "1e300", "9007199254740993000", "2.5"])
@pytest.mark.parametrize(
    "name",
    [
        "vllm:num_requests_running",
        "vllm:prompt_tokens_total",
        "vllm:prefix_cache_hits_total",
        "vllm:time_to_first_token_seconds_count",
    ],
)
def test_a_number_that_cannot_be_counted_spoils_the_engine_and_is_no_zero(name: str, value: str) -> None:
    lines = [
        f"{line.rpartition(' ')[0]} {value}" if line.startswith(f"{name}{{") else line for line in vllm().split("\n")
    ]
    assert read("\n".join(lines)) == Fault(Silence.ODD, name)


@pytest.mark.parametrize("value", ["NaN", "+Inf", "-0.1"])
def test_a_fraction_that_is_none_spoils_the_engine(value: str) -> None:
    assert read(vllm(usage=float(value))) == Fault(Silence.ODD, "vllm:kv_cache_usage_perc")


def test_a_used_fraction_and_seconds_need_not_be_whole() -> None:
    assert told(vllm(usage=0.123, first=[0.05, 0.0025])).usage == 0.123


@pytest.mark.parametrize(
    "line", ["vllm:num_requests_running{", 'vllm:prompt_tokens_total{a="1"', "vllm:prompt_tokens_total"]
)
def test_a_line_of_a_signal_that_cannot_be_read_spoils_the_engine(line: str) -> None:
    assert read(f"{vllm()}{line}\n") == Fault(Silence.GARBLED)


def test_a_series_that_is_given_twice_spoils_the_engine() -> None:
    twice = 'vllm:num_requests_running{model_name="m",engine="0"} 4\n'
    assert read(vllm(running=3) + twice) == Fault(Silence.REPEATED)


def test_more_series_than_any_engine_has_spoil_it() -> None:
    many = "".join(f'vllm:prompt_tokens_total{{a="{index}"}} 1\n' for index in range(2049))
    assert read(vllm() + many) == Fault(Silence.GARBLED)


@pytest.mark.parametrize("bound", ["x", "", "NaN", "-1", "1e300"])
def test_a_bucket_without_a_bound_spoils_the_engine(bound: str) -> None:
    line = f'vllm:time_to_first_token_seconds_bucket{{le="{bound}"}} 1\n'
    expected = Fault(Silence.GARBLED, "vllm:time_to_first_token_seconds_bucket")
    assert read(vllm() + line) == expected


def test_buckets_that_count_less_the_further_they_reach_spoil_the_engine() -> None:
    name = "vllm:inter_token_latency_seconds"
    idle = "vllm:num_requests_running 0\nvllm:num_requests_waiting 0\n"
    body = f'{idle}{name}_bucket{{le="1"}} 5\n{name}_bucket{{le="2"}} 4\n'
    assert read(body) == Fault(Silence.ODD, f"{name}_bucket")


def test_a_bucket_counts_what_fell_into_it_and_into_none_below() -> None:
    waits = histogram("vllm:inter_token_latency_seconds", 'engine="0"', [0.05, 0.3, 0.4, 7])
    said = told(f"vllm:num_requests_running 0\nvllm:num_requests_waiting 0\n{waits}")
    assert {dict(labels)["le"]: count for (name, labels), count in said.counts.items() if "bucket" in name} == {
        "0.1": 1,
        "0.5": 2,
        "1.0": 0,
        "+Inf": 1,
    }


def test_a_body_that_is_no_text_is_not_read() -> None:
    assert tally(b'vllm:num_requests_running{a="\xff"} 1\n', VLLM, RoleKind.SERVER) == Fault(Silence.GARBLED)
