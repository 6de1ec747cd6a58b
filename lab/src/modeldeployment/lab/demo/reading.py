"""What the history keeps of the API server's objects, and how it is read off them."""

from typing import Final

import msgspec

from modeldeployment.api import ConditionType, ModelDeploymentSpec, ModelDeploymentStatus, keys, kueue
from modeldeployment.kube import Kind, custom
from modeldeployment.kube.kinds import SERVICES, WORKLOADS
from modeldeployment.kube.shapes import Condition, Custom, Object, PodStatus, Service, Shape, Workload
from modeldeployment.lab.demo.history import ConditionSeen, DeploymentSeen, PodSeen, Seen, ServiceSeen, WorkloadSeen


class Container(Shape, frozen=True):
    """One container, by its image."""

    image: str = ""


class PodSpec(Shape, frozen=True):
    """Where a Pod runs, and what."""

    node_name: str = ""
    containers: tuple[Container, ...] = ()


class ImagedPod(Object, frozen=True):
    """A Pod with its images, which no decision of the operator reads and so its own shape leaves out."""

    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()


PODS: Final = Kind("", "v1", "pods", "Pod", ImagedPod)
DEPLOYMENTS: Final = custom(keys.GROUP, keys.VERSION, "modeldeployments", "ModelDeployment")
KINDS: Final = (DEPLOYMENTS, PODS, WORKLOADS, SERVICES)
"""The kinds a history is made of."""


def seen(thing: Object) -> Seen:
    """Return what the history keeps of an object of one of KINDS; raises TypeError for another."""
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
            raise TypeError(f"no history is kept of {type(thing).__name__}")


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
    )


def _holds(conditions: tuple[Condition, ...], type_: str) -> bool:
    return any(each.type == type_ and each.status == "True" for each in conditions)


def image_patch(image: str) -> bytes:
    """The JSON patch that gives the first role another image."""
    return msgspec.json.encode([{"op": "add", "path": "/spec/roles/0/image", "value": image}])


def replicas_patch(replicas: int) -> bytes:
    """The JSON patch that asks for so many replicas of the first role."""
    return msgspec.json.encode([{"op": "replace", "path": "/spec/roles/0/replicas", "value": replicas}])
