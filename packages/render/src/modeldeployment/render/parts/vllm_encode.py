"""Encode, Prefill and Decode on vLLM. Sources: facts encode §2, §3 and §6, decisions D46."""

from typing import Any, Final

from modeldeployment.api.choices import RoleKind
from modeldeployment.api.quantity import Format, Quantity
from modeldeployment.render import encoding
from modeldeployment.render.compose import ARGV, Defaulted, Fragment
from modeldeployment.render.context import Context
from modeldeployment.render.documents import compact
from modeldeployment.render.joins import HALVES
from modeldeployment.render.parts.places import MAIN, POD_ADDRESS, SPEC
from modeldeployment.render.parts.volumes import covers
from modeldeployment.router import ENCODER_TRANSFER_PORT

CACHE_BYTES: Final = 4 * 2**30
"""What an encoder's cache, and each consumer's, may hold; the connector has no default of its own."""
SHARED_BYTES: Final = CACHE_BYTES + 2**30
"""Size of the shared memory that the cache lies in.

The mount replaces the 64 MiB a container gets elsewhere, so the engine's own segments need room beside the cache.
"""
SHARED_MEMORY: Final = "/dev/shm"  # noqa: S108 -- the mount itself, no file in it
VOLUME: Final = "encoder-output"


def encoder_document(context: Context) -> Fragment:
    """Say over which connector encoder output is handed on, and what an encoder computes at all.

    An encoder computes eagerly and caches no prefixes unless the role says otherwise.
    """
    if context.joins.encode is None:
        return {}
    placed: dict[tuple[str, ...], Any] = {}
    if context.role.kind is RoleKind.ENCODE:
        placed[*MAIN, ARGV, "mm-encoder-only"] = ("--mm-encoder-only",)
    if _holds(context):
        placed[*MAIN, ARGV, "ec-transfer-config"] = ("--ec-transfer-config", _document(context.role.kind))
    if context.role.kind is RoleKind.ENCODE:
        if not context.gives("--enforce-eager", "--no-enforce-eager"):
            placed[*MAIN, ARGV, "enforce-eager"] = Defaulted(("--enforce-eager",))
        if not context.gives("--enable-prefix-caching", "--no-enable-prefix-caching"):
            placed[*MAIN, ARGV, "prefix-caching"] = Defaulted(("--no-enable-prefix-caching",))
    if context.role.kind in HALVES and context.joins.embeds:
        placed[*MAIN, ARGV, "mm-embeds"] = context.engine.embeds_arguments
    return placed


def encoder_address(context: Context) -> Fragment:
    """Hand encoder output out at the Pod's own address, which consumers are told with every item."""
    if context.joins.encode is None or context.role.kind is not RoleKind.ENCODE:
        return {}
    return {
        (*MAIN, "env", "VLLM_EC_SIDE_CHANNEL_HOST"): POD_ADDRESS,
        (*MAIN, "env", "VLLM_EC_SIDE_CHANNEL_PORT"): {"value": str(ENCODER_TRANSFER_PORT)},
    }


def encoder_memory(context: Context) -> Fragment:
    """Hold encoder output in shared memory; what is used of it counts against the container's memory."""
    if context.joins.encode is None or not _holds(context) or covers(context, SHARED_MEMORY):
        return {}
    limit = str(Quantity.whole(SHARED_BYTES, Format.BINARY))
    return {
        (*SPEC, "volumes", VOLUME): {"emptyDir": {"medium": "Memory", "sizeLimit": limit}},
        (*MAIN, "volumeMounts", VOLUME): {"mountPath": SHARED_MEMORY},
    }


def _holds(context: Context) -> bool:
    return encoding.holds(context.engine, context.joins.router, context.role.kind)


def _document(kind: RoleKind) -> str:
    role = "ec_producer" if kind is RoleKind.ENCODE else "ec_consumer"
    extra = {"ec_enable_nixl": True, "ec_cpu_bytes": CACHE_BYTES}
    document = {"ec_connector": "ECCPUConnector", "ec_role": role, "ec_connector_extra_config": extra}
    return compact(document)
