"""One look at a deployment in a cluster: what the controllers watch, listed once, and the details people ask for.

Only the deployment's namespace is listed, of everything else only what is named. What the user may not read is said
and left out.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from fractions import Fraction
from functools import partial
from typing import Any, Final

import msgspec

from modeldeployment.api import keys, kueue, scraping
from modeldeployment.api.quantity import Quantity
from modeldeployment.kube import Client, Forbidden, Kind, NotFound, Reflector, Store, shapes
from modeldeployment.kube.kinds import (
    ADMISSION_CHECKS,
    CLUSTER_QUEUES,
    LEASES,
    LOCAL_QUEUES,
    NODES,
    PERSISTENT_VOLUME_CLAIMS,
    PODS,
    WORKLOADS,
)
from modeldeployment.operator import controlling
from modeldeployment.operator.errors import UsageError
from modeldeployment.operator.people import asking
from modeldeployment.reconcile import (
    DEPLOYMENTS,
    INSTANCE_TYPES,
    OWNED,
    Key,
    Snapshot,
    Snapshots,
    Watched,
    gathering,
    processes,
)
from modeldeployment.reconcile.errors import Unreadable
from modeldeployment.reconcile.explaining import amounts
from modeldeployment.reconcile.explaining.picture import (
    Check,
    Flavor,
    Lease,
    Picture,
    PodDetails,
    QueueDetails,
    RouterProcess,
    WorkloadDetails,
)
from modeldeployment.reconcile.kinds import ARTIFACTS, BACKENDS, BINDINGS, POOLS, RUNTIME_CLASSES
from modeldeployment.reconcile.sets import counting
from modeldeployment.reconcile.watching import LABELS, OURS, instance_types
from modeldeployment.render import Policy


class _Waiting(shapes.Shape, frozen=True):
    reason: str = ""
    message: str = ""


class _State(shapes.ContainerState, frozen=True):
    waiting: _Waiting | None = None


class _Container(shapes.ContainerStatus, frozen=True):
    state: _State = _State()


class _PodStatus(shapes.PodStatus, frozen=True):
    conditions: tuple[shapes.Condition, ...] = ()
    container_statuses: tuple[_Container, ...] = ()
    init_container_statuses: tuple[_Container, ...] = ()


class _Pod(shapes.Pod, frozen=True):
    """A Pod as the controllers read it, and why it and its containers wait, which no decision reads."""

    status: _PodStatus = _PodStatus()


_LATE: Final = 3  # lease durations after which nobody renews it any more; clocks differ
_PODS: Final = Kind(PODS.group, PODS.version, PODS.plural, PODS.kind, _Pod)


@dataclass(slots=True)
class Looker:
    """Looks at one deployment again and again.

    The operator renders with `policy`, and its Lease is in `leader_namespace`.
    """

    client: Client
    key: Key
    policy: Policy
    native: bool = True
    leader_namespace: str = "default"
    unread: list[str] = field(default_factory=list)
    _shut: set[str] = field(default_factory=set)

    async def look(self) -> Picture:
        """The deployment as it is now.

        Raises UsageError where there is none, or an object that cannot be read, and KubeError where nobody answers.
        """
        self.unread, self._shut = [], set()
        watched = Watched(_nobody)
        stored = await self._deployment()
        watched.deployments.put(stored)
        namespace, labels = self.key.namespace, f"{OURS},{keys.INSTANCE}={self.key.name}"
        pods: Store[_Pod] = Store()
        lease, *_ = await asyncio.gather(
            self._lease(),
            self._fill(pods, _PODS, namespace, labels),
            self._fill(watched.workloads, WORKLOADS, namespace),
            self._fill(watched.queues.local_queues, LOCAL_QUEUES, namespace),
            self._fill(watched.queues.checks, ADMISSION_CHECKS, None),
            self._fill(watched.runtime_classes, RUNTIME_CLASSES, None),
            self._fill(watched.bindings, BINDINGS, namespace),
            self._fill(watched.artifacts, ARTIFACTS, namespace),
            self._fill(watched.claims, PERSISTENT_VOLUME_CLAIMS, namespace),
            *(
                self._fill(store, OWNED[kind], namespace, f"{LABELS[kind]},{keys.INSTANCE}={self.key.name}")
                for kind, store in watched.owned.items()
            ),
            self._named(watched.types, INSTANCE_TYPES, instance_types(stored)),
        )
        for pod in pods.items():
            watched.pods.put(pod)
        nodes, *_ = await asyncio.gather(
            self._nodes({pod.spec.node_name for pod in pods.items() if pod.spec.node_name and not _works(pod)}),
            self._named(watched.queues.cluster_queues, CLUSTER_QUEUES, _led_to(watched)),
            self._stores(watched),
        )
        return self._picture(watched, stored, lease, {pod.metadata.uid: _pod(pod, nodes) for pod in pods.items()})

    async def look_with_routers(self) -> Picture:
        """The same, and the router's Pods with what each runs."""
        picture = await self.look()
        router = picture.snapshot.deployment.spec.router
        if router is None:
            return picture
        found: list[RouterProcess] = []

        async def listed() -> None:
            pods = await processes.of(self.client, self.key.namespace, self.key.name, router.name)
            found.extend(RouterProcess(each.name, each.version, each.running) for each in pods)

        await self._allowed(f"{PODS} of the router", listed)
        shut = f"{PODS} of the router" in self._shut
        return replace(picture, routers=None if shut else tuple(found), unread=tuple(self.unread))

    async def _stores(self, watched: Watched) -> None:
        await self._named(watched.pools, POOLS, _pools(watched))
        await self._named(watched.backends, BACKENDS, _backends(watched))

    def reflectors(self, changed: Callable[[], None]) -> tuple[Reflector[Any], ...]:
        """Loops that call `changed` when the deployment, or what it waits for, is other than before."""

        def tell(_old: object, _new: object) -> None:
            changed()

        namespace, labels = self.key.namespace, f"{OURS},{keys.INSTANCE}={self.key.name}"
        own = f"metadata.name={self.key.name}"
        return (
            Reflector(self.client, DEPLOYMENTS, Store(on_change=(tell,)), namespace, fields=own),
            Reflector(self.client, PODS, Store(on_change=(tell,)), namespace, labels=labels),
            Reflector(self.client, WORKLOADS, Store(on_change=(tell,)), namespace),
            Reflector(self.client, CLUSTER_QUEUES, Store(on_change=(tell,))),
            Reflector(self.client, NODES, Store(on_change=(_unless_alike(changed),))),
        )

    async def _deployment(self) -> shapes.Custom:
        try:
            return await self.client.get(DEPLOYMENTS, self.key.name, self.key.namespace)
        except NotFound as error:
            there = sorted(
                each.metadata.name for each in (await self.client.list_metadata(DEPLOYMENTS, self.key.namespace)).items
            )
            said = f"there is {', '.join(there)}" if there else "there is none; name another with -n"
            raise UsageError(
                f"ModelDeployment {self.key.name!r} is not in namespace {self.key.namespace!r}: {said}"
            ) from error

    async def _fill(self, store: Store[Any], kind: Kind[Any], namespace: str | None, labels: str | None = None) -> None:
        async def listed() -> None:
            listing = await self.client.list(kind, namespace, labels=labels)
            store.replace(listing.items, listing.resource_version)

        await self._allowed(str(kind), listed)

    async def _named(self, store: Store[Any], kind: Kind[Any], names: Iterable[str]) -> None:
        async def got(name: str) -> None:
            try:
                store.put(await self.client.get(kind, name))
            except NotFound:
                return

        await asyncio.gather(*(self._allowed(str(kind), partial(got, name)) for name in sorted(set(names))))

    async def _allowed(self, what: str, read: Callable[[], Awaitable[None]]) -> None:
        try:
            await read()
        except Forbidden:
            note = f"you may not read {what}, so what they say is left out"
            self._shut.add(what)
        except NotFound:
            note = f"the cluster has no {what}"
        else:
            return
        if note not in self.unread:
            self.unread.append(note)

    def _picture(
        self, watched: Watched, stored: shapes.Custom, lease: Lease | None, pods: Mapping[str, PodDetails]
    ) -> Picture:
        ours = watched.queues.ours() or frozenset({kueue.JOINT_CHECK})
        roles = gathering.Roles().of(stored)
        of = gathering.gathered(watched, stored, roles, lambda each: gathering.workload(each, ours))
        queues = {each.metadata.name: _queue(each) for each in watched.queues.cluster_queues.items()}
        if str(CLUSTER_QUEUES) not in self._shut:
            queues |= {name: QueueDetails(name, there=False) for name in _led_to(watched) - queues.keys()}
        try:
            snapshot = Snapshots(watched, self.policy).of(stored, native=self.native)
        except Unreadable as error:
            raise UsageError(str(error)) from error
        return Picture(
            self._known(snapshot),
            pods=pods,
            workloads={each.metadata.uid: _workload(each) for each in watched.workloads.items()},
            queues=queues,
            count=None if of.exempt else counting.count(of),
            ours=ours,
            lease=lease,
            blind=f"you may not read {INSTANCE_TYPES}" if str(INSTANCE_TYPES) in self._shut else "",
            unread=tuple(self.unread),
        )

    def _known(self, snapshot: Snapshot) -> Snapshot:
        """The snapshot without what it takes for missing because it may not be read."""
        if str(LOCAL_QUEUES) in self._shut:
            return replace(snapshot, queues={})
        if self._shut & {str(CLUSTER_QUEUES), str(ADMISSION_CHECKS)}:
            queues = {name: replace(each, checked=True) for name, each in snapshot.queues.items()}
            return replace(snapshot, queues=queues)
        return snapshot

    async def _lease(self) -> Lease | None:
        """The Lease of the operators; None where it cannot be read, or where they do without one."""
        try:
            spec = (await self.client.get(LEASES, controlling.LEASE, self.leader_namespace)).spec
        except (Forbidden, NotFound):
            return None
        renewed = datetime.fromisoformat(spec.renew_time).timestamp() if spec.renew_time else 0.0
        live = bool(spec.holder_identity) and time.time() < renewed + _LATE * spec.lease_duration_seconds
        return Lease(f"{self.leader_namespace}/{controlling.LEASE}", spec.holder_identity, live)

    async def _nodes(self, names: set[str]) -> dict[str, bool]:
        store: Store[shapes.Node] = Store()
        await self._named(store, NODES, names)
        return {node.metadata.name: _works(node) for node in store.items()}


