"""The Kueue objects behind a pool: Topology, ResourceFlavors, ClusterQueue and LocalQueues."""

from typing import Any

from modeldeployment.api import kueue
from modeldeployment.api.keys import ENTRANCE_QUEUE
from modeldeployment.api.quantity import Quantity
from modeldeployment.lab.controlplane.quota import credits_resource
from modeldeployment.lab.fleets import keys
from modeldeployment.lab.fleets.fleet import Fleet

from .names import flavor_name, local_queue_name, topology_name
from .pools import Pool


def topology() -> dict[str, Any]:
    """Return the Topology of the lab's nodes, shared by all pools."""
    levels = [{"nodeLabel": level} for level in keys.LEVELS]
    return _object("Topology", topology_name(), {}, {"levels": levels})


def resource_flavors(pool: Pool) -> tuple[dict[str, Any], ...]:
    """Return one ResourceFlavor for each shape of node in the pool, in the order of the shapes' names."""
    return tuple(
        _object(
            "ResourceFlavor",
            flavor_name(fleets[0]),
            {keys.TYPE: pool.name},
            {"nodeLabels": {keys.TYPE: pool.name, keys.SHAPE: shape}, "topologyName": topology_name()},
        )
        for shape, fleets in pool.shapes().items()
    )


def cluster_queue(pool: Pool, admission_checks: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the pool's ClusterQueue, named like its InstanceType and without a cohort.

    An accelerated queue covers only the maker's credits, one without accelerators only processors; what a queue
    does not cover is not charged (the lab's `controlplane.quota`, decisions D28).
    """
    resource = credits_resource(pool.kind.maker) if pool.kind.accelerated else "cpu"
    flavors = [
        {
            "name": flavor_name(fleets[0]),
            "resources": [{"name": resource, "nominalQuota": _canonical(sum(map(_quota, fleets)))}],
        }
        for fleets in pool.shapes().values()
    ]
    spec: dict[str, Any] = {
        "namespaceSelector": {},
        "queueingStrategy": "BestEffortFIFO",
        "resourceGroups": [{"coveredResources": [resource], "flavors": flavors}],
    }
    if admission_checks:
        spec["admissionChecksStrategy"] = {"admissionChecks": [{"name": check} for check in admission_checks]}
    return _object("ClusterQueue", pool.name, {keys.TYPE: pool.name}, spec)


def local_queue_manifest(namespace: str, cluster_queue_name: str) -> dict[str, Any]:
    """Return the LocalQueue through which a namespace enters a ClusterQueue."""
    manifest = _object(
        "LocalQueue",
        local_queue_name(cluster_queue_name),
        {keys.TYPE: cluster_queue_name},
        {"clusterQueue": cluster_queue_name},
    )
    manifest["metadata"] |= {"namespace": namespace, "annotations": {ENTRANCE_QUEUE: cluster_queue_name}}
    return manifest


def _quota(fleet: Fleet) -> int:
    return fleet.nodes * fleet.cards * kueue.CREDITS_PER_CARD if fleet.accelerated else fleet.nodes * fleet.cpu


def _canonical(amount: int) -> str:
    # Kueue's webhook writes quantities back in Kubernetes' spelling; any other one would differ at every apply.
    return str(Quantity.whole(amount))


def _object(kind: str, name: str, labels: dict[str, str], spec: dict[str, Any]) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": name}
    if labels:
        metadata["labels"] = labels
    return {"apiVersion": kueue.API_VERSION, "kind": kind, "metadata": metadata, "spec": spec}
