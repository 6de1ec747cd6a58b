"""The counters by which a replica's account of the shared store is judged are those its engine exports."""

import ast
from collections.abc import Iterator
from pathlib import Path

from modeldeployment.lab.pytest_plugin import ObtainProgram

VLLM_STORE = "vllm/distributed/kv_transfer/kv_connector/v1/mooncake/store"
VLLM_COUNTERS = {
    "vllm:mooncake_store_operation_total",
    "vllm:mooncake_store_operation_keys_total",
    "vllm:mooncake_store_operation_failed_keys_total",
}
SGLANG_COUNTERS = {
    "sglang:backuped_tokens_total",
    "sglang:prefetched_tokens_total",
    "sglang:storage_prefetch_hit_tokens_total",
}


def words(source: Path) -> set[str]:
    """Every string a module writes down."""
    nodes = ast.walk(ast.parse(source.read_text()))
    return {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def statuses(source: Path) -> Iterator[str]:
    """Every word that a call passes as `status`, and the one it has where none is passed."""
    for node in ast.walk(ast.parse(source.read_text())):
        if isinstance(node, ast.keyword) and node.arg == "status":
            yield from (str(each.value) for each in ast.walk(node.value) if isinstance(each, ast.Constant))
        if isinstance(node, ast.arguments):
            keywords = zip(node.kwonlyargs, node.kw_defaults, strict=True)
            yield from (
                str(default.value)
                for argument, default in keywords
                if argument.arg == "status" and isinstance(default, ast.Constant)
            )


def test_vllm_counts_the_calls_of_its_store_client_by_operation_and_outcome(program: ObtainProgram) -> None:
    packages = program("vllm").packages
    exported = words(packages / VLLM_STORE / "metrics.py")
    assert exported >= VLLM_COUNTERS | {"operation", "status"}
    assert set(statuses(packages / VLLM_STORE / "worker.py")) == {"ok", "partial_failure", "error"}
    assert words(packages / "vllm/v1/metrics/loggers.py") >= {"vllm:external_prefix_cache_hits"}


def test_sglang_counts_the_tokens_it_moves_to_and_from_the_store(program: ObtainProgram) -> None:
    exported = words(program("sglang").packages / "sglang/srt/observability/metrics_collector.py")
    assert exported >= SGLANG_COUNTERS
