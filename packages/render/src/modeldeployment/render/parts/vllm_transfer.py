"""How a vLLM engine hands cache blocks over and where it finds them. Source: facts rendering §4."""

from modeldeployment.render.compose import Fragment
from modeldeployment.render.context import Context


def transfer_document(context: Context) -> Fragment:  # noqa: ARG001
    """Name the connectors of the direct leg and the shared store."""
    return {}


def bootstrap(context: Context) -> Fragment:  # noqa: ARG001
    """Let the prefill half of a pair be found."""
    return {}


def transfer_pins(context: Context) -> Fragment:  # noqa: ARG001
    """Count transfers, and enforce TCP where nothing else is meant; the user may say otherwise."""
    return {}


def ascend_driver(context: Context) -> Fragment:  # noqa: ARG001
    """Mount the driver whose tool names the addresses of the cards, beside a leg that needs it."""
    return {}
