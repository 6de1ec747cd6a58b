"""The text of `/metrics` under each engine's own names. Sources: facts metrics §1, §3 and §4, facts shutdown §1.

Names are written here once more on purpose: they stand for programs that are not ours, so what we render is judged by
them and not the other way round.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from modeldeployment.api.choices import EngineName
from modeldeployment.lab.engines.behaviour import Half
from modeldeployment.lab.engines.model import BLOCK_SIZE, EngineModel, Histogram, Place
from modeldeployment.lab.engines.telling import Telling

_QUEUES: Final[Mapping[str, Place]] = {
    "num_prefill_bootstrap_queue_reqs": Place.BOOTSTRAP,
    "num_prefill_inflight_queue_reqs": Place.INFLIGHT,
    "num_decode_prealloc_queue_reqs": Place.PREALLOC,
    "num_decode_transfer_queue_reqs": Place.TRANSFER,
}
_TRUTH: Final = Telling()


def metrics(
    engine: EngineName, served: str, model: EngineModel, half: Half = Half.UNIFIED, telling: Telling = _TRUTH
) -> str:
    """Write what an engine that serves a model of this name exports; `telling` may twist it."""
    lines: list[str] = []
    for rank in range(telling.ranks):
        # Only the first rank has anything to do; the others say that they are idle.
        shown = model if not rank else EngineModel(bounds=model.bounds)
        match engine:
            case EngineName.VLLM:
                told = _vllm(shown, {"engine": str(rank), "model_name": served})
            case EngineName.SGLANG:
                ranks = {"dp_rank": str(rank)} if telling.ranks > 1 else {}
                labels = {"engine_type": half.value, "model_name": served, "pp_rank": "0", "tp_rank": "0", **ranks}
                told = _sglang(shown, labels)
        written = list(_twisted(told, telling))
        lines += written * 2 if telling.twice and not rank else written
    return "\n".join(lines) + "\n"


def _twisted(lines: Iterable[str], telling: Telling) -> Iterator[str]:
    for line in lines:
        name = (line.split()[2] if line.startswith("#") else line.partition("{")[0]).strip()
        if name in telling.without:
            continue
        lie = None if line.startswith("#") else telling.lies.get(name)
        yield line if lie is None else f"{line.rpartition(' ')[0]} {lie}"


def _vllm(model: EngineModel, labels: Mapping[str, str]) -> Iterator[str]:
    yield from _gauge("vllm:num_requests_running", model.running, labels)
    # A decoder's requests that wait for blocks are waiting ones here (facts shutdown §1).
    waiting = model.waiting + model.at(Place.PREALLOC) + model.at(Place.TRANSFER)
    yield from _gauge("vllm:num_requests_waiting", waiting, labels)
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
    yield from _histogram("vllm:request_time_per_output_token_seconds", model.per_token, labels)


def _sglang(model: EngineModel, labels: Mapping[str, str]) -> Iterator[str]:
    yield from _gauge("sglang:num_running_reqs", model.running, labels)
    yield from _gauge("sglang:num_queue_reqs", model.waiting, labels)
    for queue, place in _QUEUES.items():
        yield from _gauge(f"sglang:{queue}", model.at(place), labels)
    yield from _gauge("sglang:token_usage", model.usage, labels)
    yield from _gauge("sglang:page_size", BLOCK_SIZE, labels)
    yield from _gauge("sglang:num_pages", model.blocks, labels)
    streaming = {streamed: {**labels, "is_streaming": str(streamed).lower()} for streamed in model.served}
    yield "# TYPE sglang:prompt_tokens_total counter"
    for streamed, served in model.served.items():
        yield _sample("sglang:prompt_tokens_total", served.prompt_tokens, streaming[streamed])
    yield "# TYPE sglang:generation_tokens_total counter"
    for streamed, served in model.served.items():
        yield _sample("sglang:generation_tokens_total", served.generation_tokens, streaming[streamed])
    yield "# TYPE sglang:prefill_effective_tokens_total counter"
    by_mode = {
        "input": model.prompt_tokens - model.cached_tokens,
        "device_hit": model.cached_tokens,
        "host_hit": 0,
        "storage_hit": 0,
    }
    for mode, count in by_mode.items():
        yield _sample("sglang:prefill_effective_tokens_total", count, {**labels, "mode": mode})
    yield "# TYPE sglang:time_to_first_token_seconds histogram"
    for streamed, served in model.served.items():
        yield from _buckets("sglang:time_to_first_token_seconds", served.first, streaming[streamed])
    yield from _histogram("sglang:inter_token_latency_seconds", model.between, labels)


def _gauge(name: str, value: float, labels: Mapping[str, str]) -> Iterator[str]:
    yield f"# TYPE {name} gauge"
    yield _sample(name, value, labels)


def _counter(name: str, value: float, labels: Mapping[str, str]) -> Iterator[str]:
    yield f"# TYPE {name} counter"
    yield _sample(name, value, labels)


def _histogram(name: str, observed: Histogram, labels: Mapping[str, str]) -> Iterator[str]:
    yield f"# TYPE {name} histogram"
    yield from _buckets(name, observed, labels)


def _buckets(name: str, observed: Histogram, labels: Mapping[str, str]) -> Iterator[str]:
    below = 0
    for bound, count in zip((*(str(float(each)) for each in observed.bounds), "+Inf"), observed.counts, strict=True):
        below += count
        yield _sample(f"{name}_bucket", below, {**labels, "le": bound})
    yield _sample(f"{name}_sum", observed.total, labels)
    yield _sample(f"{name}_count", below, labels)


def _sample(name: str, value: float, labels: Mapping[str, str]) -> str:
    written = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items())
    return f"{name}{{{written}}} {float(value)}"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
