"""The KVCachePool and KVCachePoolBinding kinds: a share of a store, and a namespace's right to use it.

Source: facts kv-cache §2 to §4, decisions D30 and D44.
"""

from typing import Annotated, Final

from pydantic import Field

from modeldeployment.api.cel import Rule
from modeldeployment.api.condition import Condition
from modeldeployment.api.document import ATOMIC, OPEN, Document, Int32, Int64, absent, guarded, list_map
from modeldeployment.api.keys import API_VERSION
from modeldeployment.api.metadata import NamedReference, ObjectMeta
from modeldeployment.api.quantity import Quantity

DOMAIN: Final = "default"
"""Name of a reuse domain that is given none."""

_POOL: Final = "KVCachePool"
_BINDING: Final = "KVCachePoolBinding"
_POSITIVE: Final = "quantity(string(self)).isGreaterThan(quantity('0'))"
_HIT_RATE: Final = r"^(0(\.[0-9]{1,4})?|1(\.0{1,4})?)$"
_LABEL: Final = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"

ONE_BACKEND: Final = Rule(
    code="MD205",
    kind=_POOL,
    field="spec.backends",
    why="names not exactly one backend, and a pool is cut from one store",
    way_out="name the one KVCacheBackend, and make another pool for another backend",
    holds="self.size() == 1",
)
BACKENDS_FIXED: Final = Rule(
    code="MD206",
    kind=_POOL,
    field="spec.backends",
    why="is fixed when the pool is created, since its blocks are in that store",
    way_out="create another pool on the other backend",
)
TOTAL_POSITIVE: Final = Rule(
    code="MD207",
    kind=_POOL,
    field="spec.quota.total",
    why="is not positive, so nothing could be granted from it",
    way_out="set what all bindings of the pool may use together, for example 1Ti",
    holds=_POSITIVE,
)
POOL_FIXED: Final = Rule(
    code="MD208",
    kind=_BINDING,
    field="spec.poolRef",
    why="is fixed when the binding is created, since the deployments attached to it have their blocks in that pool",
    way_out="create another binding to the other pool",
)
DOMAIN_FIXED: Final = Rule(
    code="MD209",
    kind=_BINDING,
    field="spec.domain",
    why="is fixed when the binding is created, since its blocks were written under that name, block size and dtype",
    way_out="create another binding with the other domain",
)
CEILING_POSITIVE: Final = Rule(
    code="MD210",
    kind=_BINDING,
    field="spec.quota.ceiling",
    why="is not positive, so nothing could be granted",
    way_out="set what this namespace may ask of the pool, for example 100Gi",
    holds=_POSITIVE,
)
DTYPE_NAMED: Final = Rule(
    code="MD211",
    kind=_BINDING,
    field="spec.domain.dtype",
    why="is auto, which each engine resolves in its own way, so blocks of different types would be shared as equals",
    way_out="name the type, for example bfloat16 or fp8_e4m3",
    holds="self != 'auto'",
)


class CacheUser(Document):
    """Who uses an object and so holds its deletion."""

    kind: Annotated[str, Field(max_length=63)]
    """Kind of the user."""
    namespace: Annotated[str, Field(max_length=63)]
    """Namespace of the user; empty where it is the object's own."""
    name: Annotated[str, Field(max_length=253)]
    """Name of the user."""


_Users = Annotated[tuple[CacheUser, ...], Field(exclude_if=absent), list_map("kind", "namespace", "name")]
_Conditions = Annotated[tuple[Condition, ...], Field(exclude_if=absent), list_map("type")]
_HitRate = Annotated[str, Field(pattern=_HIT_RATE)]


class PoolQuota(Document):
    """What the pool may use of its store."""

    total: Annotated[Quantity, guarded(TOTAL_POSITIVE)]
    """What all bindings of the pool may use together; positive."""


class KVCachePoolSpec(Document):
    """What the administrator declares."""

    backends: Annotated[tuple[NamedReference, ...], Field(max_length=16), ATOMIC, guarded(ONE_BACKEND, BACKENDS_FIXED)]
    """Exactly one KVCacheBackend; frozen."""
    quota: PoolQuota
    """What the pool may use of its store."""


class PoolUsage(Document):
    """What is in use."""

    total: Quantity | None = None
    """What all domains use together."""


class DomainOwner(Document):
    """The binding a domain belongs to."""

    namespace: Annotated[str, Field(max_length=63)]
    """Namespace of the binding."""
    name: Annotated[str, Field(max_length=253)]
    """Name of the binding."""


