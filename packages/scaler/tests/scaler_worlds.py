"""Objects as the API server holds them, with settled defaults: `chat` in `team`, one role `server` of two replicas."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from modeldeployment.api import keys
from modeldeployment.kube import shapes
from modeldeployment.scaler.watching import Shared, Watched

NAMESPACE = "team"


def _meta(name: str, uid: str, version: int, **more: Any) -> dict[str, Any]:
    return {"name": name, "namespace": NAMESPACE, "uid": uid, "resourceVersion": str(version), **more}


def custom(body: Mapping[str, Any]) -> shapes.Custom:
    """Read a custom resource as the client does."""
    return msgspec.json.decode(json.dumps(body), type=shapes.Custom)


def deployment(
    roles: Mapping[str, int] | None = None,
    *,
    kinds: Mapping[str, str] | None = None,
    uid: str = "uid-t",
    version: int = 10,
    generation: int = 1,
    annotations: Mapping[str, str] | None = None,
    retirement: Mapping[str, Any] | None = None,
    leaving: bool = False,
    engine: str = "vLLM",
) -> shapes.Custom:
    """A deployment whose roles have so many replicas each."""
    meta = _meta("chat", uid, version, generation=generation, annotations=dict(annotations or {}))
    if leaving:
        meta["deletionTimestamp"] = "2030-01-01T00:00:00Z"
    spec = {
        "engine": {"name": engine},
        "roles": [
            {"name": name, "kind": (kinds or {}).get(name, "Server"), "replicas": count, "instanceType": "a10"}
            for name, count in (roles or {"server": 2}).items()
        ],
    }
    status = {"retirement": dict(retirement)} if retirement is not None else {}
    return custom({"metadata": meta, "spec": spec, "status": status})


def pod(
    role: str = "server",
    ordinal: int | str = 0,
    *,
    index: int | None = None,
    ready: bool = True,
    leaving: bool = False,
    owner: str = "uid-t",
    address: str = "127.0.0.1",
    uid: str = "",
    version: int = 10,
) -> shapes.Pod:
    """A member of a replica, scraped at port 8000 of its address."""
    name = f"chat-{role}-{ordinal}" + ("" if index is None else f"-{index}")
    labels = {keys.NAME: keys.NAME_VALUE, keys.COMPONENT: role, keys.ORDINAL: str(ordinal)}
    if index is not None:
        labels[keys.MEMBER_INDEX] = str(index)
    meta = _meta(name, uid or f"uid-{name}", version, labels=labels)
    meta["ownerReferences"] = [{"kind": "ModelDeployment", "name": "chat", "uid": owner, "controller": True}]
    meta["annotations"] = {
        keys.SCRAPE: "true",
        keys.SCRAPE_SCHEME: "http",
        keys.SCRAPE_PATH: "/metrics",
        keys.SCRAPE_PORT: "8000",
    }
    if leaving:
        meta["deletionTimestamp"] = "2030-01-01T00:00:00Z"
    status = {
        "podIP": address,
        "phase": "Running",
        "conditions": [{"type": "Ready", "status": "True" if ready else "False"}],
        "containerStatuses": [{"name": "engine", "ready": ready, "restartCount": 0, "containerID": f"run://{name}"}],
    }
    return msgspec.json.decode(json.dumps({"metadata": meta, "status": status}), type=shapes.Pod)


def workload(*members: str, admitted: bool = True, name: str = "", version: int = 10) -> shapes.Workload:
    """The Workload of these Pods, by UID."""
    name = name or f"workload-{'-'.join(members)}"
    meta = _meta(name, f"uid-{name}", version)
    meta["ownerReferences"] = [{"kind": "Pod", "apiVersion": "v1", "name": each, "uid": each} for each in members]
    conditions = [{"type": "Admitted", "status": "True"}] if admitted else []
    return msgspec.json.decode(
        json.dumps({"metadata": meta, "status": {"conditions": conditions}}), type=shapes.Workload
    )


def scaler(
    name: str = "chat",
    *,
    uid: str = "uid-s",
    version: int = 10,
    generation: int = 1,
    target: str = "chat",
    mode: str = "Active",
    suspend: bool = False,
    status: Mapping[str, Any] | None = None,
    finalizers: Iterable[str] = (),
    leaving: bool = False,
    spec: Mapping[str, Any] | None = None,
) -> shapes.Custom:
    """A scaler of one role by queue depth."""
    meta = _meta(name, uid, version, generation=generation, finalizers=list(finalizers))
    if leaving:
        meta["deletionTimestamp"] = "2030-01-01T00:00:00Z"
    declared = {
        "targetRef": {"name": target},
        "mode": mode,
        "suspend": suspend,
        "roles": [{"name": "server", "minReplicas": 1, "maxReplicas": 8}],
        "algorithm": {
            "type": "Proportional",
            "proportional": {"metric": "QueueDepth", "roleTargets": [{"name": "server", "target": "8"}]},
        },
        **(spec or {}),
    }
    return custom({"metadata": meta, "spec": declared, "status": dict(status or {})})


def shared() -> Shared:
    """Stores that somebody else keeps current."""
    return _Standing().shared()


class _Standing(Watched):
    """The stores of a process that only scales, without a network."""

    def __init__(self) -> None:
        super().__init__(lambda _: None)

    def shared(self) -> Shared:
        """What of it may be shared."""
        return Shared(self.deployments, self.pods, self.workloads)
