"""What an engine's counters say of the shared store, and what is remembered of it (facts status §10)."""

import pytest
from modeldeployment.reconcile.accounts import Accounts, judge, tally
from modeldeployment.reconcile.deciding.seen import Account
from reconcile_recordings import VLLM_DECODE, VLLM_PREFILL

SUCCEEDING, FAILING = Account.SUCCEEDING, Account.FAILING


def operations(operation: str, status: str, calls: float, keys: float = 0, failed: float = 0) -> str:
    """What vLLM exports of one operation with one outcome."""
    labels = f'{{engine="0",model_name="m",operation="{operation}",status="{status}"}}'
    series = "vllm:mooncake_store_operation"
    return (
        f"{series}_total{labels} {calls}\n"
        f"{series}_keys_total{labels} {keys}\n"
        f"{series}_failed_keys_total{labels} {failed}\n"
    )


def said(*texts: str, before: str | None = None, decodes: bool = False) -> Account | None:
    earlier = None if before is None else tally(before.encode())
    return judge(earlier, tally("".join(texts).encode()), decodes=decodes)


PUT = operations("save_put", "ok", 3, 6)
BROKEN = operations("save_put", "error", 2, 4, 4)
HITS = 'vllm:external_prefix_cache_hits_total{engine="0",model_name="m"} 64.0\n'
COLD = (
    'vllm:external_prefix_cache_queries_total{engine="0"} 999.0\nvllm:external_prefix_cache_hits_total{engine="0"} 0\n'
)


def test_an_engine_that_counts_no_operation_says_nothing() -> None:
    assert said("") is None
    assert said("vllm:num_requests_running 3.0\nsglang:num_queue_reqs 1.0\n") is None
    assert said(operations("save_put", "ok", 0)) is None


def test_a_cold_cache_is_no_failure() -> None:
    assert said(COLD) is None
    assert said(COLD, operations("lookup_exists", "ok", 9, 90)) is SUCCEEDING


@pytest.mark.parametrize("operation", ["lookup_exists", "save_exists", "save_put", "load_get"])
def test_vllm_says_by_operation_and_outcome_what_became_of_its_calls(operation: str) -> None:
    assert said(operations(operation, "ok", 1, 2)) is SUCCEEDING
    assert said(operations(operation, "error", 1, 2, 2)) is FAILING
    assert said(operations(operation, "error", 1, 2, 2), operations(operation, "ok", 1, 2)) is SUCCEEDING


def test_a_call_that_fails_in_part_succeeds_where_a_key_got_through() -> None:
    assert said(operations("save_put", "partial_failure", 1, 4, 3)) is SUCCEEDING
    assert said(operations("save_put", "partial_failure", 1, 4, 4)) is FAILING


def test_an_outcome_nobody_knows_says_nothing() -> None:
    assert said(operations("save_put", "shrugged", 1, 4)) is None
    assert said('vllm:mooncake_store_operation_total{operation="save_put"} 3') is None


def test_tokens_found_outside_of_the_engine_are_the_stores_except_on_the_half_that_is_handed_them() -> None:
    assert said(HITS) is SUCCEEDING
    assert said(HITS, decodes=True) is None
    assert said(HITS, BROKEN, decodes=True) is FAILING


@pytest.mark.parametrize("name", ["backuped_tokens", "prefetched_tokens", "storage_prefetch_hit_tokens"])
def test_sglang_says_what_it_moved_and_never_what_failed(name: str) -> None:
    series = f'sglang:{name}_total{{storage_backend="mooncake",tp_rank="0"}}'
    assert said(f"{series} 128.0\n") is SUCCEEDING
    assert said(f"{series} 0.0\n") is None
    unfulfilled = 'sglang:storage_prefetch_unfulfilled_tokens_total{reason="storage_transfer"} 64.0\n'
    assert said(f"{series} 0.0\n", unfulfilled) is None


