"""Encode, Prefill and Decode on SGLang. Source: facts encode §6, decisions D46."""

from modeldeployment.render.compose import Fragment
from modeldeployment.render.context import Context


def encoder_arguments(context: Context) -> Fragment:  # noqa: ARG001
    """Say who encodes, and where encoders are found."""
    return {}


def encoder_environment(context: Context) -> Fragment:  # noqa: ARG001
    """Keep encoders that are reached through a Service."""
    return {}
