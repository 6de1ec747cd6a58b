"""SGLang. Sources: facts rendering §3, §7 and §13, facts shutdown §1, facts metrics §3."""

from types import MappingProxyType
from typing import Final

from modeldeployment.api.choices import EngineName, RoleKind
from modeldeployment.render import flags
from modeldeployment.render.backend import Backend
from modeldeployment.render.engine import Engine, Gauges, ListenFlags, Opening, Signals
from modeldeployment.render.engines.releases import SGLANG_FAILURES, SGLANG_FLOORS
from modeldeployment.render.engines.sglang_degrees import SGLANG_DEGREES
from modeldeployment.render.parts.accelerator import accelerator
from modeldeployment.render.parts.arguments import engine_arguments, listen_arguments, user_arguments
from modeldeployment.render.parts.cache import cache_dtype
from modeldeployment.render.parts.drain import drain
from modeldeployment.render.parts.environment import member_environment, user_environment
from modeldeployment.render.parts.identity import fingerprint, group, identity, shape
from modeldeployment.render.parts.overlay import overlay
from modeldeployment.render.parts.proxy import routing_proxy
from modeldeployment.render.parts.serving import ports, probes, scrape
from modeldeployment.render.parts.sglang_cache import hierarchy, store_arguments, store_environment
from modeldeployment.render.parts.sglang_encode import encoder_arguments, encoder_environment
from modeldeployment.render.parts.sglang_pair import retraction, split_arguments, time_wait, transfer_count
from modeldeployment.render.parts.topology import topology
from modeldeployment.render.parts.volumes import additional_volumes
from modeldeployment.render.parts.weights import (
    weights_arguments,
    weights_environment,
    weights_name,
    weights_proxies,
    weights_volume,
)
from modeldeployment.router import BOOTSTRAP_PORT, ENCODER_REGISTRY_PORT, Metric

_RUNNING: Final = "sglang:num_running_reqs"
_QUEUED: Final = "sglang:num_queue_reqs"
_TRANSFERRED: Final = "sglang:num_decode_transfer_queue_reqs"
_USAGE: Final = "sglang:token_usage"


def _argv(model: str) -> tuple[str, ...]:
    return ("python3", "-m", "sglang.launch_server", "--model-path", model, "--enable-metrics")


SGLANG: Final = Engine(
    name=EngineName.SGLANG,
    tag="sglang",
    base_argv=_argv,
    flags=flags.read("sglang.flags", underscores=False),
    listen=ListenFlags(),
    in_flight=Gauges(
        always=(_RUNNING, _QUEUED),
        split=(
            "sglang:num_prefill_bootstrap_queue_reqs",
            "sglang:num_prefill_inflight_queue_reqs",
            "sglang:num_decode_prealloc_queue_reqs",
            _TRANSFERRED,
        ),
    ),
    signals=Signals(
        running=_RUNNING,
        waiting=_QUEUED,
        decode_waiting=_TRANSFERRED,
        usage=_USAGE,
        prompt="sglang:prompt_tokens_total",
        effective="sglang:prefill_effective_tokens_total",
        mode="mode",
        computed="input",
        cached=("device_hit", "host_hit", "storage_hit"),
        generation="sglang:generation_tokens_total",
        first="sglang:time_to_first_token_seconds",
        between="sglang:inter_token_latency_seconds",
        ranks=("tp_rank", "pp_rank", "dp_rank", "moe_ep_rank"),
        share="priority",
    ),
    metrics=MappingProxyType(
        {
            Metric.QUEUED_REQUESTS: _QUEUED,
            Metric.RUNNING_REQUESTS: _RUNNING,
            Metric.KV_CACHE_UTILIZATION: _USAGE,
        }
    ),
    block_metrics=MappingProxyType(
        {
            "cacheBlockSizeSpec": "sglang:page_size",
            "cacheNumBlocksSpec": "sglang:num_pages",
        }
    ),
    degrees=SGLANG_DEGREES,
    backends=MappingProxyType(
        {
            "": Backend(
                "sglang",
                title="SGLang",
                floors=SGLANG_FLOORS,
                failures=SGLANG_FAILURES,
                handshake=("--kv-connector=sglang",),
                handshake_environment=(("SGLANG_BOOTSTRAP_PORT", str(BOOTSTRAP_PORT)),),
            )
        }
    ),
    several_names=False,
    pairs_unrouted=True,
    bootstrap=Opening("bootstrap", BOOTSTRAP_PORT),
    encode_ports=MappingProxyType({RoleKind.PREFILL: (Opening("encoder-boot", ENCODER_REGISTRY_PORT),)}),
    owned_arguments=(
        "--hicache-storage-backend",
        "--hicache-storage-backend-extra-config",
        "--disaggregation-mode",
        "--disaggregation-transfer-backend",
        "--disaggregation-bootstrap-port",
    ),
    artifact_arguments=("--model-path", "--revision", "--download-dir"),
    revision_argument="--revision",
    model_scope_switch="SGLANG_USE_MODELSCOPE",
    encode_arguments=(
        "--encoder-only",
        "--language-only",
        "--encoder-urls",
        "--encoder-transfer-backend",
        "--encoder-bootstrap-port",
        "--encoder-register-urls",
    ),
    embeds_arguments=(),
    owned_environment=frozenset(
        {
            "SGLANG_HICACHE_MOONCAKE_CONFIG_PATH",
            "MOONCAKE_MASTER",
            "MOONCAKE_TE_META_DATA_SERVER",
            "MOONCAKE_PROTOCOL",
            "MOONCAKE_DEVICE",
            "MOONCAKE_GLOBAL_SEGMENT_SIZE",
            "MOONCAKE_LOCAL_HOSTNAME",
            "MOONCAKE_TENANT_ID",
        }
    ),
    encode_environment=frozenset({"SGLANG_ENCODER_BOOTSTRAP_HEALTH_CHECK_INTERVAL"}),
    encoder_cache=False,
    parts=(
        identity,
        group,
        topology,
        scrape,
        fingerprint,
        shape,
        routing_proxy,  # before the engine: where it is no sidecar, the first container is started first
        engine_arguments,
        weights_arguments,
        store_arguments,
        split_arguments,
        cache_dtype,
        encoder_arguments,
        hierarchy,
        retraction,
        weights_name,
        user_arguments,
        listen_arguments,
        store_environment,
        encoder_environment,
        weights_environment,
        transfer_count,
        weights_proxies,
        user_environment,
        member_environment,
        ports,
        probes,
        accelerator,
        drain,
        additional_volumes,
        weights_volume,
        time_wait,
        overlay,
    ),
)
