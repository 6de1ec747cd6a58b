"""What an administrator puts into the world: fleets of nodes with their queues, as the lab puts them on a cluster."""

from collections.abc import Iterable
from typing import Any

from modeldeployment.lab.flavors.instance_types import instance_type, instance_type_status
from modeldeployment.lab.flavors.pools import pool_of
from modeldeployment.lab.flavors.queues import cluster_queue, local_queue_manifest, resource_flavors, topology
from modeldeployment.lab.fleets.fleet import Fleet
from modeldeployment.lab.fleets.nodes import node_manifests
from modeldeployment.lab.model.resources import BY_KIND, JSON
from modeldeployment.lab.model.server import Server

ADMIN = "admin"


def put_fleets(server: Server, fleets: Iterable[Fleet], namespace: str, checks: tuple[str, ...]) -> str:
    """Put the fleets of one InstanceType there, ready, with queues for one namespace; the InstanceType's name."""
    pool = pool_of(fleets)
    for fleet in pool.fleets:
        for manifest in node_manifests(fleet):
            if server.find("nodes", manifest["metadata"]["name"]) is None:
                put(server, {**manifest, "status": {**manifest["status"], "conditions": [_ready(server)]}})
    put(server, topology())
    for flavor in resource_flavors(pool):
        put(server, flavor)
    put(server, cluster_queue(pool, checks))
    put(server, local_queue_manifest(namespace, pool.name))
    put(server, instance_type(pool))
    server.apply("instancetypes", pool.name, "", instance_type_status(pool), by=ADMIN, subresource="status")
    return pool.name


def put(server: Server, manifest: JSON) -> JSON:
    """Apply one object as the administrator."""
    meta: dict[str, Any] = manifest["metadata"]
    of = BY_KIND[manifest["kind"]]
    return server.apply(of.plural, meta["name"], meta.get("namespace", ""), manifest, by=ADMIN)


def _ready(server: Server) -> JSON:
    return {"type": "Ready", "status": "True", "reason": "KubeletReady", "lastTransitionTime": server.clock.stamp()}
