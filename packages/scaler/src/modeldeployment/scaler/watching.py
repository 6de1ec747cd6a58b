"""The stores that passes read, how their objects lead back to a scaler, and which changes wake one."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import msgspec

from modeldeployment.api import keys
from modeldeployment.kube import Client, Grant, Kind, Reflector, Store, custom, shapes
from modeldeployment.kube.kinds import PODS, WORKLOADS

SCALERS: Final = custom(keys.GROUP, keys.VERSION, "modeldeploymentscalers", "ModelDeploymentScaler")
DEPLOYMENTS: Final = custom(keys.GROUP, keys.VERSION, "modeldeployments", "ModelDeployment")

OURS: Final = f"{keys.NAME}={keys.NAME_VALUE}"
"""Label selector of the Pods of deployments; ownership itself is confirmed by UID."""

_WATCHED: Final[tuple[Kind[Any], ...]] = (SCALERS, DEPLOYMENTS, PODS, WORKLOADS)
GRANTS: Final = tuple(Grant(kind, ("list", "watch"), "keep what scalers read current") for kind in _WATCHED)


class Key(NamedTuple):
    """A scaler's namespace and name."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True)
class Shared:
    """Stores that somebody else keeps current: Pods under `owner` and `uid`, Workloads under `member`, all by UID."""

    deployments: Store[shapes.Custom]
    pods: Store[shapes.Pod]
    workloads: Store[shapes.Workload]


class Watched:
    """Scalers, and what they plan for: of their own, or shared with whoever reconciles in the same process.

    `wake` is called with the key of every scaler whose next pass may rule differently. How its target's Pods stand
    wakes none: that is what it looks at each interval.
    """

    def __init__(self, wake: Callable[[Key], None], shared: Shared | None = None) -> None:
        self._wake = wake
        self._own = shared is None
        kept = shared or _kept()
        self.scalers: Store[shapes.Custom] = Store(indexes={"target": _target_of}, on_change=(self._scaler,))
        self.deployments: Final = kept.deployments
        self.pods: Final = kept.pods
        self.workloads: Final = kept.workloads
        self.deployments.subscribe(self._deployment)
        self._stores: Final[Mapping[str, Store[Any]]] = MappingProxyType(
            {
                SCALERS.plural: self.scalers,
                DEPLOYMENTS.plural: self.deployments,
                PODS.plural: self.pods,
                WORKLOADS.plural: self.workloads,
            }
        )

    def reflectors(self, client: Client) -> tuple[Reflector[Any], ...]:
        """The loops that keep the stores current which nobody else does."""
        scalers = Reflector(client, SCALERS, self.scalers)
        if not self._own:
            return (scalers,)
        return (
            scalers,
            Reflector(client, DEPLOYMENTS, self.deployments),
            Reflector(client, PODS, self.pods, labels=OURS),
            Reflector(client, WORKLOADS, self.workloads),
        )

    def stores(self) -> Mapping[str, Store[Any]]:
        """Every store by the plural of its kind."""
        return self._stores

    async def wait_synced(self) -> None:
        """Wait until every store has seen a full list."""
        for store in self._stores.values():
            await store.wait_synced()

    def wake_all(self) -> None:
        """Wake every scaler."""
        for scaler in self.scalers.items():
            self._wake(Key(scaler.metadata.namespace, scaler.metadata.name))

    def _scaler(self, old: shapes.Custom | None, new: shapes.Custom | None) -> None:
        each = new or old
        if each is not None and (old is None or new is None or _own_part(old) != _own_part(new)):
            self._wake(Key(each.metadata.namespace, each.metadata.name))

    def _deployment(self, old: shapes.Custom | None, new: shapes.Custom | None) -> None:
        each = new or old
        if each is None or (old is not None and new is not None and _claim(old) == _claim(new)):
            return
        meta = each.metadata
        for scaler in self.scalers.by_index("target", f"{meta.namespace}/{meta.name}"):
            self._wake(Key(scaler.metadata.namespace, scaler.metadata.name))


def _kept() -> Shared:
    return Shared(
        deployments=Store(),
        pods=Store(indexes={"owner": _owner, "uid": _uid}),
        workloads=Store(indexes={"member": _members}),
    )


class _Named(msgspec.Struct):
    name: str = ""


class _Reference(msgspec.Struct, rename="camel"):
    target_ref: _Named | None = None


_reference: Final = msgspec.json.Decoder(_Reference)


def target_name(scaler: shapes.Custom) -> str:
    """The deployment that a scaler names; empty where its spec cannot be read."""
    try:
        named = _reference.decode(scaler.spec).target_ref
    except msgspec.DecodeError:
        return ""
    return named.name if named is not None else ""


def _target_of(scaler: shapes.Custom) -> Iterable[str]:
    return (f"{scaler.metadata.namespace}/{target_name(scaler)}",)


def _own_part(scaler: shapes.Custom) -> tuple[object, ...]:
    """What others write of a scaler: its status is our own, and wakes nobody."""
    meta = scaler.metadata
    return (meta.uid, meta.generation, meta.deletion_timestamp, meta.finalizers)


def _claim(deployment: shapes.Custom) -> tuple[object, ...]:
    """What a ruling or a commit depends on."""
    meta = deployment.metadata
    claims = (meta.annotations.get(key) for key in (keys.SCALER_BINDING, keys.SCALER_DECISION))
    return (meta.uid, meta.generation, meta.deletion_timestamp, *claims)


def _owner(pod: shapes.Pod) -> Iterable[str]:
    return (each.uid for each in pod.metadata.owner_references if each.controller)


def _uid(pod: shapes.Pod) -> Iterable[str]:
    return (pod.metadata.uid,)


def _members(workload: shapes.Workload) -> Iterator[str]:
    return (each.uid for each in workload.metadata.owner_references if each.kind == "Pod")
