"""What every engine is told of the shared cache. Source: facts rendering §3 and §12, facts kv-cache §4."""

import re
from typing import Final

from modeldeployment.api.conditions import RefusalReason
from modeldeployment.render.compose import ARGV, Fragment
from modeldeployment.render.context import Context
from modeldeployment.render.engine import DTYPE_FLAG
from modeldeployment.render.errors import RenderRefusal
from modeldeployment.render.parts.places import MAIN

_SEPARATORS: Final = re.compile("[@_:]")
"""What the connectors put between the parts of a block's key."""


def cache_dtype(context: Context) -> Fragment:
    """Store blocks in the element type of the reuse domain."""
    store = context.joins.store
    if store is None or not context.renders_dtype:
        return {}
    return {(*MAIN, ARGV, "cache dtype"): (DTYPE_FLAG, store.dtype)}


def cache_prefix(context: Context) -> str:
    """Answer what marks the blocks of these weights in the store; empty without a store, weights or a way to say it.

    Raises RenderRefusal for a prefix that would be read as several parts of a key.
    """
    if not (context.joins.store and context.weights and context.backend.prefixes):
        return ""
    prefix = context.weights.prefix
    found = _SEPARATORS.search(prefix)
    if found is None:
        return prefix
    message = (
        f"spec.model.artifactRef marks its blocks with {prefix!r}: {found[0]!r} separates the parts of a block's key "
        "in the store; take an artifact whose digest makes a prefix of letters, digits and dashes"
    )
    raise RenderRefusal(RefusalReason.CACHE_PREFIX_INVALID, context.role.name, message)
