"""Ports the operator keeps for listeners it puts into a role's Pods.

Sources: facts rendering §4, §5 and §7, facts admission §7, facts encode §6, spec 1 §Admission refusals.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from modeldeployment.api.choices import RoleKind, RouterName
from modeldeployment.api.conditions import RefusalReason
from modeldeployment.render.engine import Engine, Opening
from modeldeployment.render.errors import RenderRefusal
from modeldeployment.render.joins import NO_EVENTS, Joins
from modeldeployment.render.listener import TCP, ContainerPort, Listener
from modeldeployment.router import KV_EVENTS_PORT, KV_EVENTS_REPLAY_PORT, ROUTERS

if TYPE_CHECKING:
    from modeldeployment.api.roles import Role

EVENTS: Final = (Opening("kv-events", KV_EVENTS_PORT), Opening("kv-replay", KV_EVENTS_REPLAY_PORT))
"""Where KV events are published and asked for again; a publishing role's Service has them too."""


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
    """Answer the ports a role must not listen on, ascending: those that `opened` may open, whatever the cluster is.

    `pair` says whether the deployment declares a Prefill and a Decode role, `has_cache` whether it attaches a pool. A
    role whose user took over the command line gets no listener and keeps every port. The accelerator's maker does not
    matter. `encode` says whether it declares an Encode role, which adds listeners of its own (facts encode §6).
    """
    if not managed:
        return ()
    row = ROUTERS[router] if router else None
    openings = _openings(
        engine,
        kind,
        bootstraps=pair
        and (row is not None or (has_cache and engine.pairs_unrouted))
        and not (encode and row is not None and row.embeds),
        events=row is not None and row.kv_events and engine.publishes_events and kind not in NO_EVENTS,
        encode=encode,
    )
    return tuple(sorted(opening.number for opening in openings))


def opened(role: Role, engine: Engine, joins: Joins, listener: Listener) -> tuple[ContainerPort, ...]:
    """Answer the operator's own listeners in a Pod of `role`, in the order they are declared after the role's ports.

    Raises RenderRefusal where the role listens on one of their numbers under another name.
    """
    if not role.managed:
        return ()
    openings = _openings(
        engine,
        role.kind,
        bootstraps=bool(joins.leg) or (joins.split and engine.pairs_unrouted),
        events=joins.events,
        encode=joins.encode is not None,
    )
    there = {port.number: port.name for port in listener.engine_ports}
    for opening in openings:
        if there.get(opening.number, opening.name) != opening.name:
            raise _conflict(role, opening, openings)
    return tuple(
        ContainerPort(opening.name, opening.number, TCP, declared=False)
        for opening in openings
        if opening.number not in there
    )


def published(joins: Joins) -> tuple[Opening, ...]:
    """Answer which of a role's own listeners are reached through its Service too (facts rendering §10)."""
    return EVENTS if joins.events else ()


def _openings(engine: Engine, kind: RoleKind, *, bootstraps: bool, events: bool, encode: bool) -> tuple[Opening, ...]:
    """The listeners of a managed role of one kind; `bootstraps` says whether halves find each other at its Prefill."""
    return (
        *((engine.bootstrap,) if bootstraps and kind is RoleKind.PREFILL else ()),
        *(EVENTS if events else ()),
        *(engine.encode_ports.get(kind, ()) if encode else ()),
    )


def _conflict(role: Role, opening: Opening, openings: tuple[Opening, ...]) -> RenderRefusal:
    where = "ports" if any(port.port == opening.number for port in role.ports) else "extraArgs"
    kept = ", ".join(str(each.number) for each in openings)
    message = (
        f"spec.roles[{role.name}].{where}: port {opening.number} is where {opening.name} listens, which the operator "
        f"adds to this role; use a port other than {kept}"
    )
    return RenderRefusal(RefusalReason.PORT_CONFLICT, role.name, message)
