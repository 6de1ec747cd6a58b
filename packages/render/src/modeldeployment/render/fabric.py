"""The fabric interfaces of a Pod: which device follows from the transports that its legs use.

Transports are in Mooncake's spelling (`store.TRANSPORTS`). Source: facts rendering §12, facts api-dependencies §4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeAlias

from modeldeployment.api import keys
from modeldeployment.api.choices import RoleKind, StoreProtocol
from modeldeployment.api.conditions import RefusalReason
from modeldeployment.render.backend import Backend
from modeldeployment.render.errors import RenderRefusal
from modeldeployment.render.joins import Joins
from modeldeployment.render.store import TRANSPORTS

if TYPE_CHECKING:
    from modeldeployment.api.roles import Role

RDMA: Final = TRANSPORTS[StoreProtocol.RDMA]
EFA: Final = TRANSPORTS[StoreProtocol.EFA]


@dataclass(frozen=True, slots=True)
class Fabric:
    """A fabric that has devices: the resource keys of one shared interface and of interfaces of a Pod's own."""

    shared: str
    exclusive: str

    def key(self, count: int) -> str:
        """Answer the resource key under which `count` interfaces are requested."""
        return self.shared if count == 1 else self.exclusive


FABRICS: Final[Mapping[str, Fabric]] = MappingProxyType(
    {
        RDMA: Fabric(keys.RDMA_SHARED, keys.RDMA),
        EFA: Fabric("vpc.amazonaws.com/efa", "vpc.amazonaws.com/efa"),
    }
)
"""Every fabric, by the transport that uses it."""


@dataclass(frozen=True, slots=True)
class Mixed:
    """No fabric follows: the store's groups of members offer these transports, and an engine installs one."""

    offers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rival:
    """No single fabric follows: the store's leg uses one and the direct leg the other."""

    store: str
    direct: str


@dataclass(frozen=True, slots=True)
class Unused:
    """No fabric follows: these legs, if any, use none."""

    store: str
    direct: str


Used: TypeAlias = str | Mixed | Rival | Unused
"""The transport whose fabric a Pod's interfaces are of, or why there is none."""


def used(offers: Sequence[str], direct: str, backend: Backend) -> Used:
    """Say which fabric follows from the transports a store offers and that of the direct leg.

    `offers` are those of all groups, empty without a store; `direct` is empty without a leg that `takes_device`. An
    offer that the engine's client cannot use counts for nothing, but all groups must agree even then.
    """
    distinct = tuple(dict.fromkeys(offers))
    if len(distinct) > 1:
        return Mixed(distinct)
    store = distinct[0] if distinct and backend.accepts(distinct[0]) else ""
    fabrics = [leg for leg in dict.fromkeys((store, direct)) if leg in FABRICS]
    match fabrics:
        case [only]:
            return only
        case []:
            return Unused(store, direct)
        case _:
            return Rival(store, direct)


def direct_leg(joins: Joins, backend: Backend) -> str:
    """Answer the transport of a role's direct leg where it justifies a device on observed hardware; else empty.

    That of native vLLM does. Halves that are joined by address have no such leg (facts encode §6).
    """
    return joins.leg if backend.leg_takes_device else ""


def interfaces(role: Role, backend: Backend, joins: Joins, manufacturer: str, *, cached: bool) -> Mapping[str, str]:
    """Answer the resource key and count of the requested interfaces; empty where none are requested.

    `manufacturer` is empty while the hardware has not been observed. `cached` says whether the deployment attaches a
    pool: while its store cannot be used, replicas render without it (decisions D30), and without its interfaces.
    Raises RenderRefusal where no single fabric follows.
    """
    wanted = role.resources.interface if role.resources else None
    if wanted is None or wanted.nanos == 0:
        return {}
    if wanted.nanos < 0 or not wanted.is_whole:
        raise _refused(role, wanted, "interfaces are whole devices", "write a whole number")
    leg = direct_leg(joins, backend)
    match used(joins.store.transports if joins.store else (), leg if manufacturer else "", backend):
        case Mixed(offers):
            why = f"cache member groups use conflicting protocols: {', '.join(offers)}"
            way_out = "give all groups of the KVCacheBackend one transport.protocol"
            raise _refused(role, wanted, why, way_out, retryable=True)
        case Rival(store, direct):
            why = f"cache and direct-transfer legs use {store} and {direct}, and one Pod gets interfaces of one fabric"
            raise _refused(role, wanted, why, "give spec.kvTransfer.protocol the fabric of the cache, or TCP")
        case Unused() if leg in FABRICS:
            raise _unobserved(role, wanted, leg)
        case Unused() if cached and role.managed and role.kind is not RoleKind.ENCODE and joins.store is None:
            return {}
        case Unused():
            why = "no effective RDMA or EFA transfer leg uses the requested interfaces"
            raise _refused(role, wanted, why, "leave it out, or give the cache or spec.kvTransfer.protocol RDMA or EFA")
        case fabric:
            return {FABRICS[fabric].key(wanted.units): str(wanted.units)}


def _refused(role: Role, wanted: object, why: str, way_out: str, *, retryable: bool = False) -> RenderRefusal:
    message = f"spec.roles[{role.name}].resources.interface is {wanted}: {why}; {way_out}"
    return RenderRefusal(RefusalReason.RESOURCES_NOT_OFFERED, role.name, message, retryable=retryable)


def _unobserved(role: Role, wanted: object, leg: str) -> RenderRefusal:
    message = (
        f"spec.roles[{role.name}].resources.interface is {wanted}: InstanceType {role.instance_type!r} has not "
        f"observed its hardware, so whether the direct transfer uses {leg} is not known yet; this resolves once it "
        "publishes that, or leave it out"
    )
    return RenderRefusal(RefusalReason.RESOURCES_NOT_READY, role.name, message, retryable=True)
