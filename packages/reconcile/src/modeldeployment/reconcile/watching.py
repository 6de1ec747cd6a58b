"""The stores that passes read, how their objects lead back to a deployment, and which changes wake one."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeVar

import msgspec

from modeldeployment.api import InstanceType, KVCachePoolBinding, ModelArtifact, keys
from modeldeployment.api.kvcache import KVCacheBackend, KVCachePool
from modeldeployment.kube import Client, Grant, Kind, Reflector, Store, shapes
from modeldeployment.kube.kinds import PERSISTENT_VOLUME_CLAIMS, PODS, WORKLOADS
from modeldeployment.reconcile import observing, queues, reading
from modeldeployment.reconcile.accounts import Accounts
from modeldeployment.reconcile.deciding.seen import Member, OwnedKind, SeenObject, Workload
from modeldeployment.reconcile.errors import Unreadable
from modeldeployment.reconcile.kinds import (
    ARTIFACTS,
    BACKENDS,
    BINDINGS,
    DEPLOYMENTS,
    INSTANCE_TYPES,
    OWNED,
    POOLS,
    RUNTIME_CLASSES,
    Document,
)
from modeldeployment.reconcile.queues import Queues

Read = TypeVar("Read")

OURS: Final = f"{keys.NAME}={keys.NAME_VALUE}"
"""Label selector of everything a deployment owns; ownership itself is confirmed by UID."""

LABELS: Final[Mapping[OwnedKind, str]] = MappingProxyType(
    {kind: OURS if kind is OwnedKind.SERVICE else f"{OURS},{keys.ROUTER}" for kind in OwnedKind}
)
"""Label selector of each owned kind; of all but Services only a router has any."""

_WATCHED: Final[tuple[Kind[Any], ...]] = (
    DEPLOYMENTS,
    INSTANCE_TYPES,
    RUNTIME_CLASSES,
    BINDINGS,
    POOLS,
    BACKENDS,
    ARTIFACTS,
    PERSISTENT_VOLUME_CLAIMS,
    PODS,
    WORKLOADS,
    *queues.WATCHED,
    *OWNED.values(),
)

GRANTS: Final = tuple(Grant(kind, ("list", "watch"), "keep what passes read current") for kind in _WATCHED)


class Key(NamedTuple):
    """A deployment's namespace and name."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


