"""Facts out of manifests: what a live cluster would answer, read from objects at hand."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from modeldeployment.admission.facts import Cache, Facts, Policy
from modeldeployment.api import InstanceType, ModelDeployment
from modeldeployment.api.document import Document
from modeldeployment.api.kvcache import KVCacheBackend, KVCachePool, KVCachePoolBinding
from modeldeployment.api.scaler import ModelDeploymentScaler

Known = TypeVar("Known", bound=Document)


class _Complete(dict[str, Any]):
    """Lookups of a cluster whose every object is at hand: what is not among them is not there."""

    def __init__(self, known: Mapping[str, Any], absent: Callable[[], Any]) -> None:
        super().__init__(known)
        self._absent = absent

    def __missing__(self, name: str) -> Any:
        return self._absent()

    def get(self, name: str, default: Any = None) -> Any:  # noqa: ARG002 (what is absent is known to be absent)
        return self[name]

    def __contains__(self, name: object) -> bool:
        return True


def from_manifests(manifests: Iterable[Mapping[str, Any]], policy: Policy, *, complete: bool = True) -> Facts:
    """Read facts from objects as JSON; kinds that admission never looks up are passed over.

    `complete` says that these are all there are, so that what is missing counts as not there; otherwise it counts as
    not looked up.
    """
    objects = list(manifests)
    pools = _of(KVCachePool, objects)
    backends = _of(KVCacheBackend, objects)
    caches = {name: _cache(binding, pools, backends) for name, binding in _of(KVCachePoolBinding, objects).items()}

    def lookups(known: Mapping[str, Any], absent: Callable[[], Any]) -> Mapping[str, Any]:
        return _Complete(known, absent) if complete else dict(known)

    def nothing() -> None:
        return None

    return Facts(
        instance_types=lookups(_of(InstanceType, objects), nothing),
        caches=lookups(caches, Cache),
        scalers=lookups(_of(ModelDeploymentScaler, objects), nothing),
        targets=lookups(_of(ModelDeployment, objects), nothing),
        policy=policy,
    )


def _of(kind: type[Known], objects: Iterable[Mapping[str, Any]]) -> dict[str, Known]:
    return {
        each["metadata"]["name"]: kind.model_validate(each) for each in objects if each.get("kind") == kind.__name__
    }


def _cache(
    binding: KVCachePoolBinding, pools: Mapping[str, KVCachePool], backends: Mapping[str, KVCacheBackend]
) -> Cache:
    pool = pools.get(binding.spec.pool_ref.name)
    backend = backends.get(pool.spec.backends[0].name) if pool and pool.spec.backends else None
    return Cache(binding, pool, backend)
