"""The text of `/metrics` under each engine's own names. Sources: facts metrics §1, §3 and §4, facts shutdown §1.

Names are written here once more on purpose: they stand for programs that are not ours, so what we render is judged by
them and not the other way round.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from modeldeployment.api.choices import EngineName
from modeldeployment.lab.engines.model import BLOCK_SIZE, EngineModel, Histogram

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
"""The type of the text."""

_IDLE_QUEUES: Final = (
    "num_prefill_bootstrap_queue_reqs",
    "num_prefill_inflight_queue_reqs",
    "num_decode_prealloc_queue_reqs",
    "num_decode_transfer_queue_reqs",
)


def metrics(engine: EngineName, served: str, model: EngineModel) -> str:
    """Write what an engine that serves a model of this name exports."""
    match engine:
        case EngineName.VLLM:
            lines = _vllm(model, {"engine": "0", "model_name": served})
        case EngineName.SGLANG:
            lines = _sglang(model, {"engine_type": "unified", "model_name": served, "pp_rank": "0", "tp_rank": "0"})
    return "\n".join(lines) + "\n"


def _vllm(model: EngineModel, labels: Mapping[str, str]) -> Iterator[str]:
    yield from _gauge("vllm:num_requests_running", model.running, labels)
    yield from _gauge("vllm:num_requests_waiting", model.waiting, labels)
    yield from _gauge("vllm:kv_cache_usage_perc", model.usage, labels)
    config = {"block_size": str(BLOCK_SIZE), "num_gpu_blocks": str(model.blocks)}
    yield from _gauge("vllm:cache_config_info", 1, {"engine": labels["engine"], **config})
    yield from _counter("vllm:prefix_cache_queries_total", model.prompt_tokens, labels)
    yield from _counter("vllm:prefix_cache_hits_total", model.cached_tokens, labels)
    yield from _counter("vllm:external_prefix_cache_queries_total", model.external_queries, labels)
    yield from _counter("vllm:external_prefix_cache_hits_total", model.external_hits, labels)
    yield from _counter("vllm:prompt_tokens_total", model.prompt_tokens, labels)
    yield from _counter("vllm:generation_tokens_total", model.generation_tokens, labels)
    yield "# TYPE vllm:request_success_total counter"
    for reason, count in (("stop", model.finished), ("abort", model.aborted)):
        yield _sample("vllm:request_success_total", count, {**labels, "finished_reason": reason})
    yield from _histogram("vllm:time_to_first_token_seconds", model.first, labels)
    yield from _histogram("vllm:inter_token_latency_seconds", model.between, labels)
    yield from _histogram("vllm:request_time_per_output_token_seconds", model.between, labels)


def _sglang(model: EngineModel, labels: Mapping[str, str]) -> Iterator[str]:
    yield from _gauge("sglang:num_running_reqs", model.running, labels)
    yield from _gauge("sglang:num_queue_reqs", model.waiting, labels)
    for queue in _IDLE_QUEUES:
        yield from _gauge(f"sglang:{queue}", 0, labels)
    yield from _gauge("sglang:token_usage", model.usage, labels)
    yield from _gauge("sglang:page_size", BLOCK_SIZE, labels)
    yield from _gauge("sglang:num_pages", model.blocks, labels)
    yield from _counter("sglang:prompt_tokens_total", model.prompt_tokens, labels)
    yield from _counter("sglang:generation_tokens_total", model.generation_tokens, labels)
    yield "# TYPE sglang:prefill_effective_tokens_total counter"
    by_mode = {
        "input": model.prompt_tokens - model.cached_tokens,
        "device_hit": model.cached_tokens,
        "host_hit": 0,
        "storage_hit": 0,
    }
    for mode, count in by_mode.items():
        yield _sample("sglang:prefill_effective_tokens_total", count, {**labels, "mode": mode})
    yield from _histogram("sglang:time_to_first_token_seconds", model.first, labels)
    yield from _histogram("sglang:inter_token_latency_seconds", model.between, labels)


def _gauge(name: str, value: float, labels: Mapping[str, str]) -> Iterator[str]:
    yield f"# TYPE {name} gauge"
    yield _sample(name, value, labels)


def _counter(name: str, value: float, labels: Mapping[str, str]) -> Iterator[str]:
    yield f"# TYPE {name} counter"
    yield _sample(name, value, labels)


def _histogram(name: str, observed: Histogram, labels: Mapping[str, str]) -> Iterator[str]:
    yield f"# TYPE {name} histogram"
    below = 0
    for bound, count in zip((*map(str, observed.bounds), "+Inf"), observed.counts, strict=True):
        below += count
        yield _sample(f"{name}_bucket", below, {**labels, "le": bound})
    yield _sample(f"{name}_sum", observed.total, labels)
    yield _sample(f"{name}_count", below, labels)


def _sample(name: str, value: float, labels: Mapping[str, str]) -> str:
    written = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items())
    return f"{name}{{{written}}} {float(value)}"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
