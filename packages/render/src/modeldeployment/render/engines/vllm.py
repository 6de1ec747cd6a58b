"""vLLM. Sources: facts rendering §3, §7 and §13, facts shutdown §1."""

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
    return ("vllm", "serve", model)


VLLM: Final = Engine(
    name=EngineName.VLLM,
    tag="vllm",
    base_argv=_argv,
    flags=flags.read("vllm.flags", underscores=True),
    listen=ListenFlags(client_certificates="--ssl-cert-reqs"),
    in_flight=Gauges(always=("vllm:num_requests_running", "vllm:num_requests_waiting")),
    owned_arguments=("--kv-transfer-config", "--kv-events-config"),
    owned_environment=frozenset({"MOONCAKE_CONFIG_PATH", "VLLM_MOONCAKE_BOOTSTRAP_PORT"}),
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