class Watched:
    """Deployments, what they are rendered from, and what they own, as watched from the API server.

    `wake` is called with the key of every deployment whose next pass may decide differently. A change of an object that
    no decision reads wakes nobody.
    """

    def __init__(self, wake: Callable[[Key], None]) -> None:
        self._wake = wake
        self.members = observing.Reductions[shapes.Pod, Member](observing.member)
        self.groups = observing.Reductions[shapes.Workload, Workload](observing.workload)
        self.kept = {kind: observing.Reductions[Document, SeenObject](observing.owned(kind)) for kind in OwnedKind}
        self.read_types = observing.Reductions[shapes.Custom, InstanceType | Unreadable](_read(reading.instance_type))
        self.read_bindings = observing.Reductions[shapes.Custom, KVCachePoolBinding | Unreadable](
            _read(reading.binding)
        )
        self.read_pools = observing.Reductions[shapes.Custom, KVCachePool | Unreadable](_read(reading.pool))
        self.read_backends = observing.Reductions[shapes.Custom, KVCacheBackend | Unreadable](_read(reading.backend))
        self.read_artifacts = observing.Reductions[shapes.Custom, ModelArtifact | Unreadable](_read(reading.artifact))
        self.deployments: Store[shapes.Custom] = Store(
            indexes={"type": instance_types, "binding": _bindings, "artifact": _artifacts, "reserved": _reserved},
            on_change=(self._deployment,),
        )
        self.runtime_classes: Store[shapes.Partial] = Store(on_change=(self._runtime_class,))
        self.types: Store[shapes.Custom] = Store(on_change=(self._type,))
        self.pods: Store[shapes.Pod] = Store(indexes={"owner": _owner, "uid": _uid}, on_change=(self._pod,))
        self.workloads: Store[shapes.Workload] = Store(indexes={"member": _members}, on_change=(self._workload,))
        self.bindings: Store[shapes.Custom] = Store(indexes={"pool": _pool_of}, on_change=(self._binding,))
        self.pools: Store[shapes.Custom] = Store(indexes={"backend": _backends_of}, on_change=(self._pool,))
        self.backends: Store[shapes.Custom] = Store(on_change=(self._backend,))
        self.artifacts: Store[shapes.Custom] = Store(indexes={"claim": _claims_of}, on_change=(self._artifact,))
        self.claims: Store[shapes.PersistentVolumeClaim] = Store(on_change=(self._claim,))
        self.workload_changes = 0
        """How often any Workload came, changed or went: what was found among them before is there until then."""
        self.accounts = Accounts(self._account)
        self.queues = Queues(self.wake_all)
        self.owned: dict[OwnedKind, Store[Document]] = {
            kind: Store(indexes={"owner": _owner}, on_change=(partial(self._owned, kind),)) for kind in OwnedKind
        }
        self._stores: Final[Mapping[str, Store[Any]]] = MappingProxyType(
            {
                DEPLOYMENTS.plural: self.deployments,
                INSTANCE_TYPES.plural: self.types,
                RUNTIME_CLASSES.plural: self.runtime_classes,
                BACKENDS.plural: self.backends,
                POOLS.plural: self.pools,
                BINDINGS.plural: self.bindings,
                ARTIFACTS.plural: self.artifacts,
                PERSISTENT_VOLUME_CLAIMS.plural: self.claims,
                PODS.plural: self.pods,
                WORKLOADS.plural: self.workloads,
                **self.queues.stores(),
                **{OWNED[kind].plural: store for kind, store in self.owned.items()},
            }
        )

    def reflectors(self, client: Client) -> "tuple[Reflector[Any], ...]":
        """The loops that keep the stores current."""
        return (
            Reflector(client, INSTANCE_TYPES, self.types),
            Reflector(client, RUNTIME_CLASSES, self.runtime_classes),
            Reflector(client, BACKENDS, self.backends),
            Reflector(client, POOLS, self.pools),
            Reflector(client, BINDINGS, self.bindings),
            Reflector(client, ARTIFACTS, self.artifacts),
            Reflector(client, PERSISTENT_VOLUME_CLAIMS, self.claims),
            Reflector(client, PODS, self.pods, labels=OURS),
            Reflector(client, WORKLOADS, self.workloads),
            *self.queues.reflectors(client),
            *(Reflector(client, OWNED[kind], store, labels=LABELS[kind]) for kind, store in self.owned.items()),
            Reflector(client, DEPLOYMENTS, self.deployments),
        )

    def stores(self) -> "Mapping[str, Store[Any]]":
        """Every store by the plural of its kind."""
        return self._stores

    async def wait_described(self) -> None:
        """Wait until deployments, and everything they are rendered from, have been listed."""
        for store in (
            self.deployments,
            self.types,
            self.runtime_classes,
            self.bindings,
            self.pools,
            self.backends,
            self.artifacts,
            self.claims,
        ):
            await store.wait_synced()

    async def wait_synced(self) -> None:
        """Wait until every store has seen a full list."""
        for store in self.stores().values():
            await store.wait_synced()

    def wake_all(self) -> None:
        """Wake every deployment: something changed that all of them are rendered from."""
        for deployment in self.deployments.items():
            self._wake(Key(deployment.metadata.namespace, deployment.metadata.name))

    def _deployment(self, old: shapes.Custom | None, new: shapes.Custom | None) -> None:
        each = new or old
        if each is not None:
            self._wake(Key(each.metadata.namespace, each.metadata.name))

    def _runtime_class(self, old: shapes.Partial | None, new: shapes.Partial | None) -> None:
        if old is None or new is None:
            self.wake_all()

    def _type(self, old: shapes.Custom | None, new: shapes.Custom | None) -> None:
        each = new or old
        if each is not None and not self.read_types.alike(old, new):
            for deployment in self.deployments.by_index("type", each.metadata.name):
                self._wake(Key(deployment.metadata.namespace, deployment.metadata.name))

    def _pod(self, old: shapes.Pod | None, new: shapes.Pod | None) -> None:
        if self.members.alike(old, new):
            return
        for each in (old, new):
            if each is not None:
                self._wake_owner(each.metadata)

    def _account(self, uid: str) -> None:
        for pod in self.pods.by_index("uid", uid):
            self._wake_owner(pod.metadata)

    def _workload(self, old: shapes.Workload | None, new: shapes.Workload | None) -> None:
        self.workload_changes += 1
        if self.groups.alike(old, new):
            return
        for each in (old, new):
            for uid in () if each is None else _members(each):
                for pod in self.pods.by_index("uid", uid):
                    self._wake_owner(pod.metadata)
                for deployment in self.deployments.by_index("reserved", uid):  # its Pods may be gone already
                    self._wake(Key(deployment.metadata.namespace, deployment.metadata.name))

    def _owned(self, kind: OwnedKind, old: Document | None, new: Document | None) -> None:
        if self.kept[kind].alike(old, new):
            return
        for each in (old, new):
            if each is not None:
                self._wake_owner(each.metadata)

    def _binding(self, old: shapes.Custom | None, new: shapes.Custom | None) -> None:
        if not self.read_bindings.alike(old, new):
            self._wake_attached((new or old,))

    def _pool(self, old: shapes.Custom | None, new: shapes.Custom | None) -> None:
        if not self.read_pools.alike(old, new):
            self._wake_cut((new or old,))

    def _backend(self, old: shapes.Custom | None, new: shapes.Custom | None) -> None:
        each = new or old
        if each is not None and not self.read_backends.alike(old, new):
            self._wake_cut(self.pools.by_index("backend", each.metadata.name))

    def _artifact(self, old: shapes.Custom | None, new: shapes.Custom | None) -> None:
        each = new or old
        if each is not None and not self.read_artifacts.alike(old, new):
            self._wake_named("artifact", each.metadata)

    def _claim(self, old: shapes.PersistentVolumeClaim | None, new: shapes.PersistentVolumeClaim | None) -> None:
        each = new or old
        if each is None or (old is not None and new is not None and (old.spec, old.status) == (new.spec, new.status)):
            return
        for artifact in self.artifacts.by_index("claim", f"{each.metadata.namespace}/{each.metadata.name}"):
            self._wake_named("artifact", artifact.metadata)

    def _wake_cut(self, pools: Iterable[shapes.Custom | None]) -> None:
        """Wake what is attached through bindings to any of these pools."""
        for pool in pools:
            if pool is not None:
                self._wake_attached(self.bindings.by_index("pool", pool.metadata.name))

    def _wake_attached(self, bindings: Iterable[shapes.Custom | None]) -> None:
        for binding in bindings:
            if binding is not None:
                self._wake_named("binding", binding.metadata)

    def _wake_named(self, index: str, meta: shapes.ObjectMeta) -> None:
        """Wake the deployments of one namespace that name an object of it."""
        for deployment in self.deployments.by_index(index, f"{meta.namespace}/{meta.name}"):
            self._wake(Key(deployment.metadata.namespace, deployment.metadata.name))

    def _wake_owner(self, meta: shapes.ObjectMeta) -> None:
        for owner in meta.owner_references:
            if owner.controller and owner.kind == DEPLOYMENTS.kind:
                self._wake(Key(meta.namespace, owner.name))


