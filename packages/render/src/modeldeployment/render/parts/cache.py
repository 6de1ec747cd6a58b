"""What every engine is told of the shared cache. Source: facts rendering §3, facts kv-cache §4."""

from modeldeployment.render.compose import Fragment
from modeldeployment.render.context import Context


def cache_dtype(context: Context) -> Fragment:  # noqa: ARG001
    """Store blocks in the element type of the reuse domain."""
    return {}
