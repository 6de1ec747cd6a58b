"""An API server in memory that holds Pods and Workloads, and the set controller over the stores that watch it."""

import json
from datetime import datetime, timedelta
from typing import Any, cast

import msgspec
from modeldeployment.api import kueue, names
from modeldeployment.kube import Client, Conflict, NotFound, WorkQueue, shapes
from modeldeployment.kube.access import Access
from modeldeployment.kube.errors import Details
from modeldeployment.kube.requests import Request
from modeldeployment.reconcile import Joint, Key, SetController, Single, Watched
from sets_worlds import NOW

TEAM = "team"


class Door(Client):
    """The one door of every request: objects by plural and name, and each request that came."""

    def __init__(self, watched: Watched) -> None:
        super().__init__(cast("Access", None))
        self.held: dict[tuple[str, str], dict[str, Any]] = {}
        self.asked: list[str] = []
        self._watched = watched
        self._version = 100

    async def raw(self, request: Request) -> bytes:
        path, _, query = request.target.partition("?")
        parts = path.split("/namespaces/team/")[1].split("/")
        self.asked.append(f"{request.method} {'/'.join(parts)}")
        held = self.held.get((parts[0], parts[1]))
        if held is None:
            raise NotFound(404, "NotFound", "not there", Details())
        if request.method == "PATCH":
            self._patched(held, json.loads(request.body or b""), parts[2:], query)
        return json.dumps(held).encode()

    def put(self, held: dict[str, Any], plural: str = "workloads", *, seen: bool = True) -> None:
        """Hold a version of an object; `seen` says whether the stores have it too."""
        self._version += 1
        held["metadata"] |= {"namespace": TEAM, "resourceVersion": str(self._version)}
        self.held[plural, held["metadata"]["name"]] = held
        raw = json.dumps(held).encode()
        if seen and plural == "pods":
            self._watched.pods.put(msgspec.json.decode(raw, type=shapes.Pod))
        elif seen:
            self._watched.workloads.put(msgspec.json.decode(raw, type=shapes.Workload))

    def _patched(self, held: dict[str, Any], body: dict[str, Any], subresource: list[str], query: str) -> None:
        if body["metadata"]["resourceVersion"] != held["metadata"]["resourceVersion"]:
            raise Conflict(409, "Conflict", "moved on", Details())
        if subresource == ["status"]:
            assert f"fieldManager={kueue.JOINT_CONTROLLER.replace('/', '%2F')}" in query
            assert "force=true" in query
            held["status"]["admissionChecks"] = body["status"]["admissionChecks"]
        else:
            held["spec"] = {**held["spec"], **body["spec"]}
            if not held["spec"]["active"]:  # Kueue takes its quota within 50 ms
                held["status"]["conditions"][0]["status"] = "False"
        self.put(held)


class Rig:
    """A pair named chat and what becomes of it; passes are taken when a test says so."""

    def __init__(self, *roles: str) -> None:
        self.now = NOW
        self.queue: WorkQueue[Joint] = WorkQueue(share=1.0)
        self.watched = Watched(lambda _: None)
        self.door = Door(self.watched)
        self.controller = SetController(self.door, self.watched, self.queue, lambda: self.now)
        check = {"metadata": {"name": kueue.JOINT_CHECK}, "spec": {"controllerName": kueue.JOINT_CONTROLLER}}
        self.watched.queues.checks.put(msgspec.convert(check, shapes.AdmissionCheck))
        queue = {"metadata": {"name": "lq", "namespace": TEAM}, "spec": {"clusterQueue": "cq"}}
        self.watched.queues.local_queues.put(msgspec.convert(queue, shapes.LocalQueue))
        self.controller.begin()
        self.declare("chat", *(roles or ("prefill", "decode")))

    def declare(self, name: str, *roles: str, created: datetime = NOW - timedelta(minutes=5), edition: int = 1) -> None:
        """Declare a deployment with one replica of each role."""
        meta = shapes.ObjectMeta(
            name=name,
            namespace=TEAM,
            uid=f"uid-{name}",
            resource_version=str(edition),
            generation=edition,
            creation_timestamp=created.isoformat(),
        )
        spec = json.dumps({"roles": [{"name": role, "replicas": 1} for role in roles]}).encode()
        self.watched.deployments.put(shapes.Custom(metadata=meta, spec=msgspec.Raw(spec)))

    def compose(self, role: str, name: str = "chat", *, reserved: bool = False, **fields: Any) -> None:
        """Bring one replica's Pod and Workload."""
        self.pod(role, name)
        self.workload(f"{name}-{role}", reserved=reserved, **fields)

    def pod(self, role: str, name: str = "chat", *, seen: bool = True) -> None:
        """Bring the Pod of a replica."""
        owner = {"apiVersion": "worker.gpustack.ai/v1", "kind": "ModelDeployment", "name": name, "controller": True}
        labels = {"kueue.x-k8s.io/pod-group-name": names.group_name(TEAM, name, role, 0)}
        meta = {"name": f"{name}-{role}", "uid": f"pod-{name}-{role}", "labels": labels}
        self.door.put({"metadata": {**meta, "ownerReferences": [{**owner, "uid": f"uid-{name}"}]}}, "pods", seen=seen)

    def workload(
        self,
        name: str,
        *more: str,
        reserved: bool = False,
        since: datetime | None = None,
        active: bool = True,
    ) -> None:
        """Bring a Workload that was composed of the Pod of its own name and of `more`, or let it have its quota."""
        at = (since or self.now).strftime("%Y-%m-%dT%H:%M:%SZ")
        pods = [{"apiVersion": "v1", "kind": "Pod", "name": each, "uid": f"pod-{each}"} for each in (name, *more)]
        quota = {"type": "QuotaReserved", "status": "True" if reserved else "False", "lastTransitionTime": at}
        entry = {"name": kueue.JOINT_CHECK, "state": "Pending", "message": "", "lastTransitionTime": at}
        meta = {"name": name, "uid": f"uid-{name}", "creationTimestamp": at, "ownerReferences": pods}
        status = {"conditions": [quota], "admissionChecks": [entry]}
        self.door.put({"metadata": meta, "spec": {"queueName": "lq", "active": active}, "status": status})

    async def passes(self) -> dict[str, float | None]:
        """Take passes until no key is due; when each wants the next, by key."""
        wanted: dict[str, float | None] = {}
        while self.queue._agenda.next_at() is not None and self._due():
            key = await self.queue.get()
            wanted[str(key)] = await self.controller.reconcile(key)
            self.queue.done(key)
        return wanted

    def _due(self) -> bool:
        at = self.queue._agenda.next_at()
        return at is not None and at <= self.queue._now()

    def says(self, name: str) -> tuple[str, str]:
        """State and first word of our entry on a Workload."""
        [entry] = self.door.held["workloads", name]["status"]["admissionChecks"]
        return entry["state"], str(entry["message"]).partition(" ")[0]

    def active(self, name: str) -> bool:
        return bool(self.door.held["workloads", name]["spec"]["active"])


CHAT = Key(TEAM, "chat")
__all__ = ["CHAT", "TEAM", "Door", "Rig", "Single"]
