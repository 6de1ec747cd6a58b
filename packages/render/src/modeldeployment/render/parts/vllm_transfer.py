"""How a vLLM engine hands cache blocks over and where it finds them. Source: facts rendering §4, facts encode §6."""

from typing import Any, Final

from modeldeployment.api.choices import RoleKind
from modeldeployment.render.compose import ARGV, Defaulted, Fragment
from modeldeployment.render.context import Context
from modeldeployment.render.documents import compact
from modeldeployment.render.parts.cache import cache_prefix
from modeldeployment.render.parts.places import ANNOTATIONS, MAIN, POD_ADDRESS, SPEC
from modeldeployment.render.parts.volumes import covers
from modeldeployment.render.transfer import document
from modeldeployment.router import BOOTSTRAP_PORT

TRANSFER_COUNT: Final = "MC_TE_METRIC"
FORCE_TCP: Final = "MC_FORCE_TCP"
DRIVER_VOLUME: Final = "gpustack-ascend-driver"


def transfer_document(context: Context) -> Fragment:
    """Name the connectors of the direct leg and the shared store."""
    said = document(context.role.kind, context.backend, context.joins, context.halves, cache_prefix(context))
    if not said:
        return {}
    return {(*MAIN, ARGV, "transfer"): ("--kv-transfer-config", compact(said))}


def bootstrap(context: Context) -> Fragment:
    """Let the other half of a pair find this one: at the bootstrap port of a Prefill half, or at the Pod's address."""
    backend, joins = context.backend, context.joins
    if joins.by_address:
        return {(*MAIN, "env", backend.address_variable): POD_ADDRESS}
    if not (joins.leg and context.role.kind is RoleKind.PREFILL):
        return {}
    placed: dict[tuple[str, ...], Any] = {}
    if backend.bootstrap_variable:
        placed[*MAIN, "env", backend.bootstrap_variable] = {"value": str(BOOTSTRAP_PORT)}
    if joins.router and joins.router.bootstrap_annotation:
        placed[*ANNOTATIONS, joins.router.bootstrap_annotation] = str(BOOTSTRAP_PORT)
    return placed


def transfer_pins(context: Context) -> Fragment:
    """Count transfers, and enforce TCP where nothing else is meant; the user may say otherwise."""
    joins = context.joins
    if not joins.connected:
        return {}
    placed = {(*MAIN, "env", TRANSFER_COUNT): Defaulted({"value": "1"})}
    if joins.leg and joins.tcp_only and context.backend.pins_tcp:
        placed[*MAIN, "env", FORCE_TCP] = Defaulted({"value": "1"})
    return placed


def ascend_driver(context: Context) -> Fragment:
    """Mount the driver whose tool names the addresses of the cards, unless the role mounts one there itself."""
    driver = context.backend.driver
    if not (driver and context.joins.leg) or covers(context, driver):
        return {}
    return {
        (*SPEC, "volumes", DRIVER_VOLUME): {"hostPath": {"path": driver, "type": "Directory"}},
        (*MAIN, "volumeMounts", DRIVER_VOLUME): {"mountPath": driver, "readOnly": True},
    }
