"""The document of the endpoint picker of `llm-d-router`: what it filters and scores replicas by.

Source: facts router-rendering §3 and §4, facts routing §5, facts encode §4 and §6; the plugins are those of v0.10.
"""

from collections.abc import Iterator
from typing import Any, Final

from modeldeployment.api import keys
from modeldeployment.api.choices import RoleKind
from modeldeployment.router.front import Front
from modeldeployment.router.ports import KV_EVENTS_PORT, KV_EVENTS_REPLAY_PORT, KV_EVENTS_TOPIC
from modeldeployment.router.row import Metric

THRESHOLD: Final = 8
"""Prompt tokens outside a prefix cache from which a request is split, unless the user says otherwise."""

_SPECS: Final = {
    Metric.QUEUED_REQUESTS: "queuedRequestsSpec",
    Metric.RUNNING_REQUESTS: "runningRequestsSpec",
    Metric.KV_CACHE_UTILIZATION: "kvUsageSpec",
}
_FIRST_ENGINE: Final = "vllm"
"""The engine that the picker takes a Pod for when nobody says."""


def kinds(front: Front) -> tuple[RoleKind, ...]:
    """Answer the kinds the picker picks from, in the order of their names; Encode only where it has to."""
    present = {role.kind for role in front.roles if role.kind is not RoleKind.ENCODE or not front.engine.finds_encoders}
    return tuple(sorted(present, key=lambda kind: kind.label))


def encodes(front: Front) -> bool:
    """Whether the picker picks encoders too."""
    return RoleKind.ENCODE in kinds(front)


def precise(front: Front) -> bool:
    """Whether the picker follows KV events, and does not guess what prefix caches hold.

    Beside encoders it counts tokens by an estimate, whose numbers never equal those in an engine's events: following
    them would find nothing, ever (facts encode §4).
    """
    return front.engine.events and not encodes(front)


def endpoint_selector(front: Front) -> str:
    """Answer which Pods the picker knows, as a label selector; the order of its terms is part of what is hashed.

    An encoder never carries the eligibility label (decisions D4), and a selector cannot say "eligible, or an encoder".
    So beside encoders the picker knows every Pod of the deployment, and the filter of each profile asks for the label.
    """
    terms = (keys.NAME, keys.INSTANCE) if encodes(front) else (keys.NAME, keys.INSTANCE, keys.ELIGIBLE)
    return ",".join((*(f"{key}={front.selector[key]}" for key in terms), f"!{keys.ROUTER}"))


def picker_document(front: Front) -> dict[str, Any]:
    """Answer the `EndpointPickerConfig`: plugins in order, one scheduling profile per kind, and the data layer."""
    document: dict[str, Any] = {
        "apiVersion": "llm-d.ai/v1alpha1",
        "kind": "EndpointPickerConfig",
        "plugins": list(_plugins(front)),
        "schedulingProfiles": [{"name": kind.label, "plugins": list(_profile(kind))} for kind in kinds(front)],
    }
    if precise(front):
        document["dataLayer"] = {
            "sources": [
                {
                    "pluginRef": "metrics-data-source",
                    "extractors": [{"pluginRef": "core-metrics-extractor"}],
                },
                {
                    "pluginRef": "endpoint-notification-source",
                    "extractors": [{"pluginRef": "precise-prefix-cache-producer"}],
                },
            ]
        }
    return document


def _plugins(front: Front) -> Iterator[dict[str, Any]]:
    for kind in kinds(front):
        yield _plugin("label-selector-filter", {"matchLabels": _labels(front, kind)}, name=_filter(kind))
    yield from _tokens_and_prefixes(front)
    yield _plugin("queue-scorer")
    yield _plugin("kv-cache-utilization-scorer")
    yield _plugin("max-score-picker")
    followed = {"prefixMatchInfoProducerName": "precise-prefix-cache-producer"} if precise(front) else {}
    yield _plugin("prefix-cache-scorer", followed)
    yield _plugin("metrics-data-source", {"port": front.port})
    yield _plugin("core-metrics-extractor", _engine(front))
    if front.pair:
        yield from _split(front)


