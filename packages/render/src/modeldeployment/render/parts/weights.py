"""An artifact's weights. Source: facts api-dependencies §6, facts rendering §12."""

from modeldeployment.render.compose import Fragment
from modeldeployment.render.context import Context


def weights_arguments(context: Context) -> Fragment:  # noqa: ARG001
    """Load these weights at this revision."""
    return {}


def weights_name(context: Context) -> Fragment:  # noqa: ARG001
    """Serve under the model's name, unless the role names it itself."""
    return {}


def weights_environment(context: Context) -> Fragment:  # noqa: ARG001
    """Say where weights are downloaded from and to, and with whose token."""
    return {}


def weights_proxies(context: Context) -> Fragment:  # noqa: ARG001
    """Go through the proxy that leads to the hub; the user may say otherwise."""
    return {}


def weights_volume(context: Context) -> Fragment:  # noqa: ARG001
    """Mount the weights, or room for the engine's own download."""
    return {}
