"""Scenarios that are played on a real cluster and on the fake one: what is done, what is waited for, what came of it.

`e2e_lived` plays them on the real one, `e2e_imagined` on the fake one.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from e2e_worlds import JSON
from modeldeployment.api import keys
from modeldeployment.lab.model import Outcome, conditions

STILL_SECONDS: Final = 3.0
"""How long nothing must change before what there is counts as what came of it."""

STRANGER: Final = "stranger"
"""The name of the Pod that somebody else has in the queue, and of its group."""

Names: TypeAlias = tuple[str, ...]
"""The deployments of a scenario; an action that names none means the first."""


@dataclass(frozen=True, slots=True)
class Scene:
    """What a scenario is played with: its deployments, in the order in which they are named, and the queue's checks."""

    manifests: tuple[JSON, ...]
    checks: tuple[str, ...] = ()

    @property
    def names(self) -> Names:
        """The names of the deployments."""
        return tuple(str(each["metadata"]["name"]) for each in self.manifests)

    def named(self, name: str) -> str:
        """The name of the deployment that an action means."""
        return name or self.names[0]

    def manifest(self, name: str) -> JSON:
        """The deployment that an action means."""
        return self.manifests[self.names.index(self.named(name))]


@dataclass(frozen=True, slots=True)
class Create:
    """Create a deployment."""

    name: str = ""


@dataclass(frozen=True, slots=True)
class Edit:
    """Put a value at a path of the deployment."""

    path: str
    value: Any


@dataclass(frozen=True, slots=True)
class Remove:
    """Take a field out of the deployment."""

    path: str


@dataclass(frozen=True, slots=True)
class Delete:
    """Delete a deployment."""

    name: str = ""


@dataclass(frozen=True, slots=True)
class DeletePod:
    """Delete one member by hand."""

    role: str
    ordinal: int
    member: int = 0


@dataclass(frozen=True, slots=True)
class DeleteWorkload:
    """Delete the Workload of one replica by hand."""

    role: str
    ordinal: int


@dataclass(frozen=True, slots=True)
class Drain:
    """Drain the node of one replica's leader."""

    role: str
    ordinal: int


@dataclass(frozen=True, slots=True)
class LoseNode:
    """Delete the node of one replica's leader."""

    role: str
    ordinal: int


@dataclass(frozen=True, slots=True)
class SilenceNode:
    """Let the node of one replica's leader stop reporting."""

    role: str
    ordinal: int


@dataclass(frozen=True, slots=True)
class Quota:
    """Give the queue so many cards."""

    cards: int


@dataclass(frozen=True, slots=True)
class Outrank:
    """Let the queue preempt lower priorities, and have a class of higher ones."""


@dataclass(frozen=True, slots=True)
class Lend:
    """Give half of the queue's quota to a second one in its cohort, which takes back by force what it lent."""


@dataclass(frozen=True, slots=True)
class Enter:
    """Let a Pod of somebody else's queue for so many cards, above all others or at the lender's; it gets its quota."""

    cards: int
    outranks: bool = False
    lender: bool = False


@dataclass(frozen=True, slots=True)
class Leave:
    """Let the stranger go, with the Workload of its group."""


@dataclass(frozen=True, slots=True)
class Age:
    """Set the clocks on every Workload of the deployment back by so many minutes."""

    minutes: int


@dataclass(frozen=True, slots=True)
class Activate:
    """Let every Workload of the deployment queue again."""


@dataclass(frozen=True, slots=True)
class Until:
    """Wait until this holds of the outcome of a deployment."""

    holds: Callable[[Outcome], bool]
    name: str = ""


@dataclass(frozen=True, slots=True)
class Came:
    """Wait until so many Pods have come in all; unlike a state that passes, nobody can miss that."""

    pods: int


@dataclass(frozen=True, slots=True)
class Stopped:
    """Wait until so many Workloads have been taken out of the queue in all."""

    workloads: int


@dataclass(frozen=True, slots=True)
class Queued:
    """Wait until so many groups of a deployment hold quota or have been refused it: one never tried comes first."""

    groups: int
    name: str = ""


@dataclass(frozen=True, slots=True)
class Look:
    """Wait until nothing changes for a while and remember what there is."""


