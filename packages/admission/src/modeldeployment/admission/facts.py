"""What a review needs to know beyond the object: everything looked up, nothing fetched.

Every lookup has three outcomes: the object, None where the API server has none of that name, and absence from the
mapping where nobody asked. A rule says nothing about what was not asked.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Flag, StrEnum, auto

from modeldeployment.api import InstanceType, ModelDeployment
from modeldeployment.api.kvcache import KVCacheBackend, KVCachePool, KVCachePoolBinding
from modeldeployment.api.scaler import ModelDeploymentScaler


class Actor(StrEnum):
    """Who asks; only the operator writes counts and annotations of a bound deployment."""

    USER = "user"
    OPERATOR = "operator"


class Needs(Flag):
    """Which lookups a rule reads."""

    NOTHING = 0
    INSTANCE_TYPES = auto()
    CACHE = auto()
    SCALER = auto()
    TARGET = auto()


@dataclass(frozen=True, slots=True)
class Policy:
    """Settings that admission reads, resolved once (facts api-dependencies §7).

    `reuse_time_wait` says whether Prefill halves of SGLang pairs may reuse ports in TIME-WAIT.
    """

    kv_cache_dtype_owned: bool = True
    privileged_allowed: bool = False
    host_path_allowed: bool = False
    reuse_time_wait: bool = False


@dataclass(frozen=True, slots=True)
class Cache:
    """What a deployment's `poolRef` leads to; whatever is missing, and all behind it, is None."""

    binding: KVCachePoolBinding | None = None
    pool: KVCachePool | None = None
    backend: KVCacheBackend | None = None


@dataclass(frozen=True, slots=True)
class Facts:
    """Lookups by name: InstanceTypes, cache chains by their binding, scalers and targets of the object's namespace."""

    instance_types: Mapping[str, InstanceType | None] = field(default_factory=dict)
    caches: Mapping[str, Cache] = field(default_factory=dict)
    scalers: Mapping[str, ModelDeploymentScaler | None] = field(default_factory=dict)
    targets: Mapping[str, ModelDeployment | None] = field(default_factory=dict)
    policy: Policy = field(default_factory=Policy)