def _tokens_and_prefixes(front: Front) -> Iterator[dict[str, Any]]:
    if precise(front):
        yield _plugin("token-producer", {"modelName": front.model, "vllm": {"url": _tokenizer(front)}})
        yield _plugin("endpoint-notification-source")
        yield _plugin("precise-prefix-cache-producer", {"kvEventsConfig": _events(front)})
        return
    if encodes(front):
        yield _plugin("token-producer", {"estimate": {}})
    yield _plugin("approx-prefix-cache-producer")


def _split(front: Front) -> Iterator[dict[str, Any]]:
    threshold = front.router.disaggregation_threshold_tokens
    cold = THRESHOLD if threshold is None else threshold
    yield _plugin("prefix-based-pd-decider", {"promptTokens": 0, "nonCachedTokens": cold})
    stages, deciders = [RoleKind.PREFILL, RoleKind.DECODE], {"prefill": "prefix-based-pd-decider"}
    if encodes(front):
        yield _plugin("always-disagg-multimodal-decider")
        stages, deciders = [*stages, RoleKind.ENCODE], {**deciders, "encode": "always-disagg-multimodal-decider"}
    profiles = {kind.label: kind.label for kind in stages}
    yield _plugin("disagg-profile-handler", {"profiles": profiles, "deciders": deciders})


def _profile(kind: RoleKind) -> Iterator[dict[str, Any]]:
    """Score by queue, cache and prefix; a decoder holds no prefix worth finding, and an encoder no cache at all."""
    yield {"pluginRef": _filter(kind)}
    yield {"pluginRef": "queue-scorer", "weight": 2}
    if kind is not RoleKind.ENCODE:
        yield {"pluginRef": "kv-cache-utilization-scorer", "weight": 2}
    yield {"pluginRef": "max-score-picker"}
    if kind not in (RoleKind.DECODE, RoleKind.ENCODE):
        yield {"pluginRef": "prefix-cache-scorer", "weight": 3}


def _labels(front: Front, kind: RoleKind) -> dict[str, str]:
    labels = {keys.ROLE_KIND: kind.label}
    if encodes(front) and kind is not RoleKind.ENCODE:
        labels[keys.ELIGIBLE] = keys.TRUE
    return labels


def _events(front: Front) -> dict[str, Any]:
    publishing = endpoint_selector(front)
    if front.of_kind(RoleKind.DECODE):
        publishing += f",{keys.ROLE_KIND}!={RoleKind.DECODE.label}"
    return {
        "topicFilter": KV_EVENTS_TOPIC,
        "concurrency": 4,
        "engineType": front.engine.tag,
        "discoverPods": True,
        "podDiscoveryConfig": {
            "podLabelSelector": publishing,
            "podNamespace": front.namespace,
            "socketPort": KV_EVENTS_PORT,
            "replaySocketPort": KV_EVENTS_REPLAY_PORT,
        },
    }


def _engine(front: Front) -> dict[str, Any]:
    engine = front.engine
    series = {_SPECS[metric]: name for metric, name in engine.numbers.items()}
    guessed = {} if precise(front) else engine.block_numbers
    chosen = {"defaultEngine": engine.tag} if engine.tag != _FIRST_ENGINE else {}
    return {"engineConfigs": [{"name": engine.tag, **series, **guessed}], **chosen}


def _tokenizer(front: Front) -> str:
    """Answer where tokens are counted: the first Prefill role by name, else Server, else whatever there is."""
    for kind in (RoleKind.PREFILL, RoleKind.SERVER):
        for role in front.of_kind(kind):
            return role.endpoint
    return min(front.roles, key=lambda role: role.name).endpoint


def _filter(kind: RoleKind) -> str:
    return f"{kind.label}-pods"


def _plugin(kind: str, parameters: dict[str, Any] | None = None, *, name: str = "") -> dict[str, Any]:
    return {
        **({"name": name} if name else {}),
        "type": kind,
        **({"parameters": parameters} if parameters else {}),
    }
