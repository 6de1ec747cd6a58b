"""The client of the shared store in an SGLang engine. Source: facts rendering §5 and §12, facts kv-cache §6."""

from typing import Any, Final

from modeldeployment.api.choices import RoleKind
from modeldeployment.render.compose import ARGV, Defaulted, Fragment
from modeldeployment.render.context import Context
from modeldeployment.render.documents import compact
from modeldeployment.render.parts.cache import cache_prefix
from modeldeployment.render.parts.places import MAIN, POD_ADDRESS
from modeldeployment.render.store import PEERS

_HIERARCHY: Final = "--enable-hierarchical-cache"


def store_arguments(context: Context) -> Fragment:
    """Put the shared store below the hierarchical cache, and mark its blocks where the weights have a mark."""
    if context.joins.store is None:
        return {}
    tokens: tuple[str, ...] = ("--hicache-storage-backend", "mooncake")
    prefix = cache_prefix(context)
    if prefix:
        said = compact({"extra_backend_tag": prefix})
        tokens += ("--hicache-storage-backend-extra-config", said)
    return {(*MAIN, ARGV, "store"): tokens}


def store_environment(context: Context) -> Fragment:
    """Say where the store is and how it is reached.

    An engine gives no memory of its own to the store. No tenant is named to a master that keeps no ledger by tenant.
    """
    joins = context.joins
    if joins.store is None:
        return {}
    tenant = {"MOONCAKE_TENANT_ID": joins.store.tenant} if joins.store.tenant else {}
    said = tenant | {
        "MOONCAKE_MASTER": joins.store.master,
        "MOONCAKE_TE_META_DATA_SERVER": PEERS,
        "MOONCAKE_PROTOCOL": joins.transport,
        "MOONCAKE_DEVICE": "",
        "MOONCAKE_GLOBAL_SEGMENT_SIZE": "0",
    }
    placed: dict[tuple[str, ...], Any] = {(*MAIN, "env", name): {"value": value} for name, value in said.items()}
    return placed | {(*MAIN, "env", "MOONCAKE_LOCAL_HOSTNAME"): POD_ADDRESS}


def hierarchy(context: Context) -> Fragment:
    """Keep a hierarchical cache above the store, unless the role says so itself; a Decode half of a pair keeps none."""
    joins = context.joins
    decodes = joins.split and context.role.kind is RoleKind.DECODE
    if joins.store is None or decodes or context.gives(_HIERARCHY):
        return {}
    return {(*MAIN, ARGV, "hierarchy"): Defaulted((_HIERARCHY,))}
