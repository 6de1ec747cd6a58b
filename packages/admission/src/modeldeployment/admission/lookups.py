"""What a review needs, read live: which objects a write names, one read for each, and Facts out of the answers.

Every read goes to the API server and asks for no version, so the answer is as new as the last write; nothing is kept
between requests (facts admission §1).
"""

import asyncio
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from pydantic import ValidationError

from modeldeployment.admission.errors import Unreadable
from modeldeployment.admission.facts import Cache, Facts, Policy
from modeldeployment.admission.patching import found
from modeldeployment.api import InstanceType, ModelDeployment, keys
from modeldeployment.api.binding import Binding
from modeldeployment.api.document import Document
from modeldeployment.api.kvcache import KVCacheBackend, KVCachePool, KVCachePoolBinding
from modeldeployment.api.scaler import ModelDeploymentScaler
from modeldeployment.kube import Client, Grant, Kind, KubeError, NotFound, Verb, custom, request_for

Known = TypeVar("Known", bound=Document)
Body = Mapping[str, Any]


def _kind(plural: str, model: type[Document], *, namespaced: bool) -> Kind[Any]:
    return custom(keys.GROUP, keys.VERSION, plural, model.__name__, namespaced=namespaced)


_INSTANCE_TYPES: Final = _kind("instancetypes", InstanceType, namespaced=False)
_BINDINGS: Final = _kind("kvcachepoolbindings", KVCachePoolBinding, namespaced=True)
_POOLS: Final = _kind("kvcachepools", KVCachePool, namespaced=False)
_BACKENDS: Final = _kind("kvcachebackends", KVCacheBackend, namespaced=False)
_SCALERS: Final = _kind("modeldeploymentscalers", ModelDeploymentScaler, namespaced=True)
_DEPLOYMENTS: Final = _kind("modeldeployments", ModelDeployment, namespaced=True)

GRANTS: Final = tuple(
    Grant(kind, ("get",), "judge writes that name one")
    for kind in (_INSTANCE_TYPES, _BINDINGS, _POOLS, _BACKENDS, _SCALERS, _DEPLOYMENTS)
)

_ABOUT_CACHE: Final = ("spec.kvCache", "spec.kvTransfer", "spec.router")
_OBJECT_NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")

SECONDS: Final = 5.0
"""How long all reads of one review may take; the API server waits ten for the whole of it."""


@dataclass(frozen=True, slots=True)
class Named:
    """Names of the objects a review reads; `cache` is a KVCachePoolBinding's, empty where none is read."""

    instance_types: tuple[str, ...] = ()
    cache: str = ""
    scalers: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()


NOTHING: Final = Named()


def to_default(new: Body) -> Named:
    """What defaulting reads: the types of roles that leave their accelerator count open (facts admission §3)."""
    if new.get("kind") != ModelDeployment.__name__ or _deleting(new):
        return NOTHING
    open_counts = (role for role in _roles(new) if found(role, "resources.accelerator") is None)
    return Named(instance_types=_types(open_counts))


def to_judge(new: Body, old: Body | None) -> Named:
    """What the rules and lints read, from JSON that may have any shape; names that are none are passed over."""
    if _deleting(new):
        return NOTHING
    if new.get("kind") == ModelDeploymentScaler.__name__:
        return Named(targets=_names(found(new, "spec.targetRef.name")))
    return Named(_types(_roles(new)), _attached(new, old), _claimants(new, old))