async def looker(client: Client, namespace: str, name: str, policy: Policy, leader_namespace: str) -> Looker:
    """Make a looker; raises KubeError where the cluster does not answer."""
    return Looker(client, Key(namespace, name), policy, await asking.native_sidecars(client), leader_namespace)


def _nobody(_key: Key) -> None:
    return


def _unless_alike(changed: Callable[[], None]) -> Callable[[shapes.Node | None, shapes.Node | None], None]:
    """Tell of a node that came, went or turned: its own report of every few minutes is no news."""

    def tell(old: shapes.Node | None, new: shapes.Node | None) -> None:
        if old is None or new is None or _works(old) != _works(new):
            changed()

    return tell


def _works(thing: shapes.Node | shapes.Pod) -> bool:
    return any(each.type == "Ready" and each.status == "True" for each in thing.status.conditions)


def _led_to(watched: Watched) -> set[str]:
    return {each.spec.cluster_queue for each in watched.queues.local_queues.items()}


def _pools(watched: Watched) -> set[str]:
    return {name for each in watched.bindings.items() for name in _spec_names(each.spec, "poolRef")}


def _backends(watched: Watched) -> set[str]:
    return {name for each in watched.pools.items() for name in _spec_names(each.spec, "backends")}


def _spec_names(spec: msgspec.Raw, field_name: str) -> set[str]:
    named = (msgspec.json.decode(spec) or {}).get(field_name) or []
    return {str(each["name"]) for each in (named if isinstance(named, list) else [named]) if each.get("name")}


