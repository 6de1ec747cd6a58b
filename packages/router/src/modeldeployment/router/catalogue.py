"""The closed catalogue of routers: adding one is a row here.

Sources: facts admission §5, facts router-rendering §6, facts routing §1 and §6, facts encode §6.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from modeldeployment.api import keys
from modeldeployment.api.choices import EngineName, RouterName
from modeldeployment.router import commandline
from modeldeployment.router.picker import picker
from modeldeployment.router.row import FixedProfile, Metric, Policies, RouterRow

_LISTENS_AND_DISCOVERS: Final = frozenset(
    {
        "--host",
        "--port",
        "--prometheus-host",
        "--prometheus-port",
        "--service-discovery",
        "--service-discovery-namespace",
        "--service-discovery-port",
        "--selector",
        "--prefill-selector",
        "--decode-selector",
    }
)


def _policies(*prefix: str) -> Policies:
    return Policies("--policy", "--prefill-policy", "--decode-policy", default="cache_aware", prefix=frozenset(prefix))


_LLM_D: Final = RouterRow(
    name=RouterName.LLM_D,
    engines=frozenset({EngineName.VLLM, EngineName.SGLANG}),
    owned_arguments=frozenset(
        {
            "--endpoint-selector",
            "--endpoint-target-ports",
            "--config-file",
            "--secure-serving",
            "--grpc-health-port",
            "--metrics-endpoint-auth",
        }
    ),
    thresholds=True,
    metrics=tuple(Metric),
    kv_events=True,
    proxies_decode=True,
    counts_tokens=True,
    pairs_ascend=True,
    embeds=False,
    policy=FixedProfile(prefix=True),
    workload=picker,
)
_VLLM: Final = RouterRow(
    name=RouterName.VLLM,
    engines=frozenset({EngineName.VLLM}),
    owned_arguments=_LISTENS_AND_DISCOVERS | {"--kv-connector", "--vllm-pd-disaggregation", "--epd-config"},
    thresholds=False,
    metrics=(),
    kv_events=False,
    proxies_decode=False,
    counts_tokens=False,
    pairs_ascend=False,
    embeds=True,
    policy=_policies("cache_aware", "kv_aware"),
    workload=commandline.VLLM,
    bootstrap_annotation=keys.VLLM_BOOTSTRAP_PORT,
    timeout_argument=commandline.TIMEOUT,
)
_SGLANG: Final = RouterRow(
    name=RouterName.SGLANG,
    engines=frozenset({EngineName.SGLANG}),
    owned_arguments=_LISTENS_AND_DISCOVERS | {"--pd-disaggregation"},
    thresholds=False,
    metrics=(),
    kv_events=False,
    proxies_decode=False,
    counts_tokens=False,
    pairs_ascend=False,
    embeds=False,
    policy=_policies("cache_aware"),
    workload=commandline.SGLANG,
    timeout_argument=commandline.TIMEOUT,
)

ROUTERS: Final[Mapping[RouterName, RouterRow]] = MappingProxyType({row.name: row for row in (_LLM_D, _VLLM, _SGLANG)})
"""Every router by the name a deployment gives it."""
