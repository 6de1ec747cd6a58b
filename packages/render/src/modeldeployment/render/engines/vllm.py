"""vLLM. Sources: facts rendering §3, §7 and §13, facts shutdown §1, facts metrics §3."""

from types import MappingProxyType
from typing import Final

from modeldeployment.api.choices import EngineName, RoleKind
from modeldeployment.render import flags
from modeldeployment.render.backend import Backend
from modeldeployment.render.engine import Engine, Gauges, ListenFlags, Opening, Signals
from modeldeployment.render.engines.releases import ASCEND_FLOORS, VLLM_FAILURES, VLLM_FLOORS
from modeldeployment.render.engines.vllm_degrees import VLLM_DEGREES
from modeldeployment.render.parts.accelerator import accelerator
from modeldeployment.render.parts.arguments import engine_arguments, listen_arguments, user_arguments
from modeldeployment.render.parts.cache import cache_dtype
from modeldeployment.render.parts.drain import drain
from modeldeployment.render.parts.environment import member_environment, user_environment
from modeldeployment.render.parts.identity import fingerprint, group, identity, shape
from modeldeployment.render.parts.overlay import overlay
from modeldeployment.render.parts.proxy import routing_proxy
from modeldeployment.render.parts.serving import ports, probes, scrape
from modeldeployment.render.parts.topology import topology
from modeldeployment.render.parts.vllm_cache import client_environment, client_file
from modeldeployment.render.parts.vllm_encode import encoder_address, encoder_document, encoder_memory
from modeldeployment.render.parts.vllm_events import kv_events
from modeldeployment.render.parts.vllm_transfer import ascend_driver, bootstrap, transfer_document, transfer_pins
from modeldeployment.render.parts.volumes import additional_volumes
from modeldeployment.render.parts.weights import (
    weights_arguments,
    weights_environment,
    weights_name,
    weights_proxies,
    weights_volume,
)
from modeldeployment.router import BOOTSTRAP_PORT, ENCODER_TRANSFER_PORT, Metric

_RUNNING: Final = "vllm:num_requests_running"
_QUEUED: Final = "vllm:num_requests_waiting"
_USAGE: Final = "vllm:kv_cache_usage_perc"


def _argv(model: str) -> tuple[str, ...]:
    return ("vllm", "serve", model)


VLLM: Final = Engine(
    name=EngineName.VLLM,
    tag="vllm",
    base_argv=_argv,
    flags=flags.read("vllm.flags", underscores=True),
    listen=ListenFlags(client_certificates="--ssl-cert-reqs"),
    in_flight=Gauges(always=(_RUNNING, _QUEUED)),
    signals=Signals(
        running=_RUNNING,
        waiting=_QUEUED,
        usage=_USAGE,
        prompt="vllm:prompt_tokens_total",
        hits="vllm:prefix_cache_hits_total",
        generation="vllm:generation_tokens_total",
        first="vllm:time_to_first_token_seconds",
        between="vllm:inter_token_latency_seconds",
        ranks=("engine",),
    ),
    metrics=MappingProxyType(
        {
            Metric.QUEUED_REQUESTS: _QUEUED,
            Metric.RUNNING_REQUESTS: _RUNNING,
            Metric.KV_CACHE_UTILIZATION: _USAGE,
        }
    ),
    block_metrics=MappingProxyType({"cacheInfoSpec": "vllm:cache_config_info"}),
    degrees=VLLM_DEGREES,
    backends=MappingProxyType(
        {
            "": Backend(
                "vllm",
                title="vLLM",
                floors=VLLM_FLOORS,
                failures=VLLM_FAILURES,
                store_connector="MooncakeStoreConnector",
                leg_connector="MooncakeConnector",
                address_connector="NixlConnector",
                address_variable="VLLM_NIXL_SIDE_CHANNEL_HOST",
                bootstrap_variable="VLLM_MOONCAKE_BOOTSTRAP_PORT",
                publishes_events=True,
                pins_tcp=True,
                leg_takes_device=True,
                handshake=("--kv-connector=mooncake", f"--mooncake-bootstrap-port={BOOTSTRAP_PORT}"),
                encoder_handshake=("--ec-connector=ec-nixl",),
            ),
            "ascend": Backend(
                "vllm-ascend",
                title="vLLM-Ascend",
                floors=ASCEND_FLOORS,
                store_connector="AscendStoreConnector",
                leg_connector="MooncakeConnectorV1",
                leg_port=BOOTSTRAP_PORT,
                only_transport="ascend",
                pairs_everywhere=False,
                prefixes=False,
                encodes=False,
                driver="/usr/local/Ascend/driver",
                handshake=("--kv-connector=nixlv2",),
            ),
        }
    ),
    several_names=True,
    pairs_unrouted=False,
    bootstrap=Opening("mc-bootstrap", BOOTSTRAP_PORT),
    encode_ports=MappingProxyType({RoleKind.ENCODE: (Opening("ec-nixl", ENCODER_TRANSFER_PORT),)}),
    owned_arguments=("--kv-transfer-config", "--kv-events-config"),
    artifact_arguments=("--model", "--revision", "--tokenizer-revision", "--download-dir"),
    revision_argument="--revision",
    model_scope_switch="VLLM_USE_MODELSCOPE",
    encode_arguments=("--ec-transfer-config", "--mm-encoder-only"),
    embeds_arguments=("--enable-mm-embeds",),
    owned_environment=frozenset({"MOONCAKE_CONFIG_PATH", "VLLM_MOONCAKE_BOOTSTRAP_PORT"}),
    encode_environment=frozenset(
        {"VLLM_EC_SIDE_CHANNEL_HOST", "VLLM_EC_SIDE_CHANNEL_PORT", "VLLM_NIXL_SIDE_CHANNEL_HOST"}
    ),
    encoder_cache=True,
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
        transfer_document,
        kv_events,
        cache_dtype,
        encoder_document,
        weights_name,
        user_arguments,
        listen_arguments,
        client_environment,
        bootstrap,
        encoder_address,
        weights_environment,
        transfer_pins,
        weights_proxies,
        user_environment,
        member_environment,
        ports,
        probes,
        accelerator,
        drain,
        additional_volumes,
        weights_volume,
        client_file,
        ascend_driver,
        encoder_memory,
        overlay,
    ),
)
