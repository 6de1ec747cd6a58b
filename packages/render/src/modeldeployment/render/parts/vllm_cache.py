"""The client of the shared store in a vLLM engine. Source: facts rendering §4, facts kv-cache §6."""

from modeldeployment.render.compose import Fragment
from modeldeployment.render.context import Context


def client_environment(context: Context) -> Fragment:  # noqa: ARG001
    """Say where the client finds its document."""
    return {}


def client_file(context: Context) -> Fragment:  # noqa: ARG001
    """Carry the client's document in an annotation and project it into the container."""
    return {}
