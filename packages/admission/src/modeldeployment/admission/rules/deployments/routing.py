"""The router block against the engine and the roles it fronts.

Row 25 of the table, an engine without the metrics a router scores by, has no rule: every engine has every metric, and a
test of the two catalogues says so. Source: facts admission §4 rows 22 to 26, spec 2 §Router configuration.
"""

from collections.abc import Iterator
from typing import Any, Final

from modeldeployment.admission import arguments, patching
from modeldeployment.admission.examples import Example
from modeldeployment.admission.rule import Row, row
from modeldeployment.admission.subjects import DeploymentReview
from modeldeployment.admission.verdict import Cause, Refusal
from modeldeployment.api import RouterName
from modeldeployment.router import ROUTERS

_COUNTS_TOKENS: Final = {"spec.roles[0].extraArgs": ["--enable-scale-out"]}
_LLM_D: Final = _COUNTS_TOKENS | {"spec.router.name": "llm-d-router"}
_TCP: Final = "TCP"
_PLAIN: Final = "http"


@row(
    trigger=Example(_LLM_D | {"spec.router.extraArgs": ["--secure-serving=true"]}),
    near_miss=Example(_LLM_D | {"spec.router.extraArgs": ["--zap-log-level=debug"]}),
)
def owned_router_argument(review: DeploymentReview) -> Iterator[Refusal]:
    """MD022 | spec.router.extraArgs[*] | A flag the operator derives for the router cannot be given a second time.

    One setting has one source. Each router has its own list; a flag of another router is an ordinary argument.
    Flags match by their exact name, up to the first `=`.

    Way out: remove the flag; what it says follows from the deployment. Source: spec 2 §Router configuration.
    """
    if (router := review.router) is None or review.new.spec.router is None:
        return
    given = review.new.spec.router.extra_args
    for index, argument in enumerate(given):
        if flag := router.owns(argument):
            yield Refusal(
                "MD022",
                f"spec.router.extraArgs[{index}]",
                argument,
                why=f"the operator derives {flag} of {router.name} from the deployment, and one setting has one source",
                way_out="remove the flag",
                cause=Cause.FORBIDDEN,
                patch=arguments.without("spec.router.extraArgs", arguments.extent(given, index)),
            )


@row(
    trigger=Example({"spec.router": {"name": "vllm-router", "disaggregationThresholdTokens": 8}}),
    near_miss=Example(_LLM_D | {"spec.router.disaggregationThresholdTokens": 0}),
)
def threshold_without_a_decider(review: DeploymentReview) -> Iterator[Refusal]:
    """MD023 | spec.router.disaggregationThresholdTokens | Only llm-d-router decides per request whether to split.

    The other two routers have no such decision, so the field would be legal to write and render nothing. Zero is a
    value of it like any other: it never splits.

    Way out: leave the field out, or front the deployment with `llm-d-router`. Source: spec 2 §Router fields.
    """
    field = "spec.router.disaggregationThresholdTokens"
    if (router := review.router) is None or router.thresholds or review.new.spec.router is None:
        return
    if (threshold := review.new.spec.router.disaggregation_threshold_tokens) is not None:
        deciding = _named(name for name, each in ROUTERS.items() if each.thresholds)
        yield Refusal(
            "MD023",
            field,
            threshold,
            why=f"{router.name} makes no decision per request that a threshold could steer; only {deciding} does",
            way_out=f"leave it out, or use {deciding}",
            cause=Cause.FORBIDDEN,
            patch=(patching.remove(field),),
        )


@row(
    trigger=Example({"spec.router": {"name": "sglang-gateway"}}),
    near_miss=Example({"spec.router": {"name": "vllm-router"}}),
)
def router_of_another_engine(review: DeploymentReview) -> Iterator[Refusal]:
    """MD024 | spec.router.name | A router fronts the engines it was made for.

    `llm-d-router` accepts vLLM and SGLang, `vllm-router` vLLM, `sglang-gateway` SGLang. Other pairs were never
    measured.

    Way out: a router that accepts the engine. Source: spec 2 §Router configuration.
    """
    router, engine = review.router, review.engine
    if router is None or engine.name in router.engines:
        return
    fitting = _named(name for name, each in ROUTERS.items() if engine.name in each.engines)
    yield Refusal(
        "MD024",
        "spec.router.name",
        router.name.value,
        why=f"{router.name} does not front {engine.name}; the engines it accepts: {', '.join(sorted(router.engines))}",
        way_out=f"front {engine.name} with {fitting}",
        cause=Cause.NOT_SUPPORTED,
    )


@row(
    trigger=Example(_LLM_D | {"spec.roles[0].ports": [{"port": 8000, "protocol": "UDP"}]}),
    near_miss=Example(_LLM_D | {"spec.roles[0].ports": [{"port": 8000}, {"port": 9000, "protocol": "UDP"}]}),
)
def not_routable(review: DeploymentReview) -> Iterator[Refusal]:
    """MD026 | spec.router | A router reaches every role over plain HTTP, on one TCP port they share.

    The port is the one requests arrive at in the Pod: the first of `ports`, or the role's own `--port` where it
    declares none, or 8000. `--ssl-certfile` or `--ssl-keyfile` turns the engine's TLS on; encryption toward callers
    belongs to the gateway in front of the router.

    Way out: give all roles the same TCP serving port and drop the TLS flags. Source: facts router-rendering §3 and
    §6, decisions D34.
    """
    if (router := review.router) is None:
        return
    for role in review.roles:
        if role.listener.serving.protocol != _TCP:
            yield Refusal(
                "MD026",
                "spec.router",
                router.name.value,
                why=f"{router.name} reaches TCP serving ports alone, and role {role.role.name} serves on "
                f"{role.listener.serving.protocol} port {role.listener.serving.number}",
                way_out=f"put a TCP port first in {role.path}.ports, or remove spec.router",
            )
        if role.listener.scheme != _PLAIN:
            yield Refusal(
                "MD026",
                "spec.router",
                router.name.value,
                why=f"{router.name} reaches plaintext endpoints only, and role {role.role.name} serves HTTPS: its "
                f"{role.stream_path} has --ssl-certfile or --ssl-keyfile",
                way_out="drop the TLS flags and encrypt at the gateway in front of the router, or remove spec.router",
            )
    ports = sorted({review.target_port(role) for role in review.roles})
    if len(ports) > 1:
        listed = ", ".join(f"{role.role.name} on {review.target_port(role)}" for role in review.roles)
        yield Refusal(
            "MD026",
            "spec.router",
            router.name.value,
            why=f"{router.name} dials every role on the same serving port, and here they are {ports}: {listed}",
            way_out="give every role the same first entry in ports, or remove spec.router",
        )


def _named(routers: Iterator[RouterName]) -> str:
    return " or ".join(sorted(routers))


RULES: Final[tuple[Row[Any, Any], ...]] = (
    owned_router_argument,
    threshold_without_a_decider,
    router_of_another_engine,
    not_routable,
)
