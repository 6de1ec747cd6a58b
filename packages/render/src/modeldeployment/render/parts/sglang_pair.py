"""The two halves of an SGLang pair. Source: facts rendering §5."""

from modeldeployment.render.compose import Fragment
from modeldeployment.render.context import Context


def split_arguments(context: Context) -> Fragment:  # noqa: ARG001
    """Say which half this is, and how blocks are handed over."""
    return {}


def retraction(context: Context) -> Fragment:  # noqa: ARG001
    """Keep what a Decode half takes back on the host, unless the role says otherwise."""
    return {}


def transfer_count(context: Context) -> Fragment:  # noqa: ARG001
    """Count transfers; the user may say otherwise."""
    return {}


def time_wait(context: Context) -> Fragment:  # noqa: ARG001
    """Reuse ports in TIME-WAIT on the half that opens a connection a transfer."""
    return {}
