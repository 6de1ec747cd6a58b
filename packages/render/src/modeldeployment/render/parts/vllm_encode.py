"""Encode, Prefill and Decode on vLLM. Source: facts encode §6, decisions D46."""

from modeldeployment.render.compose import Fragment
from modeldeployment.render.context import Context


def encoder_document(context: Context) -> Fragment:  # noqa: ARG001
    """Name the connector over which encoder output is handed on."""
    return {}


def encoder_address(context: Context) -> Fragment:  # noqa: ARG001
    """Hand encoder output out at the Pod's own address."""
    return {}


def encoder_memory(context: Context) -> Fragment:  # noqa: ARG001
    """Hold encoder output in shared memory."""
    return {}
