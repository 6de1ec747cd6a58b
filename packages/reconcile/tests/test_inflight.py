"""What an engine's numbers say of its requests: idle only where everything is there and everything is zero."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from modeldeployment.api import EngineName, RoleKind
from modeldeployment.reconcile.inflight import Busy, Idle, Reading, Unknown, read
from modeldeployment.render import ENGINES

SERVER, PREFILL, DECODE = RoleKind.SERVER, RoleKind.PREFILL, RoleKind.DECODE
VLLM = {"vllm:num_requests_running": 0.0, "vllm:num_requests_waiting": 0.0}
SGLANG = {"sglang:num_running_reqs": 0.0, "sglang:num_queue_reqs": 0.0}
SPLIT = {
    "sglang:num_prefill_bootstrap_queue_reqs": 0.0,
    "sglang:num_prefill_inflight_queue_reqs": 0.0,
    "sglang:num_decode_prealloc_queue_reqs": 0.0,
    "sglang:num_decode_transfer_queue_reqs": 0.0,
}


def text(*tables: dict[str, float], labels: str = '{engine="0",model_name="m"}') -> str:
    return "# HELP x\n" + "".join(f"{name}{labels} {value}\n" for table in tables for name, value in table.items())


def said(body: str, engine: EngineName = EngineName.VLLM, kind: RoleKind = SERVER) -> Reading:
    return read(body.encode(), ENGINES[engine].in_flight, kind)


def test_an_engine_whose_gauges_are_all_there_and_zero_is_idle() -> None:
    assert said(text(VLLM)) == Idle()
    assert said(text(SGLANG), EngineName.SGLANG) == Idle()
    assert said(text(SGLANG, SPLIT), EngineName.SGLANG, DECODE) == Idle()


@pytest.mark.parametrize("name", [*SGLANG, *SPLIT])
def test_a_request_in_any_queue_is_one(name: str) -> None:
    for kind in (SERVER, PREFILL, DECODE):
        assert said(text({**SGLANG, **SPLIT, name: 3}), EngineName.SGLANG, kind) == Busy(3)


@pytest.mark.parametrize("missing", [*SGLANG, *SPLIT])
@pytest.mark.parametrize("kind", [PREFILL, DECODE])
def test_a_half_without_one_of_its_gauges_says_nothing(missing: str, kind: RoleKind) -> None:
    there = {name: 0.0 for name in (*SGLANG, *SPLIT) if name != missing}
    assert said(text(there), EngineName.SGLANG, kind) == Unknown(f"it publishes no {missing}")


@pytest.mark.parametrize("body", ["", "<html>", "up 1\n", text({"vllm:num_requests_running": 0}), text(SGLANG)])
def test_a_body_without_the_gauges_is_not_zero(body: str) -> None:
    assert isinstance(said(body), Unknown)


@pytest.mark.parametrize("value", ["NaN", "+Inf", "-Inf", "-1", "", "zero", "0 0 0", "0x0"])
def test_a_gauge_that_is_no_count_says_nothing(value: str) -> None:
    body = text(VLLM).replace(
        'vllm:num_requests_waiting{engine="0",model_name="m"} 0.0', f"vllm:num_requests_waiting {value}"
    )
    assert isinstance(said(body), Unknown)


def test_a_very_small_number_is_not_zero() -> None:
    assert said(text({**VLLM, "vllm:num_requests_running": 1e-9})) == Busy(1)


def test_ranks_are_summed_and_one_rank_twice_says_nothing() -> None:
    ranks = "".join(text({**VLLM, "vllm:num_requests_running": n}, labels=f'{{engine="{n}"}}') for n in range(3))
    assert said(ranks) == Busy(3)
    assert said(text(VLLM) + text(VLLM)) == Unknown("it gives one series twice")
    busy = text({**VLLM, "vllm:num_requests_running": 5}, labels='{engine="1"}')
    assert said(text(VLLM) + busy) == Busy(5)


def test_what_is_counted_once_more_by_priority_is_not_summed_and_not_overlooked() -> None:
    by_priority = text({"sglang:num_queue_reqs": 2}, labels='{priority="1"}')
    whole = text({**SGLANG, "sglang:num_queue_reqs": 2}, labels='{priority=""}')
    assert said(whole + by_priority, EngineName.SGLANG) == Busy(2)
    assert said(text(SGLANG) + by_priority, EngineName.SGLANG) == Busy(1)


@given(st.binary(max_size=200))
def test_whatever_an_engine_answers_nothing_is_idle_without_its_gauges(body: bytes) -> None:
    assert read(body, ENGINES[EngineName.VLLM].in_flight, SERVER) != Idle()
