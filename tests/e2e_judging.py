"""A real API server with the webhook installed, asked about the rows of the case tables."""

import contextlib
import json
from collections.abc import AsyncIterator, Iterable
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Final

from admission_case import Case
from e2e_webhooks import UNREVIEWED
from modeldeployment.admission.examples import DEPLOYMENT
from modeldeployment.admission.facts import Actor
from modeldeployment.api import keys, managed
from modeldeployment.kube import ApiError, Client, Invalid, Kind, NotFound, Verb, custom, request_for
from modeldeployment.kube.shapes import Custom

JSON = dict[str, Any]

_FINALIZER: Final = "modeldeployment.test/held"
_HOME: Final = str(DEPLOYMENT["metadata"]["namespace"])


def _kind(plural: str, kind: str, *, namespaced: bool = True) -> Kind[Custom]:
    return custom(keys.GROUP, keys.VERSION, plural, kind, namespaced=namespaced)


KINDS: Final = {
    "ModelDeployment": _kind("modeldeployments", "ModelDeployment"),
    "ModelDeploymentScaler": _kind("modeldeploymentscalers", "ModelDeploymentScaler"),
    "KVCachePoolBinding": _kind("kvcachepoolbindings", "KVCachePoolBinding"),
    "InstanceType": _kind("instancetypes", "InstanceType", namespaced=False),
    "KVCachePool": _kind("kvcachepools", "KVCachePool", namespaced=False),
    "KVCacheBackend": _kind("kvcachebackends", "KVCacheBackend", namespaced=False),
}


class ImpossibleWorld(Exception):
    """The API server does not store what a case stands on: the cluster, or the object before its edit."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the API server said; `causes` are the fields and sentences of a refusal."""

    allowed: bool
    code: int = 0
    message: str = ""
    causes: tuple[tuple[str, str], ...] = ()

    @property
    def reviewed(self) -> bool:
        """Whether it was our webhook that refused, and not the schema."""
        return "denied the request" in self.message


@dataclass(slots=True)
class Judge:
    """Keeps the cluster a case stands in, and submits its object as a dry run, as a user or as the operator."""

    users: Client
    operators: Client
    namespace: str
    _cluster: dict[tuple[str, str], JSON] = field(default_factory=dict)
    _uids: dict[str, str] = field(default_factory=dict)
    """The UID the API server gave, by the one the example has."""

    async def answer(self, case: Case) -> Answer:
        """Submit the case's object; the cluster is what the case says it is, and stays so for the next one."""
        submitted, replaced = case.example.objects()
        kind = KINDS[submitted["kind"]]
        apart_from = (submitted["kind"], submitted["metadata"].get("name", ""))
        await self._furnish(case.example.cluster(), apart_from)
        new, old = self._moved(submitted), self._moved(replaced) if replaced else None
        client = self.operators if case.actor is Actor.OPERATOR else self.users
        leaving = new["metadata"].pop("deletionTimestamp", None) is not None
        if old is None and not leaving:
            return await self._submit(client, Verb.CREATE, kind, new)
        async with self._stored(kind, old or new, leaving=leaving) as version:
            finalizers = [_FINALIZER] if leaving else new["metadata"].get("finalizers", [])
            new["metadata"] |= {"resourceVersion": version, "finalizers": finalizers}
            return await self._submit(client, Verb.REPLACE, kind, new)

    async def clear(self) -> None:
        """Take away everything the cases stood on."""
        await self._furnish((), apart_from=("", ""))

    def _placed(self, body: JSON) -> JSON:
        """The object in the test's namespace."""
        placed = deepcopy(body)
        if placed["metadata"].get("namespace") == _HOME:
            placed["metadata"]["namespace"] = self.namespace
        return placed

    def _moved(self, body: JSON) -> JSON:
        """The object in the test's namespace, with the UIDs the API server gave to what it names."""
        text = json.dumps(body)
        for example, given in self._uids.items():
            text = text.replace(example, given)
        moved: JSON = json.loads(text)
        return self._placed(moved)

    async def _furnish(self, wanted: Iterable[JSON], apart_from: tuple[str, str]) -> None:
        """Make the cluster hold exactly these objects, the submitted one excepted."""
        goal = {(each["kind"], each["metadata"]["name"]): self._placed(each) for each in wanted}
        goal.pop(apart_from, None)
        for key in [key for key, body in self._cluster.items() if goal.get(key) != body]:
            await self._remove(KINDS[key[0]], key[1])
            del self._cluster[key]
        for key, body in goal.items():
            if key not in self._cluster:
                await self._make(KINDS[key[0]], body)
                self._cluster[key] = body

    async def _make(self, kind: Kind[Custom], body: JSON) -> str:
        """Store an object that the webhook passes over; its status too, where it has one."""
        marked = deepcopy(body)
        marked["metadata"]["labels"] = {**body["metadata"].get("labels", {}), UNREVIEWED: "true"}
        where = self.namespace if kind.namespaced else None
        try:
            made = await self.users.create(kind, marked, where)
        except Invalid as refused:
            raise ImpossibleWorld(refused.message) from refused
        if example := body["metadata"].get("uid"):
            self._uids[example] = made.metadata.uid
        if "status" in body:
            name = body["metadata"]["name"]
            await self.users.patch(kind, name, {"status": body["status"]}, where, subresource="status")
        return made.metadata.resource_version

    async def _remove(self, kind: Kind[Custom], name: str) -> None:
        where = self.namespace if kind.namespaced else None
        with contextlib.suppress(NotFound):
            await self.users.delete(kind, name, where)

    @contextlib.asynccontextmanager
    async def _stored(self, kind: Kind[Custom], body: JSON, *, leaving: bool) -> AsyncIterator[str]:
        """The stored object of an update, on its way out where the case says so; gives its version."""
        name = body["metadata"]["name"]
        held = deepcopy(body)
        held["metadata"].pop("deletionTimestamp", None)
        if leaving:
            held["metadata"]["finalizers"] = [_FINALIZER]
        version = await self._make(kind, held)
        try:
            if leaving:
                await self.users.delete(kind, name, self.namespace)
                version = (await self.users.get(kind, name, self.namespace)).metadata.resource_version
            yield version
        finally:
            if held["metadata"].get("finalizers"):
                loose = {"metadata": {"finalizers": [], "labels": {UNREVIEWED: "true"}}}
                await self.users.patch(kind, name, loose, self.namespace)
            await self._remove(kind, name)

    async def _submit(self, client: Client, verb: Verb, kind: Kind[Custom], body: JSON) -> Answer:
        # Who writes is told with the request: what the object says of it is the API server's to write.
        told = body["metadata"].pop("managedFields", ())
        managers = managed.writers(told, [role["name"] for role in body["spec"].get("roles", ())]) if told else ()
        request = request_for(
            verb,
            kind,
            self.namespace,
            body["metadata"]["name"] if verb is Verb.REPLACE else "",
            body=body,
            query={"dryRun": "All", **({"fieldManager": managers[0]} if managers else {})},
        )
        try:
            await client.raw(request)
        except ApiError as error:
            causes = tuple((each.field, each.message) for each in error.details.causes)
            return Answer(False, error.status, error.message, causes)
        return Answer(True)
