"""The stream of KV events of a vLLM engine. Source: facts rendering §4."""

from modeldeployment.render.compose import Fragment
from modeldeployment.render.context import Context


def kv_events(context: Context) -> Fragment:  # noqa: ARG001
    """Publish cache events where the router subscribes to them."""
    return {}
