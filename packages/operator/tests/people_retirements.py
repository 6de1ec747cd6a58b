"""Clusters in which a replica is leaving, is kept, or could leave."""

from typing import Any

from modeldeployment.admission.examples import changed
from modeldeployment.api import keys
from people_clusters import ALONE, JSON, NAMESPACE, Cluster, installed, replica, roles

ADMITTED = "2030-01-01T12:00:00Z"
DRAINS = "2030-01-01T12:00:07Z"
SPENT = "2030-01-01T12:04:07Z"
DEADLINE = "2030-01-01T12:05:00Z"
KEPT = "drain took all of its time: Pod chat has 2 requests; retained: 1 member, its Workload and their capacity"


def shrunk(there: int = 4, declared: int = 2, body: JSON = ALONE) -> Cluster:
    """A deployment of so many replicas that declares fewer; all of them serve."""
    wanted = changed(body, {"spec.roles[0].replicas": declared})
    cluster = installed(wanted, cards=there, used=there)
    rendered, *_ = roles(wanted)
    for ordinal in range(there):
        replica(cluster, rendered, ordinal)
        cluster.held["pods"][-1]["status"]["podIP"] = f"10.0.0.{ordinal}"
    return cluster


def uid(cluster: Cluster, ordinal: int) -> str:
    """The UID of the Pod of one replica."""
    found = (each["metadata"] for each in cluster.held["pods"] if each["metadata"]["name"].endswith(str(ordinal)))
    return str(next(found)["uid"])


def retirement(cluster: Cluster, state: str = "Draining", ordinal: int = 3, **fields: Any) -> JSON:
    """Store the retirement of `server/3` in this state; gives the stored body."""
    body = {
        "roleName": "server",
        "replicaOrdinal": ordinal,
        "observedGeneration": 1,
        "targetMemberUIDs": [uid(cluster, ordinal)] if ordinal >= 0 else [],
        "targetWorkloadUID": "uid-w",
        "state": state,
        "reason": KEPT if state == "Aborted" else "waiting until it runs empty: Pod chat has 2 requests",
        "startedAt": ADMITTED,
        "deadline": SPENT if state == "Aborted" else DEADLINE,
        "phaseStartedAt": DRAINS,
        **fields,
    }
    stored = cluster.held["modeldeployments"][0]
    stored["status"] = {**stored["status"], "retirement": body}
    return body


def router_pod(cluster: Cluster, name: str, router: str, image: str, **fields: Any) -> None:
    """Bring one Pod of the deployment's router."""
    owner = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "name": "qwen-72b-router-7d9",
        "uid": "u",
        "controller": True,
    }
    labels = {
        keys.NAME: keys.NAME_VALUE,
        keys.INSTANCE: "qwen-72b",
        keys.ROUTER: router,
    }
    meta = {"name": name, "namespace": NAMESPACE, "labels": labels, "ownerReferences": [owner]}
    status = {"phase": "Running", "podIP": "10.0.9.1", **fields}
    cluster.put("pods", {"metadata": meta, "spec": {"containers": [{"name": "router", "image": image}]}}, **status)
