"""A cluster to look at: a local HTTP server over objects in memory, and a kubeconfig that leads to it.

The one thing that can be written is an annotation, and what an operator makes of it is the test's to say.
"""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import yaml
from modeldeployment.admission.examples import CLUSTER, changed
from modeldeployment.api import kueue
from modeldeployment.render import RoleRendering, Seat
from people_renderings import PLAIN, expected

JSON = dict[str, Any]
NAMESPACE: Final = "team-a"
CREDIT: Final = "credits.gpustack.ai/nvidia"
LOOKED_AT: Final = {
    "phase": "Starting",
    "conditions": [{"type": "Rendered", "status": "True", "observedGeneration": 1}],
}


@dataclass(slots=True)
class Cluster:
    """Objects by plural; `shut` are the plurals that may not be read, `asked` every request that came.

    `patched` are the bodies of all patches, and `heeds` is what happens to the deployment after each.
    """

    held: dict[str, list[JSON]] = field(default_factory=dict)
    shut: set[str] = field(default_factory=set)
    asked: list[str] = field(default_factory=list)
    patched: list[JSON] = field(default_factory=list)
    heeds: Callable[[JSON], None] = field(default=lambda _: None)

    def put(self, plural: str, body: Mapping[str, Any], **status: Any) -> JSON:
        """Hold an object with a UID and a version of its own."""
        count = sum(len(each) for each in self.held.values()) + 1
        meta = {"uid": f"uid-{count}", "resourceVersion": str(count), **body["metadata"]}
        whole = {**body, "metadata": meta} | ({"status": status} if status else {})
        self.held.setdefault(plural, []).append(whole)
        return whole

    def answer(self, target: str) -> tuple[int, JSON]:
        """The answer to one GET."""
        path, query = urlsplit(target).path, parse_qs(urlsplit(target).query)
        self.asked.append(path)
        if path == "/version":
            return 200, {"major": "1", "minor": "36"}
        steps = path.strip("/").split("/")[2 if path.startswith("/api/") else 3 :]
        namespace = steps[1] if steps[0] == "namespaces" and len(steps) > 2 else ""
        plural, *name = steps[2:] if namespace else steps
        if plural in self.shut:
            return 403, _refusal(403, "Forbidden")
        there = [each for each in self.held.get(plural, []) if each["metadata"].get("namespace", "") == namespace]
        if name:
            found = next((each for each in there if each["metadata"]["name"] == name[0]), None)
            return (404, _refusal(404, "NotFound")) if found is None else (200, found)
        wanted = [each for each in there if _selected(each, query.get("labelSelector", [""])[0])]
        return 200, {"metadata": {"resourceVersion": "1000"}, "items": wanted}

    def patch(self, target: str, body: JSON) -> tuple[int, JSON]:
        """The answer to a patch of annotations."""
        code, found = self.answer(target)
        if code == 200:
            self.patched.append(body)
            found["metadata"].setdefault("annotations", {}).update(body["metadata"]["annotations"])
            self.heeds(found)
        return code, found


def _selected(body: JSON, selector: str) -> bool:
    labels = body["metadata"].get("labels", {})
    terms = [each.partition("=") for each in selector.split(",") if each]
    return all(labels.get(key) == value if equals else key in labels for key, equals, value in terms)


def _refusal(code: int, reason: str) -> JSON:
    return {"kind": "Status", "code": code, "reason": reason, "message": reason}


