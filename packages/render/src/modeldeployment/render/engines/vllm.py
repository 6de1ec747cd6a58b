"""vLLM. Sources: facts rendering §3, §7 and §13, facts shutdown §1."""

from types import MappingProxyType
from typing import Final

from modeldeployment.api.modeldeployment import EngineName
from modeldeployment.api.roles import RoleKind
from modeldeployment.render import flags
from modeldeployment.render.engine import ARTIFACT_ENVIRONMENT, Engine, Gauges, ListenFlags
from modeldeployment.render.engines.vllm_degrees import VLLM_DEGREES
from modeldeployment.render.parts.accelerator import accelerator
from modeldeployment.render.parts.arguments import engine_arguments, listen_arguments, user_arguments
from modeldeployment.render.parts.drain import drain
from modeldeployment.render.parts.environment import member_environment, user_environment
from modeldeployment.render.parts.identity import fingerprint, group, identity, shape
from modeldeployment.render.parts.overlay import overlay
from modeldeployment.render.parts.serving import ports, probes, scrape
from modeldeployment.render.parts.topology import topology
from modeldeployment.router import ENCODER_TRANSFER_PORT, Metric

_RUNNING: Final = "vllm:num_requests_running"
_QUEUED: Final = "vllm:num_requests_waiting"


def _argv(model: str) -> tuple[str, ...]:
    return ("vllm", "serve", model)


VLLM: Final = Engine(
    name=EngineName.VLLM,
    tag="vllm",
    base_argv=_argv,
    flags=flags.read("vllm.flags", underscores=True),
    listen=ListenFlags(client_certificates="--ssl-cert-reqs"),
    in_flight=Gauges(always=(_RUNNING, _QUEUED)),
    metrics=MappingProxyType(
        {
            Metric.QUEUED_REQUESTS: _QUEUED,
            Metric.RUNNING_REQUESTS: _RUNNING,
            Metric.KV_CACHE_UTILIZATION: "vllm:kv_cache_usage_perc",
        }
    ),
    degrees=VLLM_DEGREES,
    several_names=True,
    publishes_events=True,
    pairs_unrouted=False,
    encode_ports=MappingProxyType({RoleKind.ENCODE: (ENCODER_TRANSFER_PORT,)}),
    owned_arguments=("--kv-transfer-config", "--kv-events-config"),
    artifact_arguments=("--model", "--revision", "--tokenizer-revision", "--download-dir"),
    encode_arguments=("--ec-transfer-config", "--mm-encoder-only"),
    embeds_arguments=("--enable-mm-embeds",),
    owned_environment=frozenset({"MOONCAKE_CONFIG_PATH", "VLLM_MOONCAKE_BOOTSTRAP_PORT"}),
    artifact_environment=ARTIFACT_ENVIRONMENT | {"VLLM_USE_MODELSCOPE"},
    parts=(
        identity,
        group,
        topology,
        scrape,
        fingerprint,
        shape,
        engine_arguments,
        user_arguments,
        listen_arguments,
        user_environment,
        member_environment,
        ports,
        probes,
        accelerator,
        drain,
        overlay,
    ),
)
