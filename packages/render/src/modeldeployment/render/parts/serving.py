"""How a Pod is reached and watched: container ports, probes, scrape annotations. Source: facts rendering §7 and §8."""

from typing import Any, Final

from modeldeployment.api import keys
from modeldeployment.render.compose import Fragment, FromUser
from modeldeployment.render.context import Context
from modeldeployment.render.parts.places import ANNOTATIONS, MAIN

HEALTH_PATH: Final = "/health"
METRICS_PATH: Final = "/metrics"

_FAILURES: Final = {"startupProbe": 180, "readinessProbe": 3, "livenessProbe": 6}
"""With one look every 10 s an engine has half an hour to load its weights."""


def ports(context: Context) -> Fragment:
    """Open the ports the role declares, or the one it serves on."""
    placed: dict[tuple[str, ...], Any] = {}
    for port in context.listener.ports:
        value = {"containerPort": port.number, "protocol": port.protocol}
        placed[*MAIN, "ports", port.name] = FromUser(value) if port.declared else value
    return placed


def probes(context: Context) -> Fragment:
    """Ask over HTTP for startup, readiness and liveness, where the kubelet gets an answer."""
    listener = context.listener
    if not listener.probed:
        return {}
    get = {"path": HEALTH_PATH, "port": listener.serving.number, "scheme": listener.scheme.upper()}
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
