"""What promises are judged by: the server's own objects, and the stores that the pass under way decides on."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from modeldeployment.api import keys, names
from modeldeployment.kube import shapes
from modeldeployment.lab.model import Entry, Process, Server
from modeldeployment.lab.model.resources import JSON
from modeldeployment.reconcile import OWNED

_OVER: Final = ("Failed", "Succeeded")


@dataclass(frozen=True, slots=True)
class Role:
    """What a deployment declares of one role."""

    name: str
    replicas: int
    size: int


@dataclass(frozen=True, slots=True)
class Pod:
    """A Pod by what its labels say; an ordinal that cannot be read is -1."""

    body: JSON

    @property
    def name(self) -> str:
        """Its name."""
        return str(self.body["metadata"]["name"])

    @property
    def uid(self) -> str:
        """Its UID."""
        return str(self.body["metadata"]["uid"])

    @property
    def owner(self) -> str:
        """UID of the deployment that controls it; empty without one."""
        return owner(self.body)

    @property
    def role(self) -> str:
        """The role it says it is of."""
        return self._label(keys.COMPONENT)

    @property
    def group(self) -> str:
        """Its Kueue group."""
        return self._label(keys.GROUP_NAME)

    @property
    def ordinal(self) -> int:
        """Its replica's ordinal."""
        return _number(self._label(keys.ORDINAL), -1)

    @property
    def index(self) -> int:
        """Its place in the replica."""
        return _number(self._label(keys.MEMBER_INDEX), 0)

    @property
    def seat(self) -> str:
        """Role, ordinal and, after a dot, member."""
        return f"{self.role}/{self.ordinal}.{self.index}"

    @property
    def live(self) -> bool:
        """Whether nobody has deleted it."""
        return "deletionTimestamp" not in self.body["metadata"]

    def _label(self, key: str) -> str:
        return str((self.body["metadata"].get("labels") or {}).get(key, ""))


@dataclass(frozen=True, slots=True)
class SeenPod:
    """A live Pod as the store of the process shows it."""

    uid: str
    role: str
    ordinal: int
    index: int
    ready: bool
    over: bool

    @property
    def seat(self) -> str:
        """Role, ordinal and, after a dot, member."""
        return f"{self.role}/{self.ordinal}.{self.index}"


