"""SGLang. Sources: facts rendering §3, §7 and §13, facts shutdown §1."""

from typing import Final

from modeldeployment.api.modeldeployment import EngineName
from modeldeployment.render import flags
from modeldeployment.render.engine import Engine, Gauges, ListenFlags
from modeldeployment.render.parts.accelerator import accelerator
from modeldeployment.render.parts.arguments import engine_arguments, listen_arguments, user_arguments
from modeldeployment.render.parts.drain import drain
from modeldeployment.render.parts.environment import member_environment, user_environment
from modeldeployment.render.parts.identity import fingerprint, group, identity, shape
from modeldeployment.render.parts.overlay import overlay
from modeldeployment.render.parts.serving import ports, probes, scrape
from modeldeployment.render.parts.topology import topology


def _argv(model: str) -> tuple[str, ...]:
    return ("python3", "-m", "sglang.launch_server", "--model-path", model, "--enable-metrics")


SGLANG: Final = Engine(
    name=EngineName.SGLANG,
    tag="sglang",
    base_argv=_argv,
    flags=flags.read("sglang.flags", underscores=False),
    listen=ListenFlags(),
    in_flight=Gauges(
        always=("sglang:num_running_reqs", "sglang:num_queue_reqs"),
        split=(
            "sglang:num_prefill_bootstrap_queue_reqs",
            "sglang:num_prefill_inflight_queue_reqs",
            "sglang:num_decode_prealloc_queue_reqs",
            "sglang:num_decode_transfer_queue_reqs",
        ),
    ),
    owned_arguments=(
        "--hicache-storage-backend",
        "--hicache-storage-backend-extra-config",
        "--disaggregation-mode",
        "--disaggregation-transfer-backend",
        "--disaggregation-bootstrap-port",
    ),
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
