"""The client of the shared store in an SGLang engine. Source: facts rendering §5, facts kv-cache §6."""

from modeldeployment.render.compose import Fragment
from modeldeployment.render.context import Context


def store_arguments(context: Context) -> Fragment:  # noqa: ARG001
    """Put the shared store below the hierarchical cache."""
    return {}


def store_environment(context: Context) -> Fragment:  # noqa: ARG001
    """Say where the store is and how it is reached."""
    return {}


def hierarchy(context: Context) -> Fragment:  # noqa: ARG001
    """Keep a hierarchical cache, unless the role says so itself."""
    return {}
