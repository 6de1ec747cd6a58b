"""An artifact's weights. Source: facts api-dependencies §6, facts rendering §12."""

from typing import Any, Final

from modeldeployment.api.quantity import Format, Quantity
from modeldeployment.render.compose import ARGV, Defaulted, Fragment
from modeldeployment.render.context import Context
from modeldeployment.render.engine import SERVED_MODEL_NAME
from modeldeployment.render.parts.places import MAIN, SPEC
from modeldeployment.render.weights import CACHE_PATH, MODEL_PATH, Downloaded, Mounted

VOLUME: Final = "gpustack-model"
CACHE_VOLUME: Final = "gpustack-model-cache"


def weights_arguments(context: Context) -> Fragment:
    """Load the weights at the commit the artifact was resolved to, where the engine downloads them itself."""
    if context.weights is None or not isinstance(context.weights.delivered, Downloaded):
        return {}
    return {(*MAIN, ARGV, "revision"): context.weights.delivered.arguments}


def weights_name(context: Context) -> Fragment:
    """Serve an artifact's weights under the model's name, unless the role names it itself.

    Any spelling its engine reads counts; two values would be read as two names, or as the later one.
    """
    if context.weights is None or context.engine.served_names(context.role.extra_args) is not None:
        return {}
    return {(*MAIN, ARGV, "served-model-name"): Defaulted((SERVED_MODEL_NAME, context.deployment.spec.model.name))}


def weights_environment(context: Context) -> Fragment:
    """Say where the engine downloads weights from and to, and with whose token."""
    if context.weights is None or not isinstance(context.weights.delivered, Downloaded):
        return {}
    return {(*MAIN, "env", name): entry for name, entry in context.weights.delivered.environment.items()}


def weights_proxies(context: Context) -> Fragment:
    """Download through the proxy that leads to the hub; the role's own variables win."""
    if context.weights is None or not isinstance(context.weights.delivered, Downloaded):
        return {}
    policy = context.facts.policy
    proxies = {"HTTPS_PROXY": policy.https_proxy, "NO_PROXY": policy.no_proxy}
    return {(*MAIN, "env", name): Defaulted({"value": value}) for name, value in proxies.items() if value}


def weights_volume(context: Context) -> Fragment:
    """Mount the weights read-only, or room for the engine's own download; a command of the user's downloads nothing."""
    if context.weights is None:
        return {}
    match context.weights.delivered:
        case Mounted(source=source, sub_path=sub_path):
            mount: dict[str, Any] = {"mountPath": MODEL_PATH, "readOnly": True}
            if sub_path:
                mount["subPath"] = sub_path
            return {(*SPEC, "volumes", VOLUME): source, (*MAIN, "volumeMounts", VOLUME): mount}
        case Downloaded(room=room):
            if not context.role.managed:
                return {}
            limit = str(Quantity.whole(room, Format.BINARY))
            return {
                (*SPEC, "volumes", CACHE_VOLUME): {"emptyDir": {"sizeLimit": limit}},
                (*MAIN, "volumeMounts", CACHE_VOLUME): {"mountPath": CACHE_PATH},
            }
