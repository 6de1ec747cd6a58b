"""The two halves of an SGLang pair. Source: facts rendering §5, §6 and §8, spec 2 §Direct transfer transport."""

from typing import Any, Final

from modeldeployment.api import keys
from modeldeployment.api.choices import RoleKind
from modeldeployment.render.compose import ARGV, Defaulted, Fragment
from modeldeployment.render.context import Context
from modeldeployment.render.parts.places import ANNOTATIONS, MAIN, SPEC
from modeldeployment.render.parts.vllm_transfer import TRANSFER_COUNT
from modeldeployment.router import BOOTSTRAP_PORT

_RETRACTION: Final = "--disaggregation-decode-retraction-backup"


def split_arguments(context: Context) -> Fragment:
    """Say which half this is and how blocks are handed over; on a Prefill half also where it is found.

    TCP is enforced where nothing else is meant: left to itself the engine takes what its host has.
    """
    joins, kind = context.joins, context.role.kind
    if not joins.split:
        return {}
    backend = "mooncake_tcp" if joins.tcp_only else "mooncake"
    tokens = ("--disaggregation-mode", kind.label, "--disaggregation-transfer-backend", backend)
    if kind is not RoleKind.PREFILL:
        return {(*MAIN, ARGV, "split"): tokens}
    found: dict[tuple[str, ...], Any] = {(*ANNOTATIONS, keys.SGLANG_BOOTSTRAP_PORT): str(BOOTSTRAP_PORT)}
    return found | {(*MAIN, ARGV, "split"): (*tokens, "--disaggregation-bootstrap-port", str(BOOTSTRAP_PORT))}


def retraction(context: Context) -> Fragment:
    """Keep what a Decode half takes back on the host, unless the role says otherwise."""
    decodes = context.joins.split and context.role.kind is RoleKind.DECODE
    if not decodes or context.gives(_RETRACTION):
        return {}
    return {(*MAIN, ARGV, "retraction"): Defaulted((_RETRACTION, "cpu_tensor"))}


def transfer_count(context: Context) -> Fragment:
    """Count transfers; the user may say otherwise."""
    return {(*MAIN, "env", TRANSFER_COUNT): Defaulted({"value": "1"})} if context.joins.connected else {}


def time_wait(context: Context) -> Fragment:
    """Reuse ports in TIME-WAIT on the half that opens a connection a transfer, where the setting allows it."""
    prefills = context.joins.split and context.role.kind is RoleKind.PREFILL
    if not (prefills and context.facts.policy.reuse_time_wait):
        return {}
    return {(*SPEC, "securityContext"): {"sysctls": [{"name": "net.ipv4.tcp_tw_reuse", "value": "1"}]}}
