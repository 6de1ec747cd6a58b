"""The controller's rim without a network: a client that answers by a script and remembers what was sent."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import msgspec
from modeldeployment.kube import Client, Recorder, shapes
from modeldeployment.kube.access import Access, Credential
from modeldeployment.kube.errors import ApiError, Details
from modeldeployment.kube.requests import Request
from modeldeployment.reconcile import DeploymentController, Key, OwnedKind, Watched
from modeldeployment.reconcile.deciding.seen import Views
from modeldeployment.reconcile.kinds import Document
from modeldeployment.reconcile.retiring.evidence import Evidence, Inquiry
from modeldeployment.render import Policy
from reconcile_stored import CHAT, VERSIONS, stored
from reconcile_worlds import NOW, patched


class Scripted(Client):
    """Answers a write with what was sent and a newer version, and a list with nothing; `refuse` may raise instead.

    `held` is the deployment that a write of its status is merged into.
    """

    def __init__(self) -> None:
        super().__init__(Access(lambda: Credential("http://fake.invalid")))
        self.sent: list[Request] = []
        self.refuse: Callable[[Request], ApiError | None] = lambda _: None
        self.held: dict[str, Any] = {}

    async def raw(self, request: Request) -> bytes:
        """Answer one request."""
        self.sent.append(request)
        refusal = self.refuse(request)
        if refusal is not None:
            raise refusal
        if request.method == "GET":
            answer: dict[str, Any] = {"major": "1", "minor": "34", "metadata": {"resourceVersion": "1"}, "items": []}
            return msgspec.json.encode(answer)
        body = msgspec.json.decode(request.body or b"{}")
        if request.target.partition("?")[0].endswith("/modeldeployments/chat/status"):
            status = patched(self.held["status"], body["status"])
            body = self.held = {
                **self.held,
                "metadata": {**self.held["metadata"], **body["metadata"]},
                "status": status,
            }
        meta = body.get("metadata", {})
        labels = {label: value for label, value in meta.get("labels", {}).items() if value is not None}
        body["metadata"] = {**meta, "labels": labels, "resourceVersion": str(next(VERSIONS))}
        return msgspec.json.encode(body)

    def writes(self) -> list[str]:
        """Method and path of each write so far."""
        return [f"{each.method} {each.target.partition('?')[0]}" for each in self.sent if each.method != "GET"]

    def statuses(self) -> list[dict[str, Any]]:
        """The status patches of the deployment so far."""
        return [
            msgspec.json.decode(each.body or b"{}")["status"]
            for each in self.sent
            if each.target.partition("?")[0].endswith("/modeldeployments/chat/status")
        ]


def refusal(kind: type[ApiError], status: int) -> ApiError:
    """What an API server answers that refuses."""
    return kind(status, kind.__name__, "as the test wants it", Details())


@dataclass(slots=True)
class Hearsay:
    """A witness that says what a test wants it to; `asked` is what it was asked, in order."""

    said: Evidence | None = None
    viewed: Views | None = None
    asked: list[Inquiry | None] = field(default_factory=list)

    def evidence(self, key: Key, /) -> Evidence | None:
        """Answer what the test says."""
        return self.said if key == CHAT else None

    def inquire(self, key: Key, inquiry: Inquiry | None, /) -> None:
        """Note what is asked."""
        assert key == CHAT
        self.asked.append(inquiry)

    def views(self, key: Key, /) -> Views | None:
        """Answer what routers send requests to, as the test says."""
        return self.viewed if key == CHAT else None


@dataclass(slots=True)
class Rim:
    """A controller over stores that a test fills; `now` is its clock."""

    client: Scripted = field(default_factory=Scripted)
    now: datetime = NOW
    watched: Watched = field(default_factory=lambda: Watched(lambda _: None))
    status: dict[str, object] = field(default_factory=dict)
    busy: bool = False
    witness: Hearsay = field(default_factory=Hearsay)
    controller: DeploymentController = field(init=False)
    spec: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        recorder = Recorder(self.client, "test", "test")
        self.controller = DeploymentController(
            self.client, self.watched, recorder, Policy(), lambda: self.now, self.witness, busy=lambda: self.busy
        )
        a10 = {"os": "linux", "arch": "amd64", "acceleratable": True, "acceleratorGroup": "nvidia-a10g"}
        told = {"entrance": "entrance-a10", "detail": {"manufacturer": "nvidia"}}
        self.watched.types.put(stored("a10", a10, told))

    def store(self, finalizers: tuple[str, ...] = (), *, version: str = "", **spec: Any) -> None:
        """Store the deployment `chat` with the status that was written last, at a version or the next one."""
        self.spec = self.spec | spec
        wanted = {
            "model": {"name": "qwen"},
            "engine": {"name": "vLLM", "image": "e:1"},
            "roles": [{"name": "server", "replicas": 2, "instanceType": "a10"}],
            **self.spec,
        }
        made = stored("chat", wanted, self.status, namespace="team", uid="uid-chat")
        version = version or made.metadata.resource_version
        meta = msgspec.structs.replace(made.metadata, finalizers=finalizers, generation=1, resource_version=version)
        held = msgspec.structs.replace(made, metadata=meta)
        self.watched.deployments.put(held)
        self.client.held = msgspec.json.decode(msgspec.json.encode(held))

    async def run(self, *, later: timedelta = timedelta()) -> float | None:
        """Take a pass, after a while; a status and Services that were written are in the stores afterwards."""
        self.now += later
        before, sent = len(self.client.statuses()), len(self.client.sent)
        seconds = await self.controller.reconcile(CHAT)
        written = self.client.statuses()[before:]
        for each in written:
            self.status = patched(self.status, each)
        held = self.watched.deployments.get("team", "chat")
        if written and held is not None:
            self.store(held.metadata.finalizers, version=self.client.held["metadata"]["resourceVersion"])
        for request in self.client.sent[sent:]:
            if request.method == "POST" and request.target.partition("?")[0].endswith("/services"):
                made = msgspec.json.decode(request.body or b"", type=Document)
                version = str(next(VERSIONS))
                meta = msgspec.structs.replace(made.metadata, uid=made.metadata.name, resource_version=version)
                self.watched.owned[OwnedKind.SERVICE].put(msgspec.structs.replace(made, metadata=meta))
        return seconds


def pod(body: dict[str, Any], *, ready: bool) -> shapes.Pod:
    """A Pod as the store has it."""
    made = msgspec.json.decode(msgspec.json.encode(body), type=shapes.Pod)
    meta = msgspec.structs.replace(made.metadata, resource_version=str(next(VERSIONS)))
    conditions = (shapes.Condition(type="Ready", status="True" if ready else "False"),)
    status = msgspec.structs.replace(made.status, phase="Running", conditions=conditions)
    return msgspec.structs.replace(made, metadata=meta, status=status)
