"""The processes of a deployment's router, each with what has to be known of it before it is asked.

They are listed from the API server itself: their images and arguments are read of no other Pod, and a list of the
moment is what a withdrawal is closed with (facts routers-measured §7).
"""

from dataclasses import dataclass, field
from typing import Final, TypeAlias

from modeldeployment.api import RouterName, keys, names
from modeldeployment.kube import Client, Grant, Kind, shapes
from modeldeployment.kube.kinds import PODS
from modeldeployment.router import withdrawal

PROGRAMS: Final = ("router", "epp")
"""The containers of router Pods that run a routing program; the other one is the picker's proxy."""
_SWITCHES: Final = ("--pd-disaggregation", "--vllm-pd-disaggregation")
_OVER: Final = ("Succeeded", "Failed")
_NOT_YET: Final = "Pending"


class Container(shapes.Shape, frozen=True):
    """One container as it is declared."""

    name: str
    image: str = ""
    args: tuple[str, ...] = ()


class RouterSpec(shapes.Shape, frozen=True):
    """What a router Pod runs."""

    containers: tuple[Container, ...] = ()


class RouterPod(shapes.Object, frozen=True):
    """A Pod of a router, with what it runs."""

    spec: RouterSpec = RouterSpec()
    status: shapes.PodStatus = shapes.PodStatus()


Identity: TypeAlias = tuple[str, int]
"""What tells one life of a router process from another: its Pod's UID, and how often that was started."""

_ROUTER_PODS: Final = Kind("", "v1", "pods", "Pod", RouterPod)
GRANTS: Final = (Grant(PODS, ("list",), "find every process of a router before a replica behind it is deleted"),)


@dataclass(frozen=True, slots=True)
class Process:
    """One router process: its Pod, and how often that was started.

    `running` says whether it may be routing, `leaving` whether its Pod is being deleted. `version` is that of its
    program, empty where nothing says which; `paired` says whether it was started for the two halves of a pair. `key`
    opens its worker API.
    """

    uid: str
    name: str
    address: str
    restarts: int
    running: bool
    leaving: bool
    router: RouterName
    version: str
    paired: bool
    key: str | None = field(default=None, repr=False)

    @property
    def identity(self) -> Identity:
        """What tells it from its predecessors."""
        return self.uid, self.restarts

    @property
    def program(self) -> withdrawal.Program | None:
        """How it is shown to have let go of a member; None for a version that was not measured."""
        return withdrawal.program(self.router, self.version)

    def __str__(self) -> str:
        return f"router Pod {self.name} ({self.router.value} {self.version})"


async def of(client: Client, namespace: str, deployment: str, router: RouterName) -> tuple[Process, ...]:
    """List the processes of a deployment's router that run, or may soon. Raises KubeError.

    A Pod of its labels that no ReplicaSet of the router's Deployment owns is not one of them.
    """
    labels = f"{keys.NAME}={keys.NAME_VALUE},{keys.INSTANCE}={deployment},{keys.ROUTER}={router.value}"
    listed = await client.list(_ROUTER_PODS, namespace, labels=labels)
    ours = (pod for pod in listed.items if _ours(pod.metadata, deployment) and pod.status.phase not in _OVER)
    return tuple(_process(pod, router) for pod in ours)


def serves(pod: shapes.Pod, deployment: str) -> bool:
    """Whether a Pod that says that it runs a deployment's router does, and may be sent requests itself."""
    ended = pod.metadata.deletion_timestamp is not None or pod.status.phase in _OVER
    return not ended and _ours(pod.metadata, deployment)


def identity(pod: shapes.Pod) -> Identity:
    """Answer which life of which process a router Pod runs."""
    return pod.metadata.uid, sum(each.restart_count for each in pod.status.container_statuses)


def stranger(pod: shapes.Pod, router: RouterName) -> Process:
    """Answer a process of which no more is known than its Pod says: it can be asked, without a key."""
    uid, restarts = identity(pod)
    return Process(
        uid=uid,
        name=pod.metadata.name,
        address=pod.status.pod_ip,
        restarts=restarts,
        running=True,
        leaving=False,
        router=router,
        version="",
        paired=False,
    )


def _ours(meta: shapes.ObjectMeta, deployment: str) -> bool:
    owner = f"{names.router(deployment)}-"
    return any(
        each.controller and each.kind == "ReplicaSet" and each.name.startswith(owner) for each in meta.owner_references
    )


def _process(pod: RouterPod, router: RouterName) -> Process:
    program = next((each for each in pod.spec.containers if each.name in PROGRAMS), Container(""))
    return Process(
        uid=pod.metadata.uid,
        name=pod.metadata.name,
        address=pod.status.pod_ip,
        restarts=sum(each.restart_count for each in pod.status.container_statuses),
        running=pod.status.phase != _NOT_YET and bool(pod.status.pod_ip),
        leaving=pod.metadata.deletion_timestamp is not None,
        router=router,
        version=withdrawal.version(router, program.image),
        paired=any(each in _SWITCHES for each in program.args),
        key=withdrawal.admin_key(program.args) if router is RouterName.SGLANG else None,
    )