def _pod(pod: _Pod, nodes: Mapping[str, bool]) -> PodDetails:
    unscheduled = next(
        (each.message for each in pod.status.conditions if each.type == "PodScheduled" and each.status == "False"), ""
    )
    containers = (*pod.status.init_container_statuses, *pod.status.container_statuses)
    return PodDetails(
        gates=tuple(gate.name for gate in pod.spec.scheduling_gates),
        unscheduled=unscheduled,
        waiting=tuple(_sentence(each.name, each.state.waiting) for each in containers if each.state.waiting),
        node_ready=nodes.get(pod.spec.node_name),
        finalizers=pod.metadata.finalizers,
        scraped_at=scraping.url(pod.metadata.annotations, pod.status.pod_ip) or "",
    )


def _sentence(container: str, waiting: _Waiting) -> str:
    return f"{container} waits: {waiting.reason}{f', {waiting.message}' if waiting.message else ''}"


def _workload(seen: shapes.Workload) -> WorkloadDetails:
    evicted = next((each for each in seen.status.conditions if each.type == kueue.WorkloadCondition.EVICTED), None)
    return WorkloadDetails(
        tuple(Check(each.name, each.state, each.message) for each in seen.status.admission_checks),
        evicted.message if evicted is not None and evicted.status == "True" else "",
    )


def _queue(seen: shapes.ClusterQueue) -> QueueDetails:
    active = next((each for each in seen.status.conditions if each.type == kueue.QueueCondition.ACTIVE), None)
    taken = {
        (flavor.name, each.name): _quantity(each.total)
        for flavor in seen.status.flavors_reservation
        for each in flavor.resources
    }
    flavors = tuple(
        Flavor(
            flavor.name,
            amounts.amount(each.name, _quantity(each.nominal_quota)),
            amounts.amount(each.name, taken.get((flavor.name, each.name), Fraction(0))),
            amounts.unit(each.name),
        )
        for group in seen.spec.resource_groups
        for flavor in group.flavors
        for each in flavor.resources
        if amounts.unit(each.name)
    )
    works = active is not None and active.status == "True"
    because = "" if works or active is None else f"{active.reason}: {active.message}"
    return QueueDetails(seen.metadata.name, works, because, seen.spec.cohort_name, flavors)


def _quantity(text: str | int) -> Fraction:
    return Fraction(Quantity.parse(str(text)).milli, 1000)