async def read(client: Client, named: Named, namespace: str, policy: Policy) -> Facts:
    """Read what is named, side by side where one read does not hang on another. Raises Unreadable."""
    if named == NOTHING:
        return Facts(policy=policy)
    try:
        async with asyncio.timeout(SECONDS), asyncio.TaskGroup() as group:
            cache = group.create_task(_cache(client, named.cache, namespace)) if named.cache else None

            def each(
                kind: Kind[Any], model: type[Known], names: Iterable[str]
            ) -> dict[str, asyncio.Task[Known | None]]:
                return {name: group.create_task(_one(client, kind, model, name, namespace)) for name in names}

            types = each(_INSTANCE_TYPES, InstanceType, named.instance_types)
            scalers = each(_SCALERS, ModelDeploymentScaler, named.scalers)
            targets = each(_DEPLOYMENTS, ModelDeployment, named.targets)
    except ExceptionGroup as errors:  # what is raised inside `except*` comes out in a group on some Pythons
        raise errors.exceptions[0] from errors
    except TimeoutError as late:
        raise Unreadable(f"the API server did not answer within {SECONDS:.0f} s") from late
    return Facts(
        instance_types=_answers(types),
        caches={named.cache: cache.result()} if cache else {},
        scalers=_answers(scalers),
        targets=_answers(targets),
        policy=policy,
    )


async def _one(client: Client, kind: Kind[Any], model: type[Known], name: str, namespace: str) -> Known | None:
    """One object as it is now; None where there is none of that name."""
    if not _OBJECT_NAME.fullmatch(name):
        return None  # nothing can be called that, and the way to it might lead elsewhere
    try:
        answer = await client.raw(request_for(Verb.GET, kind, namespace if kind.namespaced else None, name))
        return model.model_validate_json(answer)
    except NotFound:
        return None
    except KubeError as error:
        raise Unreadable(f"{kind.kind} {name} could not be read: {str(error).splitlines()[0]}") from error
    except ValidationError as error:
        what = error.errors(include_url=False)[0]
        where = ".".join(str(step) for step in what["loc"])
        raise Unreadable(f"{kind.kind} {name} could not be read: {where}: {what['msg']}") from error


async def _cache(client: Client, name: str, namespace: str) -> Cache:
    """The chain behind a Binding: each link names the next."""
    binding = await _one(client, _BINDINGS, KVCachePoolBinding, name, namespace)
    pool = await _one(client, _POOLS, KVCachePool, binding.spec.pool_ref.name, namespace) if binding else None
    backends = pool.spec.backends if pool else ()
    backend = await _one(client, _BACKENDS, KVCacheBackend, backends[0].name, namespace) if backends else None
    return Cache(binding, pool, backend)


def _answers(tasks: Mapping[str, asyncio.Task[Known | None]]) -> dict[str, Known | None]:
    return {name: task.result() for name, task in tasks.items()}


# --- names out of JSON -----------------------------------------------------------------------------------------------


def _deleting(body: Body) -> bool:
    return found(body, "metadata.deletionTimestamp") is not None


def _roles(body: Body) -> list[Body]:
    roles = found(body, "spec.roles")
    return [role for role in roles if isinstance(role, Mapping)] if isinstance(roles, list) else []


def _types(roles: Iterable[Body]) -> tuple[str, ...]:
    return _names(*(role.get("instanceType") for role in roles))


def _attached(new: Body, old: Body | None) -> str:
    """The cache's Binding, where the write can change what it means for the deployment (facts admission §8)."""
    if old is not None and all(found(new, field) == found(old, field) for field in _ABOUT_CACHE):
        return ""
    return next(iter(_names(found(new, "spec.kvCache.poolRef.name"))), "")


def _claimants(new: Body, old: Body | None) -> tuple[str, ...]:
    """The scaler whose claim this write takes away; only then does it matter whether it is still there."""
    stored = _claim(old) if old is not None else None
    binding = Binding.parse(stored) if stored is not None and _claim(new) is None else None
    return (binding.scaler_name,) if binding else ()


def _claim(body: Body) -> str | None:
    annotations = found(body, "metadata.annotations")
    claim = annotations.get(keys.SCALER_BINDING) if isinstance(annotations, Mapping) else None
    return claim if isinstance(claim, str) else None


def _names(*values: Any) -> tuple[str, ...]:
    """The values that can name an object, each once."""
    return tuple(dict.fromkeys(value for value in values if isinstance(value, str) and value))
