"""The Nodes of a fleet as manifests."""

from collections.abc import Iterator
from typing import Any

from modeldeployment.api.keys import HOSTNAME
from modeldeployment.render.makers import MAKERS

from . import keys
from .fleet import Fleet, encode


def node_names(fleet: Fleet) -> tuple[str, ...]:
    """Return the names of a fleet's nodes in order; the same fleet always has the same names."""
    return tuple(f"{fleet.name}-{index:04d}" for index in range(fleet.nodes))


def node_manifests(fleet: Fleet) -> Iterator[dict[str, Any]]:
    """Yield one Node for each of the fleet's nodes, status included (facts kwok §5)."""
    annotations = {keys.FAKE_NODE: keys.FAKE_NODE_VALUE, keys.FLEET_SHAPE: encode(fleet)}
    resources = node_resources(fleet)
    for index, name in enumerate(node_names(fleet)):
        yield {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": node_labels(fleet, index), "annotations": annotations},
            "status": {"capacity": resources, "allocatable": resources},
        }


def node_labels(fleet: Fleet, index: int) -> dict[str, str]:
    """Return the labels of the node at `index`: its flavor, its topology domains and the fleet's own labels."""
    rack = index // fleet.nodes_per_rack
    return {
        **dict(fleet.labels),
        keys.FLEET: fleet.name,
        keys.TYPE: fleet.instance_type,
        keys.SHAPE: fleet.shape,
        keys.OS: fleet.os,
        keys.ARCH: fleet.arch,
        keys.REGION: fleet.region,
        keys.ZONE: fleet.zones[rack % len(fleet.zones)],
        keys.RACK: f"{fleet.name}-r{rack:03d}",
        HOSTNAME: f"{fleet.name}-{index:04d}",
    }


def node_resources(fleet: Fleet) -> dict[str, str]:
    """Return what one node offers, as quantities.

    Cards are offered under the key a Pod requests; credits are Kueue's own arithmetic and never a node's
    (Kueue 0.18 places by the Pod's requests, not by the transformed ones).
    """
    resources = {
        "cpu": str(fleet.cpu),
        "memory": f"{fleet.memory_gib}Gi",
        "ephemeral-storage": "4Ti",
        "pods": str(fleet.pods),
    }
    if fleet.accelerated:
        resources |= _cards(fleet)
    if fleet.rdma:
        resources[keys.RDMA] = str(fleet.rdma)
        resources[keys.RDMA_SHARED] = str(fleet.rdma * keys.RDMA_TOKENS)
    if fleet.efa:
        resources[keys.EFA] = str(fleet.efa)
    return resources


def _cards(fleet: Fleet) -> dict[str, str]:
    # Whole cards, slices and partitions are offered side by side, as if none were taken yet; a real device plugin
    # takes one from another as they are handed out. Kueue's quota is what keeps their sum in bounds.
    maker = MAKERS[fleet.maker]
    offered = {maker.resource: fleet.cards}
    if fleet.slices:
        offered[f"{maker.resource}.sliced"] = fleet.cards * fleet.slices
        offered[f"{maker.resource}.sliced.memory-percentage"] = fleet.cards * 100
        offered[f"{maker.resource}.sliced.cores-percentage"] = fleet.cards * 100
    if fleet.partitions:
        offered[f"{maker.resource}.partitioned"] = fleet.cards * sum(each.count for each in fleet.partitions)
    for each in fleet.partitions:
        offered[f"{maker.resource}.partitioned.{maker.partition}-{each.profile}"] = fleet.cards * each.count
    return {key: str(count) for key, count in offered.items()}
