"""The shared store a deployment's cache leads to, and which transport an engine's client takes there.

Source: facts kv-cache §1, §3 and §4, facts rendering §2, decisions D30.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from modeldeployment.api.choices import StoreProtocol
from modeldeployment.api.conditions import RefusalReason
from modeldeployment.render.errors import RenderRefusal

if TYPE_CHECKING:
    from modeldeployment.api.condition import Condition
    from modeldeployment.api.kvbackend import KVCacheBackend
    from modeldeployment.api.kvpool import KVCachePool, KVCachePoolBinding

TRANSPORTS: Final[Mapping[StoreProtocol, str]] = MappingProxyType(
    {
        StoreProtocol.AUTO: "tcp",
        StoreProtocol.TCP: "tcp",
        StoreProtocol.RDMA: "rdma",
        StoreProtocol.EFA: "efa",
        StoreProtocol.CANN: "ascend",
        StoreProtocol.ROCM: "hip",
        StoreProtocol.MUSA: "musa",
        StoreProtocol.MACA: "maca",
    }
)
"""What Mooncake calls a transport, by the word of the API; the one place of this mapping."""

TCP: Final = TRANSPORTS[StoreProtocol.TCP]
PEERS: Final = "P2PHANDSHAKE"
"""What a client is told where a service of metadata would be named: clients ask each other."""

_SEPARATORS: Final = re.compile("[@_:]")
"""What the connectors put between the parts of a block's key."""


@dataclass(frozen=True, slots=True)
class Store:
    """A store that can be used now.

    `master` is where clients find it, ``host:port``. `transports` has one entry per group of members, in declared
    order. `tenant` is empty where the master keeps no ledger by tenant. `dtype` and `block_size` are those of the
    reuse domain.
    """

    master: str
    transports: tuple[str, ...]
    tenant: str
    dtype: str
    block_size: int | None = None


class Domain(Enum):
    """What can be said of the reuse domain; the first that holds (facts kv-cache §3)."""

    NOT_FOUND = auto()
    DELETING = auto()
    NOT_READY = auto()
    REGISTERED = auto()


def domain(binding: KVCachePoolBinding | None) -> Domain:
    """Say whether a binding can be used."""
    if binding is None:
        return Domain.NOT_FOUND
    if binding.metadata.deletion_timestamp is not None:
        return Domain.DELETING
    ready = binding.status.phase == "Ready" and _status(binding.status.conditions, "QuotaGranted") == "True"
    return Domain.REGISTERED if ready else Domain.NOT_READY


def connection(
    binding: KVCachePoolBinding | None, pool: KVCachePool | None, backend: KVCacheBackend | None
) -> Store | None:
    """Follow a binding to its store; None while any link is missing or not ready, which holds nothing up."""
    if binding is None or domain(binding) is not Domain.REGISTERED or pool is None or backend is None:
        return None
    if not pool.status.client_endpoint:
        return None
    ledger = next((each for each in pool.status.conditions if each.type == "QuotaLedgerAvailable"), None)
    single = ledger is not None and ledger.status == "False" and ledger.reason == "MultiTenancyDisabled"
    reuse = binding.spec.domain
    return Store(
        master=pool.status.client_endpoint,
        transports=tuple(TRANSPORTS[protocol] for protocol in backend.spec.protocols),
        tenant="" if single else reuse.name,
        dtype=reuse.dtype,
        block_size=reuse.block_size,
    )


def key_prefix(prefix: str, role: str) -> str:
    """Answer the prefix of a store's keys that tells apart blocks of different weights, which `role` is told.

    Raises RenderRefusal where it holds what the connectors put between the parts of a key (facts rendering §12).
    """
    found = _SEPARATORS.search(prefix)
    if found is None:
        return prefix
    message = (
        f"spec.model.artifactRef marks the blocks of spec.roles[{role}] with {prefix!r}: {found[0]!r} separates the "
        "parts of a block's key in the store; name an artifact whose digest holds letters, digits and dashes only"
    )
    raise RenderRefusal(RefusalReason.CACHE_PREFIX_INVALID, role, message)


def _status(conditions: tuple[Condition, ...], kind: str) -> str:
    return next((each.status for each in conditions if each.type == kind), "")