class Scene:
    """The server and the process whose writes are judged; remembers what the pass under way has done.

    `parted` is what the last pass broke apart; nothing where a `rough` fault may have cut it short. Where people are
    `hurried`, a set may have grown since it was judged.
    """

    OWNED: Final = frozenset({"pods", *(kind.plural for kind in OWNED.values())})
    """Kinds of what a deployment owns."""

    def __init__(self, server: Server, *, hurried: bool = False, rough: bool = False) -> None:
        self._server = server
        self._hurried = hurried
        self._process: Process | None = None
        self._ours: set[str] = set()
        self._pass: tuple[str, int] = ("", 0)
        self._left: dict[str, set[int]] = {}
        self._created: dict[str, int] = {}
        self._edited: dict[str, int] = {}
        self.created_in_pass: set[str] = set()
        self.parted: list[str] = []
        self._rough = rough
        self._departed: list[Pod] = []

    def follow(self, process: Process) -> None:
        """Judge by the stores of this process from now on."""
        self._process = process
        self._ours.add(process.name)

    def begin(self) -> None:
        """Forget the last pass where another one is under way."""
        now = (self._process.name, self._process.passes) if self._process is not None else ("", 0)
        if now != self._pass:
            self._pass = now
            self._left = {}
            self.created_in_pass = set()
            self.parted = [] if self._rough else list(self._parts())
            self._departed = []

    def note(self, entry: Entry) -> None:
        """Remember an entry that has been judged."""
        if entry.plural == "pods" and entry.verb == "create":
            self._created[entry.thing["metadata"]["uid"]] = entry.revision
            self.created_in_pass.add(entry.thing["metadata"]["uid"])
        if entry.plural == "modeldeployments" and entry.new is not None:
            meta = entry.new["metadata"]
            if entry.old is None or entry.old["metadata"]["generation"] != meta["generation"]:
                self._edited[meta["uid"]] = entry.revision
        if pod := self.deleted_pod(entry):
            self._departed.append(pod)
        if pod := self.turned(entry):
            self._left.setdefault(pod.role, set()).add(pod.ordinal)

    def _parts(self) -> Iterator[str]:
        """Members that the last pass left behind when it deleted others of their replica; doubles of a seat aside."""
        for gone in self._departed:
            left = [each for each in self.pods(gone.owner) if each.live and each.group == gone.group]
            if left and gone.ordinal >= 0 and not any(each.seat == gone.seat for each in left):
                yield f"{left[0].seat} is left behind by {gone.seat}"

    # --- whose ---

    @property
    def stamp(self) -> str:
        """The present moment, as objects carry it."""
        return self._server.clock.stamp()

    def ours(self, entry: Entry) -> bool:
        """Whether an operator process wrote it."""
        return entry.by in self._ours

    def known_uids(self) -> frozenset[str]:
        """The deployments that the process knows."""
        return frozenset(each.metadata.uid for each in self._view.watched.deployments.items())

    def deployment(self, uid: str) -> JSON | None:
        """A deployment as the server has it."""
        return next((each for each in self._server.items("modeldeployments") if each["metadata"]["uid"] == uid), None)

    def deleting(self, uid: str) -> bool:
        """Whether the process has seen that the deployment is being deleted."""
        seen = self._seen_deployment(uid)
        return seen is not None and seen.metadata.deletion_timestamp is not None

    # --- Pods ---

    def pods(self, uid: str = "") -> Iterator[Pod]:
        """Pods on the server; those of one deployment, or all that have one."""
        for body in self._server.items("pods"):
            held = owner(body)
            if held and uid in ("", held):
                yield Pod(body)

    def grouped(self, group: str) -> Iterator[Pod]:
        """Everybody's Pods of a Kueue group on the server, as Kueue counts them."""
        return (pod for pod in map(Pod, self._server.items("pods")) if pod.group == group)

    def created_pod(self, entry: Entry) -> Pod | None:
        """The Pod that the operator has just created."""
        mine = entry.plural == "pods" and entry.verb == "create" and self.ours(entry)
        return Pod(entry.thing) if mine else None

    def deleted_pod(self, entry: Entry) -> Pod | None:
        """The live Pod that the operator has just deleted."""
        if entry.plural != "pods" or entry.verb != "delete" or not self.ours(entry) or entry.old is None:
            return None
        was_live = "deletionTimestamp" not in entry.old["metadata"] or entry.new is None
        return Pod(entry.old) if was_live else None

    def turned(self, entry: Entry) -> Pod | None:
        """The declared Pod that the operator has just deleted, doubles of a seat and orphans aside."""
        pod = self.deleted_pod(entry)
        role = self.role(pod) if pod else None
        if pod is None or role is None or self.deleting(pod.owner) or not 0 <= pod.ordinal < role.replicas:
            return None
        others = [each for each in self.seen(pod) if each.seat == pod.seat and each.uid != pod.uid]
        return None if others or pod.index >= role.size else pod

    def left_in_pass(self, pod: Pod) -> set[int]:
        """Declared ordinals of a Pod's role that have left in this pass."""
        return self._left.get(pod.role, set())

    # --- what the pass sees ---

    def role(self, pod: Pod) -> Role | None:
        """What the spec that the process knows declares of a Pod's role."""
        seen = self._seen_deployment(pod.owner)
        declared = roles(msgspec.json.decode(seen.spec)) if seen is not None else ()
        return next((each for each in declared if each.name == pod.role), None)

    def seen(self, pod: Pod) -> list[SeenPod]:
        """The live Pods of a Pod's role that the process knows."""
        pods = self._view.watched.pods.by_index("owner", pod.owner)
        return [_seen(each) for each in pods if _live(each) and each.metadata.labels.get(keys.COMPONENT) == pod.role]

    def whole(self, pod: Pod) -> bool:
        """Whether the process knows a Pod's replica as complete and not ended."""
        role = self.role(pod)
        members = [each for each in self.seen(pod) if each.ordinal == pod.ordinal]
        complete = role is not None and {each.index for each in members} == set(range(role.size))
        return complete and not any(each.over for each in members)

    def since_edit(self, seen: SeenPod) -> bool:
        """Whether a Pod came after the last edit of its deployment."""
        held = next((each for each in self.pods() if each.uid == seen.uid), None)
        return held is not None and self._created.get(seen.uid, 0) > self._edited.get(held.owner, 0)

    def admitted(self, pod: Pod) -> int:
        """How many admitted Workloads the process knows that own a live, declared Pod of a Pod's role."""
        role = self.role(pod)
        uids = {each.uid for each in self.seen(pod) if role is None or each.ordinal < role.replicas}
        return sum(1 for each in self._view.watched.workloads.items() if _admitted(each) and uids & _owners(each))

    def seen_admitted(self, workload: str) -> bool:
        """Whether the process knows a Workload, by name, as admitted."""
        return any(each.metadata.name == workload and _admitted(each) for each in self._view.watched.workloads.items())

    # --- sets ---

    def member_of(self, workload: JSON) -> Pod | None:
        """A Pod of a deployment that a Workload owns."""
        uids = _names(workload)
        return next((each for each in self.pods() if each.uid in uids), None)

    def several(self, pod: Pod) -> bool:
        """Whether a Pod is of a deployment of several roles, of which nobody has just changed what is declared."""
        held = self.deployment(pod.owner)
        return held is not None and len(held["spec"]["roles"]) > 1 and not self._hurried

    def unreserved(self, pod: Pod) -> Iterator[str]:
        """The declared replicas of a Pod's deployment that neither hold quota nor are being replaced by us.

        What the pass cannot have heard of yet is not held against it: a replica counts by the server or by the stores.
        """
        held = self.deployment(pod.owner)
        assert held is not None
        meta = held["metadata"]
        for role in roles(held["spec"]):
            for ordinal in range(role.replicas):
                group = names.group_name(meta["namespace"], meta["name"], role.name, ordinal)
                if not self._present(pod.owner, group) and not self._seen_present(pod.owner, group):
                    yield f"{role.name}/{ordinal}"

    def _present(self, uid: str, group: str) -> bool:
        members = [each for each in self.pods(uid) if each.group == group]
        uids = {each.uid for each in members}
        workloads = [each for each in self._server.items("workloads") if _names(each) & uids]
        return any(map(_reserved, workloads)) or (not workloads and any(not each.live for each in members))

    def _seen_present(self, uid: str, group: str) -> bool:
        pods = self._view.watched.pods.by_index("owner", uid)
        members = [each for each in pods if each.metadata.labels.get(keys.GROUP_NAME) == group]
        uids = {each.metadata.uid for each in members}
        workloads = [each for each in self._view.watched.workloads.items() if _owners(each) & uids]
        replaced = not workloads and any(not _live(each) for each in members)
        return replaced or any(_says(each, "QuotaReserved") for each in workloads)

    # --- inside ---

    @property
    def _view(self) -> Process:
        assert self._process is not None
        return self._process

    def _seen_deployment(self, uid: str) -> shapes.Custom | None:
        if self._process is None:
            return None
        return next((each for each in self._view.watched.deployments.items() if each.metadata.uid == uid), None)


