"""What the history keeps of the API server's objects, and how it is read off them."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import msgspec

from modeldeployment.api import ConditionType, ModelDeploymentSpec, ModelDeploymentStatus, keys, kueue
from modeldeployment.kube import Kind, custom
from modeldeployment.kube.kinds import CONFIG_MAPS, SERVICE_ACCOUNTS, SERVICES, WORKLOADS
from modeldeployment.kube.shapes import Custom, Object, Partial, PodCondition, PodStatus, Service, Shape, Workload
from modeldeployment.lab.demo.history import (
    ConditionSeen,
    DeploymentSeen,
    PodSeen,
    RetirementSeen,
    RouterSeen,
    Seen,
    ServiceSeen,
    WorkloadSeen,
)


class Container(Shape, frozen=True):
    """One container; one that starts first and always runs is a sidecar."""

    name: str = ""
    image: str = ""
    restart_policy: str = ""


class PodSpec(Shape, frozen=True):
    """Where a Pod runs, and what."""

    node_name: str = ""
    init_containers: tuple[Container, ...] = ()
    containers: tuple[Container, ...] = ()


class ImagedPod(Object, frozen=True):
    """A Pod with its images, which no decision of the operator reads and so its own shape leaves out."""

    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()


class Rollout(Shape, frozen=True):
    """How many Pods of a `Deployment` are Ready."""

    ready_replicas: int = 0


class RolledOut(Object, frozen=True):
    """A `Deployment`, as far as it is Ready."""

    status: Rollout = Rollout()


_RBAC: Final = "rbac.authorization.k8s.io"

PODS: Final = Kind("", "v1", "pods", "Pod", ImagedPod)
DEPLOYMENTS: Final = custom(keys.GROUP, keys.VERSION, "modeldeployments", "ModelDeployment")
EVERY: Final = ""
KINDS: Final[Mapping[Kind[Any], str]] = MappingProxyType(
    {
        DEPLOYMENTS: EVERY,
        PODS: EVERY,
        WORKLOADS: EVERY,
        SERVICES: EVERY,
        SERVICE_ACCOUNTS: keys.ROUTER,
        Kind(_RBAC, "v1", "roles", "Role", Partial): keys.ROUTER,
        Kind(_RBAC, "v1", "rolebindings", "RoleBinding", Partial): keys.ROUTER,
        CONFIG_MAPS: keys.ROUTER,
        Kind("apps", "v1", "deployments", "Deployment", RolledOut): keys.ROUTER,
    }
)
"""The kinds a history is made of, and the label that their objects are chosen by: a namespace has some of its own."""


def seen(kind: Kind[Any], thing: Object) -> Seen:
    """Return what the history keeps of an object of one of KINDS; raises TypeError for another."""
    if keys.ROUTER in thing.metadata.labels:
        return RouterSeen(thing.metadata.uid, kind.kind, thing.metadata.name, ready=_router_ready(thing))
    match thing:
        case ImagedPod():
            return _pod(thing)
        case Workload():
            return _workload(thing)
        case Service():
            return ServiceSeen(thing.metadata.uid, thing.metadata.name)
        case Custom():
            return _deployment(thing)
        case _:
            raise TypeError(f"no history is kept of {kind.kind}")


def _router_ready(thing: Object) -> bool:
    match thing:
        case ImagedPod():
            return thing.metadata.deletion_timestamp is None and _holds(thing.status.conditions, "Ready")
        case RolledOut():
            return thing.status.ready_replicas > 0
        case _:
            return True


def _pod(pod: ImagedPod) -> PodSeen:
    ordinal = pod.metadata.labels.get(keys.ORDINAL, "")
    return PodSeen(
        uid=pod.metadata.uid,
        name=pod.metadata.name,
        ordinal=int(ordinal) if ordinal.isdecimal() else -1,
        role=pod.metadata.labels.get(keys.COMPONENT, ""),
        image=next((container.image for container in pod.spec.containers), ""),
        node=pod.spec.node_name,
        ready=_holds(pod.status.conditions, "Ready"),
        leaving=pod.metadata.deletion_timestamp is not None,
        sidecars=tuple(each.name for each in pod.spec.init_containers if each.restart_policy == "Always"),
    )


def _workload(workload: Workload) -> WorkloadSeen:
    admission = workload.status.admission
    assignments = () if admission is None else admission.pod_set_assignments
    return WorkloadSeen(
        uid=workload.metadata.uid,
        name=workload.metadata.name,
        owners=frozenset(owner.uid for owner in workload.metadata.owner_references if owner.kind == PODS.kind),
        admitted=_holds(workload.status.conditions, kueue.WorkloadCondition.ADMITTED),
        flavors={resource: flavor for each in assignments for resource, flavor in each.flavors.items()},
    )


def _deployment(stored: Custom) -> DeploymentSeen:
    spec = ModelDeploymentSpec.model_validate_json(bytes(stored.spec))
    status = ModelDeploymentStatus.model_validate_json(bytes(stored.status))
    told = status.condition(ConditionType.REPLICAS_UP_TO_DATE)
    leaves = status.retirement
    return DeploymentSeen(
        uid=stored.metadata.uid,
        name=stored.metadata.name,
        role=spec.roles[0].name,
        replicas=sum(role.replicas for role in spec.roles),
        phase=status.phase or "",
        message=status.phase_message or "",
        ready=sum(role.ready for role in status.roles),
        reserved=sum(role.quota_reserved for role in status.roles),
        current=told is not None and told.observed_generation == stored.metadata.generation,
        conditions=tuple(
            ConditionSeen(each.type, each.status, each.reason, each.message) for each in status.conditions
        ),
        router="" if spec.router is None else str(spec.router.name),
        summary=status.role_summary or "",
        endpoint=status.endpoint or "",
        retirement=None if leaves is None else RetirementSeen(leaves.role_name, leaves.replica_ordinal, leaves.state),
    )


def _holds(conditions: tuple[PodCondition, ...], type_: str) -> bool:
    return any(each.type == type_ and each.status == "True" for each in conditions)


def image_patch(image: str) -> bytes:
    """The JSON patch that gives the first role another image."""
    return msgspec.json.encode([{"op": "add", "path": "/spec/roles/0/image", "value": image}])


def replicas_patch(replicas: int) -> bytes:
    """The JSON patch that asks for so many replicas of the first role."""
    return msgspec.json.encode([{"op": "replace", "path": "/spec/roles/0/replicas", "value": replicas}])