def test_only_what_happened_since_the_last_reading_counts() -> None:
    assert said(PUT, before=PUT) is None
    assert said(PUT, BROKEN, before=PUT) is FAILING
    assert said(PUT, BROKEN, before=BROKEN) is SUCCEEDING
    assert said(PUT, BROKEN) is SUCCEEDING


def test_an_engine_that_counts_less_than_before_has_started_anew() -> None:
    before = operations("save_put", "ok", 9, 9) + operations("save_put", "error", 9, 9, 9)
    assert said(operations("save_put", "ok", 2, 2), operations("save_put", "error", 9, 9, 9), before=before) is (
        SUCCEEDING
    )
    assert said(BROKEN, before=before) is FAILING


def test_what_real_halves_of_a_pair_exported_is_read() -> None:
    assert said(VLLM_PREFILL) is SUCCEEDING
    assert said(VLLM_DECODE, decodes=True) is SUCCEEDING
    assert len(tally(VLLM_PREFILL.encode())) == 10


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>not metrics</html>",
        b"\xff\xfe\x00vllm:mooncake_store_operation_total",
        b'vllm:mooncake_store_operation_total{status="\xff"} 1',
        b"vllm:mooncake_store_operation_total",
        b"vllm:mooncake_store_operation_total many",
        b"vllm:mooncake_store_operation_total{{} 1",
        b'vllm:mooncake_store_operation_total{status="ok 1',
        b'vllm:mooncake_store_operation_total{status="ok"} NaN',
        b'vllm:mooncake_store_operation_total{status="ok"} +Inf',
        b'vllm:mooncake_store_operation_total{status="ok"} -1',
        b'vllm:mooncake_store_operation_total_created{status="ok"} 7',
        b'# vllm:mooncake_store_operation_total{status="ok"} 7',
    ],
)
def test_what_cannot_be_read_says_nothing(body: bytes) -> None:
    assert tally(body) == {}


def test_a_body_of_more_series_than_any_engine_has_says_nothing() -> None:
    endless = [f'sglang:backuped_tokens_total{{tp_rank="{rank}"}} 1\n' for rank in range(2049)]
    assert len(tally("".join(endless[:2048]).encode())) == 2048
    assert tally("".join(endless).encode()) == {}


def heard(*bodies: str | None) -> tuple[list[Account | None], list[str]]:
    """The account after each reading, None standing for an engine that did not answer, and who was told."""
    told: list[str] = []
    accounts, story = Accounts(told.append), []
    for body in bodies:
        if body is None:
            accounts.miss("u")
        else:
            accounts.hear("u", tally(body.encode()), decodes=False)
        story.append(accounts.of("u"))
    return story, told


def test_an_idle_replica_keeps_the_account_it_gave_last_and_only_a_change_is_told() -> None:
    assert heard("", PUT, PUT, PUT + BROKEN, PUT + BROKEN) == (
        [None, SUCCEEDING, SUCCEEDING, FAILING, FAILING],
        ["u", "u"],
    )


def test_a_replica_that_is_not_heard_three_times_in_a_row_has_no_account() -> None:
    assert heard(PUT, None, None, PUT, None, None, None, None, PUT) == (
        [SUCCEEDING] * 6 + [None] * 3,
        ["u", "u"],
    )
    assert heard(None, None, None) == ([None] * 3, [])


def test_who_is_not_asked_any_more_is_forgotten_and_told_of() -> None:
    told: list[str] = []
    accounts = Accounts(told.append)
    for uid, body in (("a", PUT), ("b", BROKEN), ("c", "")):
        accounts.hear(uid, tally(body.encode()), decodes=False)
    assert accounts.among(["a", "b", "c", "d"]) == {"a": SUCCEEDING, "b": FAILING}
    told.clear()
    accounts.keep({"a"})
    assert (accounts.among(["a", "b", "c"]), told) == ({"a": SUCCEEDING}, ["b"])
    accounts.forget()
    assert (accounts.of("a"), told) == (None, ["b"])
