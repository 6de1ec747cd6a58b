"""The stores that passes read, how their objects lead back to a deployment, and which changes wake one."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, NamedTuple

import msgspec

from modeldeployment.api import keys
from modeldeployment.kube import Client, Grant, Kind, Reflector, Store, custom, shapes
from modeldeployment.kube.kinds import PODS, WORKLOADS
from modeldeployment.reconcile import observing
from modeldeployment.reconcile.deciding.seen import Member, SeenService, Workload

DEPLOYMENTS: Final = custom(keys.GROUP, keys.VERSION, "modeldeployments", "ModelDeployment")
INSTANCE_TYPES: Final = custom(keys.GROUP, keys.VERSION, "instancetypes", "InstanceType", namespaced=False)
SERVICES: Final[Kind[shapes.Custom]] = custom("", "v1", "services", "Service")
"""Services kept as documents: their drift is judged against a whole render."""

RUNTIME_CLASSES: Final = Kind(
    "node.k8s.io", "v1", "runtimeclasses", "RuntimeClass", shapes.Partial, namespaced=False, metadata_only=True
)

OURS: Final = f"{keys.NAME}={keys.NAME_VALUE}"
"""Label selector of everything a deployment owns; ownership itself is confirmed by UID."""

GRANTS: Final = tuple(
    Grant(kind, ("list", "watch"), "keep what passes read current")
    for kind in (DEPLOYMENTS, INSTANCE_TYPES, RUNTIME_CLASSES, PODS, WORKLOADS, SERVICES)
)


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
        self.fronts = observing.Reductions[shapes.Custom, SeenService](observing.service)
        self.deployments: Store[shapes.Custom] = Store(indexes={"type": instance_types}, on_change=(self._deployment,))
        self.runtime_classes: Store[shapes.Partial] = Store(on_change=(self._runtime_class,))
        self.types: Store[shapes.Custom] = Store(on_change=(self._type,))
        self.pods: Store[shapes.Pod] = Store(indexes={"owner": _owner, "uid": _uid}, on_change=(self._pod,))
        self.workloads: Store[shapes.Workload] = Store(indexes={"member": _members}, on_change=(self._workload,))
        self.services: Store[shapes.Custom] = Store(indexes={"owner": _owner}, on_change=(self._service,))

    def reflectors(self, client: Client) -> "tuple[Reflector[Any], ...]":
        """The loops that keep the stores current."""
        return (
            Reflector(client, INSTANCE_TYPES, self.types),
            Reflector(client, RUNTIME_CLASSES, self.runtime_classes),
            Reflector(client, PODS, self.pods, labels=OURS),
            Reflector(client, WORKLOADS, self.workloads),
            Reflector(client, SERVICES, self.services, labels=OURS),
            Reflector(client, DEPLOYMENTS, self.deployments),
        )

    def stores(self) -> "dict[str, Store[Any]]":
        """Every store by the plural of its kind."""
        return {
            DEPLOYMENTS.plural: self.deployments,
            INSTANCE_TYPES.plural: self.types,
            RUNTIME_CLASSES.plural: self.runtime_classes,
            PODS.plural: self.pods,
            WORKLOADS.plural: self.workloads,
            SERVICES.plural: self.services,
        }

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
        if each is not None:
            for deployment in self.deployments.by_index("type", each.metadata.name):
                self._wake(Key(deployment.metadata.namespace, deployment.metadata.name))

    def _pod(self, old: shapes.Pod | None, new: shapes.Pod | None) -> None:
        if self.members.alike(old, new):
            return
        for each in (old, new):
            if each is not None:
                self._wake_owner(each.metadata)

    def _workload(self, old: shapes.Workload | None, new: shapes.Workload | None) -> None:
        if self.groups.alike(old, new):
            return
        for each in (old, new):
            for uid in () if each is None else _members(each):
                for pod in self.pods.by_index("uid", uid):
                    self._wake_owner(pod.metadata)

    def _service(self, old: shapes.Custom | None, new: shapes.Custom | None) -> None:
        if self.fronts.alike(old, new):
            return
        for each in (old, new):
            if each is not None:
                self._wake_owner(each.metadata)

    def _wake_owner(self, meta: shapes.ObjectMeta) -> None:
        for owner in meta.owner_references:
            if owner.controller and owner.kind == DEPLOYMENTS.kind:
                self._wake(Key(meta.namespace, owner.name))


class _TypeName(msgspec.Struct, rename="camel"):
    instance_type: str = ""


class _Types(msgspec.Struct):
    roles: list[_TypeName] = []


_types = msgspec.json.Decoder(_Types)


def instance_types(deployment: shapes.Custom) -> Iterable[str]:
    """The InstanceTypes a deployment's roles name."""
    return {role.instance_type for role in _types.decode(deployment.spec).roles}


def _owner(thing: shapes.Pod | shapes.Custom) -> Iterable[str]:
    return observing.controllers(thing.metadata.owner_references)


def _uid(pod: shapes.Pod) -> Iterable[str]:
    return (pod.metadata.uid,)


def _members(workload: shapes.Workload) -> Iterator[str]:
    return (each.uid for each in workload.metadata.owner_references if each.kind == "Pod")
