"""Where each kind lives in the API and which shape its objects take: one row per kind, no method per kind."""

import dataclasses
from typing import Final, Generic, TypeVar

from modeldeployment.kube import shapes

T = TypeVar("T", bound=shapes.Object)


@dataclasses.dataclass(frozen=True, slots=True)
class Kind(Generic[T]):
    """One kind of object; `group` is empty for the core group.

    `metadata_only` kinds are asked for as PartialObjectMetadata. Requests about `urgent` kinds do not
    wait behind bulk work: a Lease that is renewed late is a lost Lease.
    """

    group: str
    version: str
    plural: str
    kind: str
    shape: type[T]
    namespaced: bool = True
    metadata_only: bool = False
    urgent: bool = False

    @property
    def api_version(self) -> str:
        """`group/version`, or the bare version of the core group."""
        return f"{self.group}/{self.version}" if self.group else self.version

    def partial(self) -> "Kind[shapes.Partial]":
        """Give the same kind, read as metadata only."""
        return Kind(
            self.group, self.version, self.plural, self.kind, shapes.Partial, self.namespaced, metadata_only=True
        )

    def __str__(self) -> str:
        return f"{self.plural}.{self.group}" if self.group else self.plural


def custom(group: str, version: str, plural: str, kind: str, *, namespaced: bool = True) -> Kind[shapes.Custom]:
    """Describe a custom kind; spec and status of its objects stay bytes."""
    return Kind(group, version, plural, kind, shapes.Custom, namespaced)


PODS: Final = Kind("", "v1", "pods", "Pod", shapes.Pod)
SERVICES: Final = Kind("", "v1", "services", "Service", shapes.Service)
PERSISTENT_VOLUME_CLAIMS: Final = Kind(
    "", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", shapes.PersistentVolumeClaim
)
NODES: Final = Kind("", "v1", "nodes", "Node", shapes.Node, namespaced=False)
NAMESPACES: Final = Kind("", "v1", "namespaces", "Namespace", shapes.Namespace, namespaced=False)
SECRETS: Final = Kind("", "v1", "secrets", "Secret", shapes.Partial)
CONFIG_MAPS: Final = Kind("", "v1", "configmaps", "ConfigMap", shapes.Partial)
SERVICE_ACCOUNTS: Final = Kind("", "v1", "serviceaccounts", "ServiceAccount", shapes.Partial)
ENDPOINT_SLICES: Final = Kind("discovery.k8s.io", "v1", "endpointslices", "EndpointSlice", shapes.EndpointSlice)
EVENTS: Final = Kind("events.k8s.io", "v1", "events", "Event", shapes.Event)
LEASES: Final = Kind("coordination.k8s.io", "v1", "leases", "Lease", shapes.Lease, urgent=True)
CUSTOM_RESOURCE_DEFINITIONS: Final = Kind(
    "apiextensions.k8s.io",
    "v1",
    "customresourcedefinitions",
    "CustomResourceDefinition",
    shapes.CustomResourceDefinition,
    namespaced=False,
)
WORKLOADS: Final = Kind("kueue.x-k8s.io", "v1beta2", "workloads", "Workload", shapes.Workload)
LOCAL_QUEUES: Final = Kind("kueue.x-k8s.io", "v1beta2", "localqueues", "LocalQueue", shapes.LocalQueue)
CLUSTER_QUEUES: Final = Kind(
    "kueue.x-k8s.io", "v1beta2", "clusterqueues", "ClusterQueue", shapes.ClusterQueue, namespaced=False
)
COHORTS: Final = Kind("kueue.x-k8s.io", "v1beta2", "cohorts", "Cohort", shapes.Cohort, namespaced=False)
ADMISSION_CHECKS: Final = Kind(
    "kueue.x-k8s.io", "v1beta2", "admissionchecks", "AdmissionCheck", shapes.AdmissionCheck, namespaced=False
)
RESOURCE_FLAVORS: Final = Kind(
    "kueue.x-k8s.io", "v1beta2", "resourceflavors", "ResourceFlavor", shapes.Partial, namespaced=False
)
