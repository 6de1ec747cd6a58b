"""Engines that a test makes: what they publish, as text, and who they are."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from modeldeployment.api import RoleKind
from modeldeployment.api.choices import EngineName
from modeldeployment.render import ENGINES
from modeldeployment.scaler.sampling.asked import Engine
from modeldeployment.scaler.sampling.tallies import Fault, Tally, tally

VLLM: Final = ENGINES[EngineName.VLLM].signals
SGLANG: Final = ENGINES[EngineName.SGLANG].signals
BOUNDS: Final = (0.1, 0.5, 1.0)
NOON: Final = datetime(2030, 1, 1, 12, tzinfo=UTC)


def after(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def histogram(name: str, labels: str, waits: Sequence[float], bounds: Sequence[float] = BOUNDS) -> str:
    """Every wait in the first bucket that reaches it; without bounds, sum and count alone."""
    reached = [(f"{bound}", sum(wait <= bound for wait in waits)) for bound in bounds]
    buckets = [*reached, ("+Inf", len(waits))] if bounds else []
    lines = [f'{name}_bucket{{le="{bound}",{labels}}} {count}' for bound, count in buckets]
    return "\n".join([*lines, f"{name}_sum{{{labels}}} {sum(waits)}", f"{name}_count{{{labels}}} {len(waits)}", ""])


def vllm(
    *,
    running: float = 0,
    waiting: float = 0,
    usage: float = 0,
    prompt: float = 0,
    hits: float = 0,
    generation: float = 0,
    first: Sequence[float] = (),
    between: Sequence[float] = (),
    rank: int = 0,
) -> str:
    labels = f'engine="{rank}",model_name="m"'
    return (
        f"vllm:num_requests_running{{{labels}}} {running}\n"
        f"vllm:num_requests_waiting{{{labels}}} {waiting}\n"
        f"vllm:kv_cache_usage_perc{{{labels}}} {usage}\n"
        f"vllm:prefix_cache_queries_total{{{labels}}} {prompt}\n"
        f"vllm:prefix_cache_hits_total{{{labels}}} {hits}\n"
        f"vllm:prompt_tokens_total{{{labels}}} {prompt}\n"
        f"vllm:generation_tokens_total{{{labels}}} {generation}\n"
        + histogram("vllm:time_to_first_token_seconds", labels, first)
        + histogram("vllm:inter_token_latency_seconds", labels, between)
    )


def sglang(
    *,
    running: float = 0,
    queued: float = 0,
    transfers: float | None = 0,
    usage: float = 0,
    prompt: float | None = None,
    effective: Mapping[str, float] | None = None,
    generation: float | None = None,
    rank: int = 0,
) -> str:
    """Counters of tokens are there once they have counted something; what is None is not."""
    labels = f'engine_type="unified",model_name="m",tp_rank="0",pp_rank="0",dp_rank="{rank}"'
    lines = [
        f"sglang:num_running_reqs{{{labels}}} {running}",
        f"sglang:num_queue_reqs{{{labels}}} {queued}",
        f"sglang:token_usage{{{labels}}} {usage}",
    ]
    if transfers is not None:
        lines.append(f"sglang:num_decode_transfer_queue_reqs{{{labels}}} {transfers}")
    if prompt is not None:
        lines.append(f'sglang:prompt_tokens_total{{is_streaming="true",model_name="m"}} {prompt}')
    if generation is not None:
        lines.append(f'sglang:generation_tokens_total{{is_streaming="true",model_name="m"}} {generation}')
    for mode, count in (effective or {}).items():
        lines.append(f'sglang:prefill_effective_tokens_total{{{labels},mode="{mode}"}} {count}')
    return "\n".join([*lines, ""])


def read(body: str, name: EngineName = EngineName.VLLM, kind: RoleKind = RoleKind.SERVER) -> Tally | Fault:
    return tally(body.encode(), ENGINES[name].signals, kind)


def told(body: str, name: EngineName = EngineName.VLLM, kind: RoleKind = RoleKind.SERVER) -> Tally:
    found = read(body, name, kind)
    assert isinstance(found, Tally)
    return found


def engine(
    pod: str = "chat-server-0",
    *,
    role: str = "server",
    kind: RoleKind = RoleKind.SERVER,
    name: EngineName = EngineName.VLLM,
    restarts: int = 0,
    url: str | None = "http://127.0.0.1:1/metrics",
) -> Engine:
    return Engine(role, kind, name, pod, f"uid-{pod}", f"containerd://{pod}-{restarts}", restarts, url)