def owner(thing: JSON) -> str:
    """UID of the deployment that controls an object; empty without one."""
    references = thing["metadata"].get("ownerReferences") or ()
    ours = (each["uid"] for each in references if each.get("controller") and each["kind"] == "ModelDeployment")
    return next(ours, "")


def finalizers(thing: JSON) -> tuple[str, ...]:
    """An object's finalizers."""
    return tuple(thing["metadata"].get("finalizers") or ())


def _number(text: str, otherwise: int) -> int:
    return int(text) if text.isascii() and text.isdigit() else otherwise


def roles(spec: dict[str, Any]) -> tuple[Role, ...]:
    """What a spec declares."""
    return tuple(Role(each["name"], each.get("replicas", 1), each.get("size", 1)) for each in spec["roles"])


def _live(pod: shapes.Pod) -> bool:
    return pod.metadata.deletion_timestamp is None


def _seen(pod: shapes.Pod) -> SeenPod:
    labels = pod.metadata.labels
    return SeenPod(
        uid=pod.metadata.uid,
        role=labels.get(keys.COMPONENT, ""),
        ordinal=_number(labels.get(keys.ORDINAL, ""), -1),
        index=_number(labels.get(keys.MEMBER_INDEX, ""), 0),
        ready=any(each.type == "Ready" and each.status == "True" for each in pod.status.conditions),
        over=pod.status.phase in _OVER,
    )


def _owners(workload: shapes.Workload) -> set[str]:
    return {each.uid for each in workload.metadata.owner_references}


def _admitted(workload: shapes.Workload) -> bool:
    return _says(workload, "Admitted")


def _says(workload: shapes.Workload, kind: str) -> bool:
    return any(each.type == kind and each.status == "True" for each in workload.status.conditions)


def _names(workload: JSON) -> set[str]:
    return {each["uid"] for each in workload["metadata"].get("ownerReferences") or ()}


def _reserved(workload: JSON) -> bool:
    conditions = workload.get("status", {}).get("conditions") or ()
    return any(each["type"] == "QuotaReserved" and each["status"] == "True" for each in conditions)
