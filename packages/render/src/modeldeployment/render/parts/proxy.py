"""The routing proxy beside a decoder. Source: facts rendering §8, facts encode §6."""

from typing import Final

from modeldeployment.render.compose import Fragment
from modeldeployment.render.context import Context
from modeldeployment.render.image import mirrored
from modeldeployment.render.parts.places import SPEC

NAME: Final = "routing-proxy"


def routing_proxy(context: Context) -> Fragment:
    """Stand before the engine: run the prefill half that the router named, then hand the request on."""
    listener, backend, serving = context.listener, context.backend, context.listener.serving
    if not listener.proxied:
        return {}
    # Kubernetes before 1.29 has no sidecars; the first regular container is started first there.
    native = context.facts.native_sidecars
    there = (*SPEC, "initContainers" if native else "containers", NAME)
    arguments = [
        f"--port={serving.number}",
        f"--model-server-port={listener.engine_port}",
        *backend.handshake,
        *(backend.encoder_handshake if context.joins.encode else ()),
        "--secure-proxy=false",
    ]
    if listener.scheme == "https":
        arguments += ["--enable-tls=decoder", "--tls-insecure-skip-verify=decoder"]
    placed: dict[tuple[str, ...], object] = {
        (*there, "image"): mirrored(context.facts.policy.routing_sidecar_image, context.facts.policy),
        (*there, "imagePullPolicy"): "IfNotPresent",
        (*there, "args"): arguments,
        (*there, "env", "POD_IP"): {"valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
    }
    for name, value in backend.handshake_environment:
        placed[*there, "env", name] = {"value": value}
    placed[*there, "ports", serving.name] = {"containerPort": serving.number, "protocol": serving.protocol}
    placed[*there, "securityContext"] = {"allowPrivilegeEscalation": False, "runAsNonRoot": True}
    if native:
        placed[*there, "restartPolicy"] = "Always"
    return placed
