"""The kinds that the fake API server knows, and what is special about some of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from modeldeployment.api import keys, kueue

JSON: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Resource:
    """One kind; `status` says whether its status is written apart, `generations` whether its spec is numbered.

    `shown` says whether a delete that takes the object away at once answers with it; others answer with a Status.
    """

    plural: str
    api_version: str
    kind: str
    namespaced: bool = True
    status: bool = True
    generations: bool = True
    shown: bool = False

    @property
    def group(self) -> str:
        """Its API group; empty for the core."""
        return self.api_version.rpartition("/")[0]

    @property
    def qualified(self) -> str:
        """Its name in the server's sentences."""
        return f"{self.plural}.{self.group}" if self.group else self.plural


_OURS = keys.API_VERSION
_KUEUE = kueue.API_VERSION
_RBAC = "rbac.authorization.k8s.io/v1"

_ALL: Final = (
    Resource("modeldeployments", _OURS, "ModelDeployment"),
    Resource("modeldeploymentscalers", _OURS, "ModelDeploymentScaler"),
    Resource("modelartifacts", _OURS, "ModelArtifact"),
    Resource("kvcachepoolbindings", _OURS, "KVCachePoolBinding"),
    Resource("kvcachepools", _OURS, "KVCachePool", namespaced=False),
    Resource("kvcachebackends", _OURS, "KVCacheBackend", namespaced=False),
    Resource("instancetypes", _OURS, "InstanceType", namespaced=False),
    Resource("workloads", _KUEUE, "Workload"),
    Resource("localqueues", _KUEUE, "LocalQueue"),
    Resource("clusterqueues", _KUEUE, "ClusterQueue", namespaced=False),
    Resource("cohorts", _KUEUE, "Cohort", namespaced=False),
    Resource("admissionchecks", _KUEUE, "AdmissionCheck", namespaced=False),
    Resource("resourceflavors", _KUEUE, "ResourceFlavor", namespaced=False, status=False),
    Resource("topologies", _KUEUE, "Topology", namespaced=False, status=False),
    Resource("workloadpriorityclasses", _KUEUE, "WorkloadPriorityClass", namespaced=False, status=False),
    Resource("pods", "v1", "Pod", generations=False, shown=True),
    Resource("services", "v1", "Service", generations=False, shown=True),
    Resource("serviceaccounts", "v1", "ServiceAccount", status=False, generations=False, shown=True),
    Resource("configmaps", "v1", "ConfigMap", status=False, generations=False),
    Resource("secrets", "v1", "Secret", status=False, generations=False),
    Resource("persistentvolumeclaims", "v1", "PersistentVolumeClaim", generations=False, shown=True),
    Resource("nodes", "v1", "Node", namespaced=False, generations=False),
    Resource("namespaces", "v1", "Namespace", namespaced=False, generations=False),
    Resource("events", "events.k8s.io/v1", "Event", status=False, generations=False),
    Resource("leases", "coordination.k8s.io/v1", "Lease", status=False, generations=False),
    Resource("roles", _RBAC, "Role", status=False, generations=False),
    Resource("rolebindings", _RBAC, "RoleBinding", status=False, generations=False),
    Resource("deployments", "apps/v1", "Deployment"),
    Resource("runtimeclasses", "node.k8s.io/v1", "RuntimeClass", namespaced=False, status=False, generations=False),
    Resource(
        "priorityclasses", "scheduling.k8s.io/v1", "PriorityClass", namespaced=False, status=False, generations=False
    ),
)

RESOURCES: Final[Mapping[str, Resource]] = MappingProxyType({each.plural: each for each in _ALL})
"""Every kind by its plural, which no two of them share."""

BY_KIND: Final[Mapping[str, Resource]] = MappingProxyType({each.kind: each for each in _ALL})
"""Every kind by its name."""
