"""The routing proxy beside a decoder. Source: facts rendering §8."""

from modeldeployment.render.compose import Fragment
from modeldeployment.render.context import Context


def routing_proxy(context: Context) -> Fragment:  # noqa: ARG001
    """Stand before the engine: run the prefill half that the router named, then hand the request on."""
    return {}
