"""The three kinds of a shared KV cache: what holds it, the pool cut from it, and a namespace's share of the pool.

`KVCachePoolBinding` → `KVCachePool` → `KVCacheBackend`, each naming the next.
"""

from modeldeployment.api.kvbackend import (
    Connection,
    External,
    KVCacheBackend,
    KVCacheBackendSpec,
    KVCacheBackendStatus,
    Managed,
    Member,
    Transport,
)
from modeldeployment.api.kvpool import (
    CacheUser,
    KVCachePool,
    KVCachePoolBinding,
    KVCachePoolBindingSpec,
    KVCachePoolBindingStatus,
    KVCachePoolSpec,
    KVCachePoolStatus,
    ReuseDomain,
)

__all__ = [  # noqa: RUF022 - the way a binding leads
    "KVCachePoolBinding",
    "KVCachePoolBindingSpec",
    "ReuseDomain",
    "KVCachePoolBindingStatus",
    "CacheUser",
    "KVCachePool",
    "KVCachePoolSpec",
    "KVCachePoolStatus",
    "KVCacheBackend",
    "KVCacheBackendSpec",
    "Connection",
    "Managed",
    "Member",
    "External",
    "Transport",
    "KVCacheBackendStatus",
]
