"""What every engine is told of the shared cache. Source: facts rendering §3 and §12, facts kv-cache §4."""

from modeldeployment.render.compose import ARGV, Fragment
from modeldeployment.render.context import Context
from modeldeployment.render.engine import DTYPE_FLAG
from modeldeployment.render.parts.places import MAIN
from modeldeployment.render.store import key_prefix


def cache_dtype(context: Context) -> Fragment:
    """Store blocks in the element type of the reuse domain."""
    store = context.joins.store
    if store is None or not context.renders_dtype:
        return {}
    return {(*MAIN, ARGV, "cache dtype"): (DTYPE_FLAG, store.dtype)}


def cache_prefix(context: Context) -> str:
    """Answer what marks the blocks of these weights in a store; empty without weights or a way to say it."""
    if not (context.weights and context.backend.prefixes):
        return ""
    return key_prefix(context.weights.prefix, context.role.name)
