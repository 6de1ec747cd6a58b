"""A small deterministic model of what a cluster answers to the steps of a pass: API server, Kueue and kubelet.

It keeps what facts reconcile §6 measured: a Workload is composed once all members of a group exist; a deleted Pod of
a serving group stays, leaving, until its Workload goes; and a deleted Workload stops every member it still owns.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial

import msgspec
from modeldeployment.api import ModelDeployment, keys
from modeldeployment.kube import shapes
from modeldeployment.reconcile import Member, OwnedKind, PodPhase, SeenObject, Workload, observing
from modeldeployment.reconcile.deciding.steps import (
    AddFinalizer,
    AlignObject,
    CreateObject,
    CreateReplica,
    DeleteObject,
    DeletePod,
    DeleteWorkload,
    DropFinalizer,
    Reclaim,
    SetEligibility,
    Step,
)
from modeldeployment.render import Rendering, Seat
from reconcile_worlds import held, patched, relabelled, rendered_role, rendering

Move = Callable[[], object]


@dataclass(slots=True)
class Cluster:
    """Everything of one deployment that the API server holds, and who moves it besides the controller.

    `quota` counts Pods. `excess` says what Kueue does to a group with too many Pods: nothing, delete the newest, or
    delete the group. `starts` says whether engines come up.
    """

    deployment: ModelDeployment
    quota: int = 1000
    excess: str = "newest"
    starts: bool = True
    pods: dict[str, Member] = field(default_factory=dict)
    workloads: dict[str, Workload] = field(default_factory=dict)
    objects: dict[tuple[OwnedKind, str], SeenObject] = field(default_factory=dict)
    gone: bool = False
    made: int = 0
    _rendered: tuple[int | None, Rendering] | None = None

    @property
    def rendering(self) -> Rendering:
        """The render of the deployment as it stands."""
        generation = self.deployment.metadata.generation
        if self._rendered is None or self._rendered[0] != generation:
            self._rendered = (generation, rendering(self.deployment))
        return self._rendered[1]

    # What the API server does with a step.

    def requests(self, step: Step) -> list[Move]:
        """The requests that carry out one step; the process may die between any two of them."""
        match step:
            case CreateReplica(role, ordinal):
                size = rendered_role(self.rendering, role).size
                return [partial(self._create, role, Seat(ordinal, each)) for each in range(size)]
            case _:
                return [partial(self._carry_out, step)]

    def _carry_out(self, step: Step) -> None:
        match step:
            case AddFinalizer():
                self._finalizers((*self.deployment.metadata.finalizers, keys.FINALIZER))
            case DropFinalizer():
                self._finalizers(())
                self.gone = self.deployment.metadata.deletion_timestamp is not None
            case DeletePod(uid=uid):
                self.delete(uid)
            case DeleteWorkload(name, uid):
                if name in self.workloads and self.workloads[name].uid == uid:
                    self.workloads[name] = replace(self.workloads[name], leaving=True)
            case SetEligibility(uid=uid, eligible=eligible):
                if uid in self.pods:
                    self.pods[uid] = replace(self.pods[uid], eligible=eligible)
            case Reclaim(uid=uid, labels=labels):
                if uid in self.pods:
                    self.pods[uid] = relabelled(self.pods[uid], labels)
            case CreateObject(kind, name, body):
                self.objects[kind, name] = held(body, uid=f"{kind}-{self._count()}")
            case AlignObject(kind, name, patch=patch):
                seen = self.objects[kind, name]
                self.objects[kind, name] = replace(seen, body=patched(seen.body, patch))
            case DeleteObject(kind, name):
                self.objects.pop((kind, name))
            case CreateReplica():
                raise AssertionError("a replica is created member by member")

    def _create(self, role: str, seat: Seat) -> None:
        body = rendered_role(self.rendering, role).template.body(seat)
        made = observing.member(msgspec.json.decode(body, type=shapes.Pod))
        number = self._count()
        name = made.name or f"chat-{role}-{number:03}"
        if any(each.name == name for each in self.pods.values()):
            raise AssertionError(f"Pod {name} exists already")
        self.place(replace(made, name=name, uid=f"pod-{number:03}", phase=PodPhase.PENDING))

    def place(self, member: Member) -> None:
        """Put a Pod there, whoever made it."""
        self.pods[member.uid] = member

    def delete(self, uid: str) -> None:
        """Mark a Pod as leaving; whether it goes is for its Workload to say."""
        if uid in self.pods:
            self.pods[uid] = replace(self.pods[uid], leaving=True, ready=False)

    def _finalizers(self, finalizers: tuple[str, ...]) -> None:
        metadata = self.deployment.metadata.model_copy(update={"finalizers": finalizers})
        self.deployment = self.deployment.model_copy(update={"metadata": metadata})

    def _count(self) -> int:
        self.made += 1
        return self.made

    # What Kueue and the kubelet do by themselves.

    def moves(self) -> list[Move]:
        """Everything that can happen next without the controller, in a fixed order."""
        return [*self._departures(), *self._excess(), *self._compositions(), *self._reservations(), *self._starts()]

    def _departures(self) -> Iterator[Move]:
        for workload in self.workloads.values():
            if workload.leaving:
                yield partial(self._release, workload.name)
        for member in self.pods.values():
            if member.leaving and self._owner(member) is None:
                yield partial(self.pods.pop, member.uid, None)

    def _release(self, name: str) -> None:
        workload = self.workloads.pop(name)
        for uid in workload.owners:
            self.delete(uid)

    def _excess(self) -> Iterator[Move]:
        for group, members in self._live_groups().items():
            if group in self.workloads and len(members) > self._size(members[0]) and self.excess != "nothing":
                extra = members if self.excess == "group" else members[self._size(members[0]) :]
                for member in extra:
                    yield partial(self.delete, member.uid)

    def _compositions(self) -> Iterator[Move]:
        for group, members in self._live_groups().items():
            standing = self.workloads.get(group)
            if standing is None and len(members) == self._size(members[0]):
                yield partial(self._compose, group, members)
            elif standing is not None and not standing.leaving:
                strangers = [each.uid for each in members if each.uid not in standing.owners]
                if strangers and len(members) == self._size(members[0]):
                    owners = standing.owners | set(strangers)
                    yield partial(self._store, replace(standing, owners=owners))

    def _compose(self, group: str, members: list[Member]) -> None:
        if group not in self.workloads:
            owners = frozenset(each.uid for each in members)
            waits = "couldn't assign flavors"
            self._store(Workload(group, f"wl-{self._count():03}", owners, queue="entrance-a10", waits_because=waits))

    def _reservations(self) -> Iterator[Move]:
        used = sum(len(each.owners) for each in self.workloads.values() if each.reserved)
        for workload in self.workloads.values():
            if workload.leaving or workload.preempted:
                continue
            if not workload.reserved and used + len(workload.owners) <= self.quota:
                used += len(workload.owners)
                given = replace(workload, reserved=True, cluster_queue="a10", flavors=("a10-flavor",), waits_because="")
                yield partial(self._store, given)
            elif workload.reserved and not workload.admitted:
                yield partial(self._store, replace(workload, admitted=True))

    def _starts(self) -> Iterator[Move]:
        for member in self.pods.values():
            owner = self._owner(member)
            if (
                self.starts
                and owner is not None
                and owner.admitted
                and member.phase is PodPhase.PENDING
                and not member.leaving
            ):
                running = replace(member, phase=PodPhase.RUNNING, ready=True, node="node-1")
                yield partial(self._start, running)

    def _start(self, running: Member) -> None:
        if running.uid in self.pods and not self.pods[running.uid].leaving:
            self.pods[running.uid] = running

    def _store(self, workload: Workload) -> None:
        standing = self.workloads.get(workload.name)
        if standing is None or (standing.uid == workload.uid and not standing.leaving):
            self.workloads[workload.name] = workload

    def _owner(self, member: Member) -> Workload | None:
        return next((each for each in self.workloads.values() if member.uid in each.owners), None)

    def _live_groups(self) -> dict[str, list[Member]]:
        groups: dict[str, list[Member]] = {}
        for member in self.pods.values():
            if not member.leaving and not member.over and member.ordinal is not None:
                groups.setdefault(member.group, []).append(member)
        return groups

    def _size(self, member: Member) -> int:
        return next((each.size for each in self.rendering.roles if each.name == member.role), 1)
