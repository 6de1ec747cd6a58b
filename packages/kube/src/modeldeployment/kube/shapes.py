"""The few fields of each kind that some decision reads; everything else in an answer never becomes an object.

Structs are frozen and untracked by the garbage collector where they hold no cycles (none can: they come from JSON).
A field that the server writes as `null` reads as its default here, see `requests.decode`.
"""

import msgspec


class Shape(msgspec.Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """Base of all shapes: immutable, camelCase on the wire, built by keyword."""


class OwnerReference(Shape, frozen=True):
    """Who owns an object; `controller` marks the one managing owner."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool = False


class ObjectMeta(Shape, frozen=True):
    """Object metadata without managedFields; times as the server writes them (RFC 3339)."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    creation_timestamp: str = ""
    deletion_timestamp: str | None = None
    deletion_grace_period_seconds: int | None = None
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    finalizers: tuple[str, ...] = ()
    owner_references: tuple[OwnerReference, ...] = ()


class ObjectReference(Shape, frozen=True, omit_defaults=True):
    """Names one object in an Event."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""


class Object(Shape, frozen=True):
    """Base of the shapes that a kind can have: whatever else they hold, they hold metadata."""

    metadata: ObjectMeta


class Partial(Object, frozen=True):
    """Any object reduced to its metadata."""


class PodCondition(Shape, frozen=True):
    """A condition of a Pod: which it is, and whether it holds; why and since when is not read."""

    type: str
    status: str


class Condition(PodCondition, frozen=True):
    """A status condition of any other kind."""

    reason: str = ""
    message: str = ""
    last_transition_time: str = ""
    observed_generation: int = 0


class Conditions(Shape, frozen=True):
    """A status of which only the conditions are read."""

    conditions: tuple[Condition, ...] = ()


class Custom(Object, frozen=True):
    """A custom resource whose spec and status stay bytes, for its owner to decode."""

    spec: msgspec.Raw = msgspec.Raw(b"{}")
    status: msgspec.Raw = msgspec.Raw(b"{}")


class Namespace(Object, frozen=True):
    """A Namespace; its metadata is all that is read."""


class SchedulingGate(Shape, frozen=True):
    """Holds a Pod back from the scheduler until it is removed."""

    name: str


class PodSpec(Shape, frozen=True):
    """Where the Pod sits and what holds it back."""

    node_name: str = ""
    scheduling_gates: tuple[SchedulingGate, ...] = ()


class Terminated(Shape, frozen=True):
    """That a container has ended; how it did is not read."""


class ContainerState(Shape, frozen=True):
    """What a container does."""

    terminated: Terminated | None = None


class ContainerStatus(Shape, frozen=True):
    """One container as its node reports it; `started` says whether it passed its start-up gate, where that is told.

    `last_state` is how it was before it was started again.
    """

    name: str
    ready: bool = False
    restart_count: int = 0
    started: bool | None = None
    container_id: str = msgspec.field(default="", name="containerID")
    state: ContainerState = ContainerState()
    last_state: ContainerState = ContainerState()


class PodStatus(Shape, frozen=True):
    """What the node and the scheduler report."""

    phase: str = ""
    reason: str = ""
    pod_ip: str = msgspec.field(default="", name="podIP")
    conditions: tuple[PodCondition, ...] = ()
    container_statuses: tuple[ContainerStatus, ...] = ()
    init_container_statuses: tuple[ContainerStatus, ...] = ()


class Pod(Object, frozen=True):
    """A Pod."""

    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()


class ServicePort(Shape, frozen=True):
    """One port of a Service; `target_port` is a number or a container port's name."""

    port: int
    name: str = ""
    target_port: int | str = 0
    protocol: str = "TCP"


class ServiceSpec(Shape, frozen=True):
    """Whom a Service reaches, and how."""

    type: str = "ClusterIP"
    cluster_ip: str = msgspec.field(default="", name="clusterIP")
    selector: dict[str, str] = {}
    ports: tuple[ServicePort, ...] = ()
    publish_not_ready_addresses: bool = False


class Service(Object, frozen=True):
    """A Service."""

    spec: ServiceSpec = ServiceSpec()


class EndpointConditions(Shape, frozen=True):
    """Whether an address takes traffic; absent reads as ready."""

    ready: bool = True
    serving: bool = True
    terminating: bool = False


class Endpoint(Shape, frozen=True):
    """One backend of a slice."""

    addresses: tuple[str, ...] = ()
    conditions: EndpointConditions = EndpointConditions()
    target_ref: ObjectReference = ObjectReference()


class EndpointPort(Shape, frozen=True):
    """One port all backends of a slice answer on."""

    name: str = ""
    port: int = 0


class EndpointSlice(Object, frozen=True):
    """A part of the addresses behind a Service."""

    address_type: str = ""
    endpoints: tuple[Endpoint, ...] = ()
    ports: tuple[EndpointPort, ...] = ()


class NodeSpec(Shape, frozen=True):
    """Whether new Pods may come."""

    unschedulable: bool = False


class Node(Object, frozen=True):
    """A Node."""

    spec: NodeSpec = NodeSpec()
    status: Conditions = Conditions()


class LeaseSpec(Shape, frozen=True):
    """Who holds a Lease and since when; an empty holder means that it is free."""

    holder_identity: str = ""
    lease_duration_seconds: int = 0
    acquire_time: str = ""
    renew_time: str = ""
    lease_transitions: int = 0


class Lease(Object, frozen=True):
    """A Lease."""

    spec: LeaseSpec = LeaseSpec()


class EventSeries(Shape, frozen=True):
    """How often an Event was seen, when it was seen more than once."""

    count: int = 0
    last_observed_time: str = ""


class Event(Object, frozen=True):
    """An Event of events.k8s.io/v1."""

    type: str = ""
    reason: str = ""
    action: str = ""
    note: str = ""
    reporting_controller: str = ""
    reporting_instance: str = ""
    regarding: ObjectReference = ObjectReference()
    series: EventSeries = EventSeries()


class PodSet(Shape, frozen=True):
    """So many Pods of one shape in a Workload."""

    name: str
    count: int = 0


class WorkloadSpec(Shape, frozen=True):
    """What a Workload asks for; `active` absent reads as None, which Kueue takes as true."""

    queue_name: str = ""
    active: bool | None = None
    priority: int = 0
    pod_sets: tuple[PodSet, ...] = ()


class PodSetAssignment(Shape, frozen=True):
    """The flavor given to each resource of one PodSet."""

    name: str
    flavors: dict[str, str] = {}
    count: int = 0


class Admission(Shape, frozen=True):
    """A quota reservation."""

    cluster_queue: str = ""
    pod_set_assignments: tuple[PodSetAssignment, ...] = ()


class AdmissionCheckState(Shape, frozen=True):
    """The answer of one admission check to one Workload."""

    name: str
    state: str = ""
    message: str = ""
    last_transition_time: str = ""
    retry_count: int = 0
    requeue_after_seconds: int | None = None


class WorkloadStatus(Shape, frozen=True):
    """Reservation, checks and conditions of a Workload."""

    conditions: tuple[Condition, ...] = ()
    admission: Admission | None = None
    admission_checks: tuple[AdmissionCheckState, ...] = ()


class Workload(Object, frozen=True):
    """Kueue's Workload (v1beta2)."""

    spec: WorkloadSpec = WorkloadSpec()
    status: WorkloadStatus = WorkloadStatus()


class LocalQueueSpec(Shape, frozen=True):
    """The ClusterQueue behind a LocalQueue."""

    cluster_queue: str = ""


class LocalQueue(Object, frozen=True):
    """Kueue's LocalQueue."""

    spec: LocalQueueSpec = LocalQueueSpec()
    status: Conditions = Conditions()


class QuotaResource(Shape, frozen=True):
    """How much of one resource one flavor gives; amounts are quantities as the server writes them."""

    name: str
    nominal_quota: str | int = "0"
    borrowing_limit: str | int | None = None
    lending_limit: str | int | None = None


class FlavorQuotas(Shape, frozen=True):
    """The quotas of one flavor."""

    name: str
    resources: tuple[QuotaResource, ...] = ()


class ResourceGroup(Shape, frozen=True):
    """Flavors that give the same resources."""

    covered_resources: tuple[str, ...] = ()
    flavors: tuple[FlavorQuotas, ...] = ()


class CheckRule(Shape, frozen=True):
    """One admission check of a ClusterQueue and the flavors it is for; none stands for all of them."""

    name: str
    on_flavors: tuple[str, ...] = ()


class ChecksStrategy(Shape, frozen=True):
    """The admission checks of a ClusterQueue."""

    admission_checks: tuple[CheckRule, ...] = ()


class ClusterQueueSpec(Shape, frozen=True):
    """What a ClusterQueue gives, whom it shares with, and what it asks before it admits."""

    cohort_name: str = ""
    resource_groups: tuple[ResourceGroup, ...] = ()
    admission_checks_strategy: ChecksStrategy = ChecksStrategy()
    stop_policy: str = ""


class ResourceUsage(Shape, frozen=True):
    """What is taken of one resource; `borrowed` of it comes from the cohort."""

    name: str
    total: str | int = "0"
    borrowed: str | int = "0"


class FlavorUsage(Shape, frozen=True):
    """What is taken of one flavor."""

    name: str
    resources: tuple[ResourceUsage, ...] = ()


class ClusterQueueStatus(Shape, frozen=True):
    """What is reserved, and how many Workloads wait, hold and run."""

    conditions: tuple[Condition, ...] = ()
    flavors_reservation: tuple[FlavorUsage, ...] = ()
    pending_workloads: int = 0
    reserving_workloads: int = 0
    admitted_workloads: int = 0


class ClusterQueue(Object, frozen=True):
    """Kueue's ClusterQueue."""

    spec: ClusterQueueSpec = ClusterQueueSpec()
    status: ClusterQueueStatus = ClusterQueueStatus()


class CohortSpec(Shape, frozen=True):
    """The cohort above a cohort; empty at the root."""

    parent_name: str = ""


class Cohort(Object, frozen=True):
    """Kueue's Cohort."""

    spec: CohortSpec = CohortSpec()


class AdmissionCheckSpec(Shape, frozen=True):
    """Who answers a check."""

    controller_name: str = ""


class AdmissionCheck(Object, frozen=True):
    """Kueue's AdmissionCheck."""

    spec: AdmissionCheckSpec = AdmissionCheckSpec()
    status: Conditions = Conditions()


class ClaimSpec(Shape, frozen=True):
    """How a volume may be mounted."""

    access_modes: tuple[str, ...] = ()


class ClaimStatus(Shape, frozen=True):
    """Whether a claim has its volume."""

    phase: str = ""
    access_modes: tuple[str, ...] = ()


class PersistentVolumeClaim(Object, frozen=True):
    """A PersistentVolumeClaim."""

    spec: ClaimSpec = ClaimSpec()
    status: ClaimStatus = ClaimStatus()


class CustomResourceDefinition(Object, frozen=True):
    """A CustomResourceDefinition."""

    status: Conditions = Conditions()