@contextmanager
def served(cluster: Cluster, folder: Path) -> Iterator[Path]:
    """Serve a cluster; gives the kubeconfig."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.reply(*cluster.answer(self.path))

        def do_PATCH(self) -> None:
            sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self.reply(*cluster.patch(self.path, sent))

        def reply(self, code: int, body: JSON) -> None:
            raw = json.dumps(body).encode()
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, *_: object) -> None:
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield _kubeconfig(folder / "kubeconfig", server.server_port)
        finally:
            server.shutdown()
            thread.join()


def _kubeconfig(path: Path, port: int) -> Path:
    body = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "here",
        "contexts": [{"name": "here", "context": {"cluster": "here", "user": "me"}}],
        "clusters": [{"name": "here", "cluster": {"server": f"http://127.0.0.1:{port}"}}],
        "users": [{"name": "me", "user": {"token": "a"}}],
    }
    path.write_text(yaml.safe_dump(body), encoding="utf-8")
    return path


def installed(body: JSON, *, cards: int = 8, used: int = 0, checked: bool = True) -> Cluster:
    """A cluster with a deployment, its InstanceTypes, and one queue of so many cards behind all of them."""
    cluster = Cluster()
    for each in CLUSTER:
        if each["kind"] == "InstanceType":
            cluster.put("instancetypes", each)
    meta = {"uid": "uid-md", "namespace": NAMESPACE, "generation": 1}
    cluster.put("modeldeployments", changed(body, {f"metadata.{key}": value for key, value in meta.items()}))
    cluster.held["modeldeployments"][0]["status"] = LOOKED_AT
    check = {"metadata": {"name": kueue.JOINT_CHECK}, "spec": {"controllerName": kueue.JOINT_CONTROLLER}}
    cluster.put("admissionchecks", check)
    entrance = {"metadata": {"name": "queue-h20-8x", "namespace": NAMESPACE}, "spec": {"clusterQueue": "h20"}}
    cluster.put("localqueues", entrance)
    given = [{"name": CREDIT, "nominalQuota": str(cards * kueue.CREDITS_PER_CARD)}]
    spec: JSON = {"resourceGroups": [{"coveredResources": [CREDIT], "flavors": [{"name": "h20", "resources": given}]}]}
    if checked:
        spec["admissionChecksStrategy"] = {"admissionChecks": [{"name": kueue.JOINT_CHECK}]}
    taken = [{"name": CREDIT, "total": str(used * kueue.CREDITS_PER_CARD)}]
    active = [{"type": "Active", "status": "True", "reason": "Ready"}]
    usage = [{"name": "h20", "resources": taken}]
    cluster.put(
        "clusterqueues", {"metadata": {"name": "h20"}, "spec": spec}, conditions=active, flavorsReservation=usage
    )
    return cluster


def roles(body: JSON) -> tuple[RoleRendering, ...]:
    """The roles of a deployment as the controller renders them."""
    whole = changed(body, {"metadata.uid": "uid-md", "metadata.namespace": NAMESPACE})
    return expected(whole).roles


def replica(cluster: Cluster, role: RoleRendering, ordinal: int, *, said: str = "", **pod: Any) -> None:
    """Bring the Pod of one replica and its Workload: ready and admitted, or waiting for quota with Kueue's sentence."""
    body = json.loads(role.template.body(Seat(ordinal, 0)))
    name = f"{body['metadata'].pop('generateName', role.name)}{ordinal}"
    meta = {"name": name, "namespace": NAMESPACE, **body["metadata"]}
    ready = not said and not pod
    conditions = [{"type": "Ready", "status": "True" if ready else "False"}, *pod.pop("conditions", ())]
    spec = {**body["spec"], "schedulingGates": [{"name": kueue.ADMISSION_GATE}] if said else [], "nodeName": "n1"}
    whole = cluster.put(
        "pods",
        {"metadata": meta, "spec": {**spec, **({"nodeName": ""} if said else {})}},
        **{"phase": "Pending" if said else "Running", "conditions": conditions, **pod},
    )
    owner = {"apiVersion": "v1", "kind": "Pod", "name": name, "uid": whole["metadata"]["uid"]}
    group = {
        "name": meta["labels"]["kueue.x-k8s.io/pod-group-name"],
        "namespace": NAMESPACE,
        "ownerReferences": [owner],
    }
    quota = {"type": "QuotaReserved", "status": "False" if said else "True", "message": said}
    status: JSON = {"conditions": [quota, *([] if said else [{"type": "Admitted", "status": "True"}])]}
    if not said:
        sets = [{"name": role.name, "flavors": {CREDIT: "h20"}}]
        status["admission"] = {"clusterQueue": "h20", "podSetAssignments": sets}
    cluster.put("workloads", {"metadata": group, "spec": {"queueName": "queue-h20-8x"}}, **status)


ALONE: Final = changed(next(each for each in CLUSTER if each["metadata"]["name"] == "qwen-72b"), PLAIN)
"""The deployment of the examples with an image and without a cache: four replicas of one card."""
