"""Encode, Prefill and Decode on SGLang. Sources: facts encode §5 and §6, decisions D46."""

from typing import Final

from modeldeployment.api import names
from modeldeployment.api.choices import RoleKind
from modeldeployment.render.compose import ARGV, Fragment
from modeldeployment.render.context import Context
from modeldeployment.render.listener import listener
from modeldeployment.render.parts.places import MAIN

TRANSFER: Final = ("--encoder-transfer-backend", "zmq_to_tokenizer")
"""The one transfer of a single call, so that any encoder behind a Service may answer it (facts encode §5)."""


def encoder_arguments(context: Context) -> Fragment:
    """Say who encodes, and have Prefill ask the encoders through their Service."""
    encode = context.joins.encode
    if encode is None:
        return {}
    if context.role.kind is RoleKind.ENCODE:
        return {(*MAIN, ARGV, "encoder"): ("--encoder-only", *TRANSFER)}
    if context.role.kind is not RoleKind.PREFILL:
        return {}
    encoders = listener(encode, context.engine)
    url = f"{encoders.scheme}://{names.role_service(context.name, encode.name)}:{encoders.service_port}"
    # The URLs are a list that takes every token up to the next flag, so another flag of ours closes it.
    return {(*MAIN, ARGV, "encoder"): ("--language-only", "--encoder-urls", url, *TRANSFER)}


def encoder_environment(context: Context) -> Fragment:
    """Keep the encoders' Service in use while encoders come and go; a health check would forget it for good."""
    if context.joins.encode is None or context.role.kind is not RoleKind.PREFILL:
        return {}
    return {(*MAIN, "env", "SGLANG_ENCODER_BOOTSTRAP_HEALTH_CHECK_INTERVAL"): {"value": "0"}}
