"""Ports the operator keeps for listeners it puts into a role's Pods.

Sources: facts admission §7, facts encode §6, spec 1 §Admission refusals.
"""

from typing import Final

from modeldeployment.api.modeldeployment import RouterName
from modeldeployment.api.roles import RoleKind
from modeldeployment.render.engine import Engine
from modeldeployment.router import BOOTSTRAP_PORT, KV_EVENTS_PORT, KV_EVENTS_REPLAY_PORT, ROUTERS

_NO_EVENTS: Final = (RoleKind.DECODE, RoleKind.ENCODE)
"""Kinds without a listener for KV events: one only reads blocks, the other has no cache (spec 1, facts encode §6)."""


def reserved_ports(
    engine: Engine,
    router: RouterName | None,
    kind: RoleKind,
    *,
    pair: bool,
    has_cache: bool,
    managed: bool,
    encode: bool = False,
) -> tuple[int, ...]:
    """Answer the ports a role must not listen on, ascending.

    `pair` says whether the deployment declares a Prefill and a Decode role, `has_cache` whether it attaches a pool. A
    role whose user took over the command line gets no listener and keeps every port. The accelerator's maker does not
    matter. `encode` says whether it declares an Encode role, which adds listeners of its own (facts encode §6).
    """
    if not managed:
        return ()
    reserved = list(engine.encode_ports.get(kind, ())) if encode else []
    if router and ROUTERS[router].kv_events and engine.publishes_events and kind not in _NO_EVENTS:
        reserved += [KV_EVENTS_PORT, KV_EVENTS_REPLAY_PORT]
    if pair and kind is RoleKind.PREFILL and (router or (has_cache and engine.pairs_unrouted)):
        reserved.append(BOOTSTRAP_PORT)
    return tuple(sorted(reserved))
