"""What joins a role to the others of its deployment: the direct leg, the shared store, KV events, the routing proxy.

Every predicate is worked out here, once, and Parts read the answers. Sources: facts rendering §2, spec 2 §Pair
connections, decisions D46.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from modeldeployment.api.choices import RoleKind, StoreProtocol
from modeldeployment.api.conditions import RefusalReason
from modeldeployment.render.backend import Backend
from modeldeployment.render.errors import RenderRefusal
from modeldeployment.render.store import TCP, TRANSPORTS, Store
from modeldeployment.router import ROUTERS, RouterRow

if TYPE_CHECKING:
    from modeldeployment.api.modeldeployment import ModelDeployment, ModelDeploymentSpec
    from modeldeployment.api.roles import Role

HALVES = (RoleKind.PREFILL, RoleKind.DECODE)
NO_EVENTS = (RoleKind.DECODE, RoleKind.ENCODE)
"""Kinds that publish no KV events: one only reads blocks, the other has no cache (spec 1, facts encode §6)."""


@dataclass(frozen=True, slots=True)
class Joins:
    """How one role is joined; a role whose user took over the command line is joined to nothing.

    `pair` says whether the deployment declares a Prefill and a Decode role, `encode` is its Encode role. `split` says
    whether the role is rendered as one half of a pair that Mooncake connects, `handover` is the transport over which
    such a half moves blocks to or from the other, in Mooncake's spelling. `leg` is the same where a router joins the
    two, `transport` that of the store's client. All three are empty where there is none. `by_address` says whether the
    halves are joined by what the router's requests carry instead, over a connector that is no Mooncake's: its router
    knows the addresses of Services and asks no Pod's bootstrap port (facts encode §6). `events` says whether the role
    publishes KV events, `proxied` whether the routing proxy stands before its engine.
    """

    router: RouterRow | None
    pair: bool
    encode: Role | None
    store: Store | None
    transport: str
    handover: str
    leg: str
    by_address: bool
    events: bool
    proxied: bool
    split: bool

    @property
    def connected(self) -> bool:
        """Whether a Mooncake connector is rendered for the role: a store, a leg or both."""
        return bool(self.store or self.leg)

    @property
    def embeds(self) -> bool:
        """Whether the router turns media into embeddings before this role sees them (facts encode §6)."""
        return self.encode is not None and self.router is not None and self.router.embeds

    @property
    def tcp_only(self) -> bool:
        """Whether the whole process may be pinned to TCP: its half uses it, and no store beside it uses another."""
        return self.handover == TCP and (self.store is None or self.transport == TCP)


def declares_pair(kinds: Collection[RoleKind]) -> bool:
    """Whether both halves of a pair are declared; a lone half is no pair."""
    return all(half in kinds for half in HALVES)


def transfer_transport(spec: ModelDeploymentSpec) -> str:
    """Answer the transport of a direct leg in Mooncake's spelling; unset is tcp (spec 2 §Direct transfer transport)."""
    protocol = spec.kv_transfer.protocol if spec.kv_transfer else None
    return TCP if protocol is None else TRANSPORTS[StoreProtocol(protocol.value)]


def of(deployment: ModelDeployment, role: Role, backend: Backend, store: Store | None) -> Joins:
    """Join one role.

    Raises RenderRefusal where a store offers no transport that the engine's client accepts, and for a cache beside
    halves that are joined by address: both connectors in one engine were run by nobody (facts encode §7).
    """
    spec = deployment.spec
    kinds = [each.kind for each in spec.roles]
    router = ROUTERS[spec.router.name] if spec.router else None
    pair, managed = declares_pair(kinds), role.managed
    encode = next((each for each in spec.roles if each.kind is RoleKind.ENCODE), None)
    half = managed and pair and role.kind in HALVES
    joining = router if half else None
    by_address = joining is not None and joining.embeds and encode is not None and bool(backend.address_connector)
    if by_address and joining and spec.kv_cache:
        raise _two_connectors(role, backend, joining, spec.kv_cache.pool_ref.name)
    has_leg = joining is not None and not by_address and (backend.pairs_everywhere or joining.pairs_ascend)
    stored = managed and role.kind is not RoleKind.ENCODE and spec.kv_cache is not None
    attached = store if stored and store and any(store.transports) else None
    split = half and (has_leg or attached is not None)
    handover = transfer_transport(spec) if split else ""
    return Joins(
        router=router,
        pair=pair,
        encode=encode,
        store=attached,
        transport=_transport(role, backend, attached) if attached else "",
        handover=handover,
        leg=handover if has_leg else "",
        by_address=by_address,
        events=managed
        and router is not None
        and router.kv_events
        and backend.publishes_events
        and role.kind not in NO_EVENTS,
        proxied=managed and router is not None and router.proxies_decode and role.kind is RoleKind.DECODE,
        split=split,
    )


def _two_connectors(role: Role, backend: Backend, router: RouterRow, pool: str) -> RenderRefusal:
    message = (
        f"spec.kvCache.poolRef.name is {pool!r}: beside an Encode role {router.name} joins spec.roles[{role.name}] "
        f"to its other half with {backend.address_connector}, and nobody has run that together with "
        f"{backend.store_connector} in one engine; create a deployment without spec.kvCache, or one behind llm-d-router"
    )
    return RenderRefusal(RefusalReason.ROLE_UNSUPPORTED, role.name, message)


def _transport(role: Role, backend: Backend, store: Store) -> str:
    """Answer the first transport on offer that the engine's client accepts."""
    offers = tuple(dict.fromkeys(filter(None, store.transports)))
    for transport in offers:
        if backend.accepts(transport):
            return transport
    needed = next(word.value for word, spelling in TRANSPORTS.items() if spelling == backend.only_transport)
    message = (
        f"spec.roles[{role.name}]: the cache's store offers {', '.join(offers)} and {backend.name} reads "
        f"blocks over {backend.only_transport} alone; give one group of the KVCacheBackend the transport.protocol "
        f"{needed}, or create a deployment without spec.kvCache"
    )
    raise RenderRefusal(RefusalReason.TRANSPORT_UNSUPPORTED, role.name, message, retryable=True)
