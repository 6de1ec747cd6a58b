"""A live view of one namespace, kept by watches, and the story of every change in it."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final, TypeVar, cast

import msgspec
import pytest
from modeldeployment.api import keys
from modeldeployment.kube import Client, Kind, Reflector, Store
from modeldeployment.kube.kinds import EVENTS, PODS, SERVICES, WORKLOADS
from modeldeployment.kube.shapes import Custom, Event, Object, Pod, Service, Workload
from modeldeployment.reconcile import DEPLOYMENTS

PATIENCE: Final = 90.0
"""Seconds after which something that never happens is a failure; generous, for a machine others work on too."""

T = TypeVar("T")
K = TypeVar("K", bound=Object)


@dataclass(frozen=True, slots=True)
class Change:
    """One change of one object: it came (`old` is None), changed, or went (`new` is None)."""

    kind: str
    old: Object | None
    new: Object | None

    @property
    def thing(self) -> Object:
        thing = self.new or self.old
        assert thing is not None
        return thing

    @property
    def came(self) -> bool:
        return self.old is None

    @property
    def began_to_leave(self) -> bool:
        """Whether it was deleted here, though finalizers or a grace period may keep it a while."""
        if self.old is None or self.old.metadata.deletion_timestamp is not None:
            return False
        return self.new is None or self.new.metadata.deletion_timestamp is not None


class Board:
    """The present objects of a namespace and the story so far."""

    def __init__(self, namespace: str) -> None:
        self.namespace = namespace
        self.story: list[Change] = []
        self._changed = asyncio.Event()
        self._followers: list[Callable[[], None]] = []
        self.deployments: Store[Custom] = Store(on_change=[self._teller(DEPLOYMENTS)])
        self.pods: Store[Pod] = Store(on_change=[self._teller(PODS)])
        self.workloads: Store[Workload] = Store(on_change=[self._teller(WORKLOADS)])
        self.services: Store[Service] = Store(on_change=[self._teller(SERVICES)])
        self.events: Store[Event] = Store(on_change=[self._teller(EVENTS)])

    async def until(self, holds: Callable[[], T], *, within: float = PATIENCE, what: str = "") -> T:
        """Return the first truthy answer of `holds`, asked again after every change; fail the test without one."""
        try:
            async with asyncio.timeout(within):
                while not (answer := holds()):
                    self._changed.clear()
                    await self._changed.wait()
                return answer
        except TimeoutError:
            pytest.fail(f"not so within {within:.0f} s: {what or holds}\n{self.picture()}")

    def follow(self, measure: Callable[[], T]) -> list[T]:
        """Return a list that grows by `measure()` at every change from now on."""
        measured = [measure()]
        self._followers.append(lambda: measured.append(measure()))
        return measured

    # --- what is there ---

    def status(self, name: str) -> dict[str, Any]:
        """The status of a deployment; empty where there is none."""
        found = self.deployments.get(self.namespace, name)
        return _table(found.status) if found is not None else {}

    def spec(self, name: str) -> dict[str, Any]:
        """The spec of a deployment that is there."""
        found = self.deployments.get(self.namespace, name)
        assert found is not None
        return _table(found.spec)

    def condition(self, name: str, kind: str) -> dict[str, Any]:
        """One condition of a deployment; empty where there is none."""
        return next((each for each in self.status(name).get("conditions") or [] if each["type"] == kind), {})

    def says(self, name: str, kind: str, status: str, reason: str) -> bool:
        """Whether a condition, judged on the present spec, has this status and reason."""
        found, said = self.deployments.get(self.namespace, name), self.condition(name, kind)
        return (
            found is not None
            and said.get("observedGeneration") == found.metadata.generation
            and (said["status"], said["reason"]) == (status, reason)
        )

    def settled(self, name: str) -> bool:
        """Whether the present spec is served, by its status and by what this board has seen of the replicas."""
        return (
            self.says(name, "Rendered", "True", "Rendered")
            and self.says(name, "ReplicasUpToDate", "True", "UpToDate")
            and self.says(name, "QuotaReserved", "True", "Reserved")
            and self.status(name)["phase"] == "Ready"
            and all(role["ready"] == role["desired"] for role in self.status(name)["roles"])
            and all(self._served(name, role) for role in self.spec(name)["roles"])
        )

    def _served(self, name: str, role: dict[str, Any]) -> bool:
        replicas = self.replicas(name, role["name"])
        return len(replicas) == role["replicas"] and all(
            len(members) == role["size"] and all(ready(pod) and admitted(self.workload_of(pod)) for pod in members)
            for members in replicas.values()
        )

    def all_pods(self, name: str) -> list[Pod]:
        """Every Pod that carries a deployment's labels, leaving ones included."""
        return [pod for pod in self.pods.items() if pod.metadata.labels.get(keys.INSTANCE) == name]

    def replicas(self, name: str, role: str = "server") -> dict[int, list[Pod]]:
        """The Pods of each ordinal, by member, without those that are leaving."""
        found: dict[int, list[Pod]] = {}
        for pod in sorted(self.all_pods(name), key=lambda pod: pod.metadata.labels.get(keys.MEMBER_INDEX, "0")):
            if pod.metadata.labels.get(keys.COMPONENT) == role and pod.metadata.deletion_timestamp is None:
                found.setdefault(ordinal(pod), []).append(pod)
        return dict(sorted(found.items()))

    def workload_of(self, pod: Pod) -> Workload | None:
        """The Workload that owns a Pod's quota."""
        owned = (each for each in self.workloads.items() if pod.metadata.uid in owners(each))
        return next(owned, None)

    def notes(self, reason: str) -> list[str]:
        """What events of this reason say."""
        return [event.note for event in self.events.items() if event.reason == reason]

    def picture(self) -> str:
        """Deployments' status and the latest changes, for a failing test."""
        lines = [f"{each.metadata.name}: {_table(each.status)}" for each in self.deployments.items()]
        for change in self.story[-30:]:
            verb = "came" if change.came else "went" if change.new is None else "changed"
            lines.append(f"{change.kind} {change.thing.metadata.name} {verb}")
        return "\n".join(lines)

    # --- what happened ---

    def came(self, kind: Kind[K]) -> list[K]:
        """Every object of a kind that ever came, in order."""
        return [cast("K", change.new) for change in self.story if change.kind == str(kind) and change.came]

    def deleted(self, kind: Kind[K]) -> list[K]:
        """Every object of a kind that was ever deleted, in order, as it was when that began."""
        return [cast("K", each.thing) for each in self.story if each.kind == str(kind) and each.began_to_leave]

    def _teller(self, kind: Kind[Any]) -> Callable[[Object | None, Object | None], None]:
        def tell(old: Object | None, new: Object | None) -> None:
            self.story.append(Change(str(kind), old, new))
            for follower in self._followers:
                follower()
            self._changed.set()

        return tell