class _Named(msgspec.Struct):
    name: str = ""


class _Model(msgspec.Struct, rename="camel"):
    artifact_ref: _Named | None = None


class _Cache(msgspec.Struct, rename="camel"):
    pool_ref: _Named | None = None


class _RoleType(msgspec.Struct, rename="camel"):
    instance_type: str = ""


class _Mounted(msgspec.Struct, rename="camel"):
    claim_name: str = ""


class _Source(msgspec.Struct, rename="camel"):
    persistent_volume_claim: _Mounted | None = None


class _References(msgspec.Struct, rename="camel"):
    """What the spec of a deployment, a binding, a pool or an artifact names, wherever it names it."""

    roles: list[_RoleType] = []
    model: _Model | None = None
    kv_cache: _Cache | None = None
    pool_ref: _Named | None = None
    backends: list[_Named] = []
    source: _Source | None = None


class _Reservation(msgspec.Struct, rename="camel"):
    target_member_uids: list[str] = msgspec.field(default_factory=list, name="targetMemberUIDs")


class _Reserving(msgspec.Struct):
    """What the status of a deployment says of the replica on its way out."""

    retirement: _Reservation | None = None


_references = msgspec.json.Decoder(_References)
_reserving = msgspec.json.Decoder(_Reserving)


def instance_types(deployment: shapes.Custom) -> Iterable[str]:
    """The InstanceTypes a deployment's roles name."""
    return {role.instance_type for role in _references.decode(deployment.spec).roles}


def _bindings(deployment: shapes.Custom) -> Iterable[str]:
    cache = _references.decode(deployment.spec).kv_cache
    return _of(deployment, cache.pool_ref if cache else None)


def _artifacts(deployment: shapes.Custom) -> Iterable[str]:
    model = _references.decode(deployment.spec).model
    return _of(deployment, model.artifact_ref if model else None)


def _reserved(deployment: shapes.Custom) -> Iterable[str]:
    try:
        held = _reserving.decode(deployment.status).retirement
    except msgspec.DecodeError:  # no status yet, or one that no pass can read either
        return ()
    return held.target_member_uids if held is not None else ()


def _of(deployment: shapes.Custom, named: _Named | None) -> Iterable[str]:
    return (f"{deployment.metadata.namespace}/{named.name}",) if named else ()


def _pool_of(binding: shapes.Custom) -> Iterable[str]:
    pool = _references.decode(binding.spec).pool_ref
    return (pool.name,) if pool else ()


def _backends_of(pool: shapes.Custom) -> Iterable[str]:
    return {each.name for each in _references.decode(pool.spec).backends}


def _claims_of(artifact: shapes.Custom) -> Iterable[str]:
    source = _references.decode(artifact.spec).source
    claim = source.persistent_volume_claim if source is not None else None
    return (f"{artifact.metadata.namespace}/{claim.claim_name}",) if claim is not None else ()


def _read(reader: "Callable[[shapes.Custom], Read]") -> "observing.Reduction[shapes.Custom, Read | Unreadable]":
    """Make a reduction out of a reader; what cannot be read is a value too."""

    def reduced(stored: shapes.Custom, /) -> Read | Unreadable:
        try:
            return reader(stored)
        except Unreadable as unreadable:
            return unreadable

    return reduced


def _owner(thing: shapes.Object) -> Iterable[str]:
    return observing.controllers(thing.metadata.owner_references)


def _uid(pod: shapes.Pod) -> Iterable[str]:
    return (pod.metadata.uid,)


def _members(workload: shapes.Workload) -> Iterator[str]:
    return (each.uid for each in workload.metadata.owner_references if each.kind == "Pod")