class PoolDomain(Document):
    """One reuse domain of the pool."""

    name: Annotated[str, Field(max_length=63)]
    """Name of the domain."""
    binding: DomainOwner | None = None
    """Binding it belongs to."""
    block_size: Int32 | None = None
    """Tokens per block."""
    dtype: str | None = None
    """Element type of the blocks."""
    blocks: Int64 | None = None
    """Blocks in store."""
    hit_rate: _HitRate | None = None
    """Fraction of lookups that found a block."""


class KVCachePoolStatus(Document):
    """What was observed of the pool."""

    model_config = OPEN

    phase: str | None = None
    """Provisioning, Ready, Degraded, Error or Deleting."""
    phase_message: str | None = None
    """Why the phase is what it is."""
    conditions: _Conditions = ()
    """QuotaLedgerAvailable, QuotaPolicyWritable, CapacityAllocatable, QuotaWithinTotal and Releasable."""
    client_endpoint: Annotated[str, Field(max_length=259)] | None = None
    """Where engines reach the store; left out until the backend publishes it."""
    usage: PoolUsage | None = None
    """What is in use."""
    domains: Annotated[tuple[PoolDomain, ...], Field(exclude_if=absent), list_map("name")] = ()
    """Reuse domains of the pool."""
    used_by: _Users = ()
    """Bindings that hold the pool."""


class KVCachePool(Document):
    """A share of one store, which bindings hand to namespaces."""

    api_version: str = API_VERSION
    kind: str = _POOL
    metadata: ObjectMeta = Field(default_factory=ObjectMeta)
    spec: KVCachePoolSpec
    """What the administrator declares."""
    status: KVCachePoolStatus = Field(default_factory=KVCachePoolStatus)
    """What was observed of the pool."""


class BindingQuota(Document):
    """What the namespace asks of the pool."""

    ceiling: Annotated[Quantity, guarded(CEILING_POSITIVE)]
    """Most that is granted; positive. A request: what is granted is in status."""


class ReuseDomain(Document):
    """Blocks that are the same for everyone who shares them; frozen in every field."""

    name: Annotated[str, Field(min_length=1, max_length=63, pattern=_LABEL)] = DOMAIN
    """Name of the domain, unique in its store."""
    block_size: Annotated[Int32, Field(ge=1)]
    """Tokens per block."""
    dtype: Annotated[str, Field(min_length=1, max_length=32, pattern=r"^[a-z0-9_]+$"), guarded(DTYPE_NAMED)]
    """Element type of the blocks, in the engine's lowercase spelling; auto names none."""


class KVCachePoolBindingSpec(Document):
    """What the namespace's owner declares."""

    pool_ref: Annotated[NamedReference, guarded(POOL_FIXED)]
    """KVCachePool that is used; frozen."""
    quota: BindingQuota
    """What the namespace asks of the pool."""
    domain: Annotated[ReuseDomain, guarded(DOMAIN_FIXED)]
    """The reuse domain deployments share through this binding; frozen."""


class KVCachePoolBindingStatus(Document):
    """What was granted, what is used and by whom."""

    model_config = OPEN

    phase: str | None = None
    """Summary; Ready when deployments may attach."""
    phase_message: str | None = None
    """Why the phase is what it is."""
    conditions: _Conditions = ()
    """QuotaGranted, Releasable and others."""
    requested_quota: Quantity | None = None
    """What was asked for."""
    effective_quota: Quantity | None = None
    """What was granted."""
    usage: Quantity | None = None
    """What is in use."""
    over_quota: bool | None = None
    """Whether the grant was cut below what is in use."""
    blocks: Int64 | None = None
    """Blocks in store."""
    hit_rate: _HitRate | None = None
    """Fraction of lookups that found a block."""
    used_by: _Users = ()
    """Deployments that hold the binding; written by their controller alone."""


class KVCachePoolBinding(Document):
    """A namespace's right to a share of a pool, which deployments name in spec.kvCache.poolRef."""

    api_version: str = API_VERSION
    kind: str = _BINDING
    metadata: ObjectMeta = Field(default_factory=ObjectMeta)
    spec: KVCachePoolBindingSpec
    """What the namespace's owner declares."""
    status: KVCachePoolBindingStatus = Field(default_factory=KVCachePoolBindingStatus)
    """What was granted, what is used and by whom."""