@contextlib.asynccontextmanager
async def watching(client: Client, namespace: str) -> AsyncIterator[Board]:
    """Keep a board on a namespace while the context is open."""
    board = Board(namespace)
    reflectors: list[Reflector[Any]] = [
        Reflector(client, DEPLOYMENTS, board.deployments, namespace),
        Reflector(client, PODS, board.pods, namespace),
        Reflector(client, WORKLOADS, board.workloads, namespace),
        Reflector(client, SERVICES, board.services, namespace),
        Reflector(client, EVENTS, board.events, namespace),
    ]
    tasks = [asyncio.create_task(reflector.run()) for reflector in reflectors]
    try:
        async with asyncio.timeout(PATIENCE):
            for store in (board.deployments, board.pods, board.workloads, board.services, board.events):
                await store.wait_synced()
        yield board
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def ordinal(pod: Pod) -> int:
    """The replica a Pod belongs to; -1 for a Pod that names none."""
    return int(pod.metadata.labels.get(keys.ORDINAL, "-1"))


def uids(things: Iterable[K]) -> list[str]:
    """The UIDs of objects, in their order."""
    return [thing.metadata.uid for thing in things]


def owners(thing: Object | None) -> set[str]:
    """The UIDs of an object's owners; none where there is no object."""
    return {owner.uid for owner in thing.metadata.owner_references} if thing is not None else set()


def ready(pod: Pod) -> bool:
    """Whether a Pod is ready and staying."""
    staying = pod.metadata.deletion_timestamp is None
    return staying and any(each.type == "Ready" and each.status == "True" for each in pod.status.conditions)


def restarts(pod: Pod) -> int:
    """How often a Pod's containers restarted."""
    return sum(each.restart_count for each in pod.status.container_statuses)


def admitted(workload: Workload | None) -> bool:
    """Whether Kueue has admitted a Workload."""
    conditions = workload.status.conditions if workload is not None else ()
    return any(each.type == "Admitted" and each.status == "True" for each in conditions)


def _table(raw: msgspec.Raw) -> dict[str, Any]:
    return (msgspec.json.decode(raw) if bytes(raw) else None) or {}