Action: TypeAlias = (
    Create
    | Edit
    | Remove
    | Delete
    | DeletePod
    | DeleteWorkload
    | Drain
    | LoseNode
    | SilenceNode
    | Quota
    | Outrank
    | Lend
    | Enter
    | Leave
    | Age
    | Activate
    | Until
    | Came
    | Stopped
    | Queued
    | Look
)


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a scenario: the deployments whenever they were looked at and in the end, and what it took.

    Of Pods and Workloads: how many came and how many were deleted. `stopped` is how many Workloads were taken out of
    the queue.
    """

    seen: tuple[tuple[Outcome, ...], ...]
    pods: tuple[int, int]
    workloads: tuple[int, int]
    stopped: int


def settled(outcome: Outcome) -> bool:
    """Whether the deployment is served as its present spec says."""
    return (
        outcome.observed
        and outcome.phase == "Ready"
        and ("ReplicasUpToDate", "True", "UpToDate") in outcome.conditions
        and all(desired == ready for _, desired, ready, _ in outcome.roles)
        and all(seat.ready and not seat.leaving for seat in outcome.seats)
        and all(group.admitted for group in outcome.groups)
    )


def gone(outcome: Outcome) -> bool:
    """Whether nothing of the deployment is left."""
    return not outcome.exists and not outcome.seats and not outcome.groups


def waits(ready: int) -> Callable[[Outcome], bool]:
    """Whether so many replicas are ready and one Workload waits."""

    def holds(outcome: Outcome) -> bool:
        waiting = sum(not group.reserved for group in outcome.groups)
        return outcome.observed and sum(each[2] for each in outcome.roles) == ready and waiting == 1

    return holds


def held(outcome: Outcome) -> bool:
    """Whether one group has quota, another waits for it, and nobody runs."""
    reserved = [group.reserved for group in outcome.groups]
    return outcome.observed and sorted(reserved) == [False, True] and not any(seat.ready for seat in outcome.seats)


def parked(outcome: Outcome) -> bool:
    """Whether the set was given up: nothing of it runs or holds quota."""
    return ("QuotaReserved", "False", "Parked") in outcome.conditions and not any(
        group.reserved or seat.ready for group in outcome.groups for seat in outcome.seats
    )


def degraded(ready: int) -> Callable[[Outcome], bool]:
    """Whether so many replicas serve and others do not."""
    return lambda outcome: (
        outcome.observed and outcome.phase == "Degraded" and sum(each[2] for each in outcome.roles) == ready
    )


# --- what both players read and write ---


def tried(workload: JSON) -> bool:
    """Whether Kueue gave a Workload quota, or refused it some since it queues."""
    if conditions.true(workload, "QuotaReserved"):
        return True
    refused = str(conditions.of(workload, "QuotaReserved").get("message", "")).startswith("couldn't assign flavors")
    return refused and workload["spec"].get("active") is not False


def groups_of(pods: Iterable[JSON], name: str) -> set[str]:
    """The names of the groups, and so of the Workloads, of a deployment."""
    labels = [pod["metadata"].get("labels") or {} for pod in pods]
    return {each[keys.GROUP_NAME] for each in labels if each.get(keys.INSTANCE) == name and keys.GROUP_NAME in each}


def name_of(pods: Sequence[JSON], role: str, ordinal: int, member: int) -> str:
    """The name of the Pod in a seat."""
    return str(seated(pods, role, ordinal, member)["metadata"]["name"])


def node_of(pods: Sequence[JSON], role: str, ordinal: int) -> str:
    """The node of a replica's leader."""
    return str(seated(pods, role, ordinal, 0)["spec"]["nodeName"])


def seated(pods: Sequence[JSON], role: str, ordinal: int, member: int) -> JSON:
    """The Pod in a seat. Raises LookupError."""
    wanted = {keys.COMPONENT: role, keys.ORDINAL: str(ordinal)}
    for pod in pods:
        labels = pod["metadata"].get("labels") or {}
        index = labels.get(keys.MEMBER_INDEX, "0")
        if wanted.items() <= labels.items() and index == str(member) and "deletionTimestamp" not in pod["metadata"]:
            return pod
    raise LookupError(f"no Pod sits at {role}/{ordinal}/{member}")


def stranger(cards: int, queue: str, priority: str) -> JSON:
    """A Pod of somebody else, a group of its own, in a LocalQueue and of a priority class, if that is named."""
    container = {"name": "main", "image": "lab/none", "resources": {"limits": {"nvidia.com/gpu": str(cards)}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": STRANGER,
            "labels": {keys.QUEUE_NAME: queue, keys.GROUP_NAME: STRANGER},
            "annotations": {keys.GROUP_TOTAL: "1", keys.ROLE_HASH: "main", keys.GROUP_SERVING: keys.TRUE},
        },
        "spec": {
            **({"priorityClassName": priority} if priority else {}),
            "terminationGracePeriodSeconds": 1,
            "containers": [container],
        },
    }


def aged(workload: JSON, then: str) -> list[JSON]:
    """The change of a Workload's status that sets its clocks back to a moment."""
    kinds = [each["type"] for each in workload["status"]["conditions"]]
    entries = range(len(workload["status"].get("admissionChecks") or ()))
    paths = [
        f"/status/conditions/{kinds.index('QuotaReserved')}",
        *(f"/status/admissionChecks/{place}" for place in entries),
    ]
    return [{"op": "replace", "path": f"{path}/lastTransitionTime", "value": then} for path in paths]
