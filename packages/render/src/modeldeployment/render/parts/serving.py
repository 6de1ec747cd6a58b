"""How a Pod is reached and watched: container ports, probes, scrape annotations. Source: facts rendering §7 and §8."""

from typing import Any, Final

from modeldeployment.api import keys
from modeldeployment.render.compose import Fragment, FromUser
from modeldeployment.render.context import Context
from modeldeployment.render.parts.places import ANNOTATIONS, MAIN

HEALTH_PATH: Final = "/health"
MODELS_PATH: Final = "/v1/models"
"""Asked through the routing proxy, so that an answer means both it and the engine."""
METRICS_PATH: Final = "/metrics"

_FAILURES: Final = {"startupProbe": 180, "readinessProbe": 3, "livenessProbe": 6}
"""With one look every 10 s an engine has half an hour to load its weights."""


def ports(context: Context) -> Fragment:
    """Open the ports the role declares, or the one it serves on, and those of the operator's own listeners."""
    placed: dict[tuple[str, ...], Any] = {}
    for port in (*context.listener.engine_ports, *context.opened):
        value = {"containerPort": port.number, "protocol": port.protocol}
        placed[*MAIN, "ports", port.name] = FromUser(value) if port.declared else value
    return placed


def probes(context: Context) -> Fragment:
    """Ask over HTTP for startup, readiness and liveness, where the kubelet gets an answer."""
    listener = context.listener
    if not listener.probed:
        return {}
    get = {
        "path": MODELS_PATH if listener.proxied else HEALTH_PATH,
        "port": listener.serving.number,
        "scheme": listener.serving_scheme.upper(),
    }
    return {
        (*MAIN, probe): {"httpGet": get, "periodSeconds": 10, "timeoutSeconds": 3, "failureThreshold": failures}
        for probe, failures in _FAILURES.items()
    }


def scrape(context: Context) -> Fragment:
    """Say where the engine's own metrics are read."""
    return {
        (*ANNOTATIONS, keys.SCRAPE): keys.TRUE,
        (*ANNOTATIONS, keys.SCRAPE_PATH): METRICS_PATH,
        (*ANNOTATIONS, keys.SCRAPE_PORT): str(context.listener.engine_port),
        (*ANNOTATIONS, keys.SCRAPE_SCHEME): context.listener.scheme,
    }
