"""The API server: objects as plain JSON under one counter of versions, and the story of every write.

Objects are never changed in place, so whoever holds one may keep it. Sources: facts control-plane §8, facts kwok §4.
"""

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from modeldeployment.lab.model import answers, patches
from modeldeployment.lab.model.clock import Clock
from modeldeployment.lab.model.resources import JSON, RESOURCES, Resource

_LETTERS: Final = "bcdfghjklmnpqrstvwxz2456789"
"""What the server makes names of (generateName)."""

_KEPT: Final = ("name", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds")
"""Metadata that no write changes."""

_GRACE: Final = 30


@dataclass(frozen=True, slots=True)
class Entry:
    """One write: who did what to which object, as it was before and as it is after.

    `old` is None where the object came and `new` where it went; both are the same object where nothing changed.
    `revision` is the version after the write.
    """

    at: float
    by: str
    verb: str
    plural: str
    namespace: str
    name: str
    subresource: str
    old: JSON | None
    new: JSON | None
    revision: int

    @property
    def changed(self) -> bool:
        """Whether anybody who watches hears of it."""
        return self.old is not self.new

    @property
    def thing(self) -> JSON:
        """The object, as it is or as it was."""
        thing = self.new if self.new is not None else self.old
        assert thing is not None
        return thing

    def __str__(self) -> str:
        what = f"{self.plural}/{self.namespace}/{self.name}" + (f"/{self.subresource}" if self.subresource else "")
        return f"{self.at:8.2f} {self.by} {self.verb} {what}" + ("" if self.changed else " (no change)")


class Server:
    """All objects of the world; every method that writes says `by` whom."""

    def __init__(self, clock: Clock, seed: int = 0) -> None:
        self.clock: Final = clock
        self.revision = 1
        self.story: list[Entry] = []
        self.watchers: list[Callable[[Entry], None]] = []
        self.mutating: list[Callable[[Resource, JSON], JSON]] = []
        """What admission makes of an object that is created, in order; may raise to refuse it."""
        self._objects: dict[str, dict[tuple[str, str], JSON]] = {plural: {} for plural in RESOURCES}
        self._applied: dict[tuple[str, str, str], JSON] = {}
        self._chance = random.Random(seed)
        self._uids = 0

    # --- reading ---

    def find(self, plural: str, name: str, namespace: str = "") -> JSON | None:
        """One object, or None."""
        return self._objects[plural].get((namespace, name))

    def get(self, plural: str, name: str, namespace: str = "") -> JSON:
        """One object. Raises NotFound."""
        found = self.find(plural, name, namespace)
        if found is None:
            raise answers.not_found(RESOURCES[plural], name)
        return found

    def items(self, plural: str, namespace: str = "") -> Iterator[JSON]:
        """All objects of a kind, oldest first; of one namespace or of all."""
        things = self._objects[plural].items()
        return iter([thing for (where, _), thing in things if not namespace or where == namespace])

    # --- writing ---

    def create(self, plural: str, body: Mapping[str, Any], namespace: str = "", *, by: str = "user") -> JSON:
        """Make an object. Raises AlreadyExists, and what admission raises."""
        of = RESOURCES[plural]
        metadata = dict(body.get("metadata") or {})
        namespace = (namespace or metadata.get("namespace", "")) if of.namespaced else ""
        name = metadata.get("name") or self._named(metadata["generateName"])
        if self.find(plural, name, namespace) is not None:
            raise answers.exists(of, name)
        self._uids += 1
        metadata |= {"name": name, "uid": f"{of.kind.lower()}-{self._uids:05}"}
        metadata["creationTimestamp"] = self.clock.stamp()
        if of.namespaced:
            metadata["namespace"] = namespace
        if of.generations:
            metadata["generation"] = 1
        made: JSON = {"apiVersion": of.api_version, "kind": of.kind, **body, "metadata": metadata}
        if of.status and plural != "nodes":
            made.pop("status", None)
        for mutate in self.mutating:
            made = mutate(of, made)
        return self._put(by, "create", of, None, made, "")

    def update(
        self,
        plural: str,
        name: str,
        namespace: str,
        change: Callable[[JSON], JSON],
        *,
        by: str,
        verb: str = "update",
        subresource: str = "",
    ) -> JSON:
        """Change an object by a function of it. Raises NotFound, Conflict, Invalid."""
        of, old = RESOURCES[plural], self.get(plural, name, namespace)
        body = change(old)
        meta, held = body["metadata"], old["metadata"]
        if meta.get("uid", held["uid"]) != held["uid"]:
            raise answers.other_uid(of, name, meta["uid"], held["uid"])
        if meta.get("resourceVersion", held["resourceVersion"]) != held["resourceVersion"]:
            raise answers.modified(of, name)
        new = self._admitted(of, old, body, subresource)
        return self._put(by, verb, of, old, new, subresource)

    def merge(
        self, plural: str, name: str, namespace: str, patch: Mapping[str, Any], *, by: str, subresource: str = ""
    ) -> JSON:
        """Apply a merge patch."""
        return self.update(
            plural,
            name,
            namespace,
            lambda old: patches.merged(old, patch),
            by=by,
            verb="patch",
            subresource=subresource,
        )

    def apply(
        self,
        plural: str,
        name: str,
        namespace: str,
        wanted: Mapping[str, Any],
        *,
        by: str,
        manager: str = "",
        subresource: str = "",
    ) -> JSON:
        """Apply whole fields, remembered by manager; make the object where there is none."""
        manager = manager or by
        if self.find(plural, name, namespace) is None and not subresource:
            made = self.create(plural, wanted, namespace, by=by)
            self._applied[made["metadata"]["uid"], manager, ""] = _fields(wanted)
            return made
        uid = self.get(plural, name, namespace)["metadata"]["uid"]
        before = self._applied.get((uid, manager, subresource), {})
        fields = _fields(wanted)
        said = wanted.get("metadata") or {}
        preconditions = {key: said[key] for key in ("uid", "resourceVersion") if said.get(key)}

        def change(old: JSON) -> JSON:
            new: JSON = patches.applied(old, fields, before)
            return {**new, "metadata": {**new["metadata"], **preconditions}}

        after = self.update(plural, name, namespace, change, by=by, verb="apply", subresource=subresource)
        self._applied[uid, manager, subresource] = fields
        return after

    def delete(
        self,
        plural: str,
        name: str,
        namespace: str = "",
        *,
        by: str = "user",
        uid: str | None = None,
        resource_version: str | None = None,
        grace: int | None = None,
    ) -> JSON | None:
        """Delete an object: what is left of it, or None when it is gone. Raises NotFound, Conflict."""
        of, old = RESOURCES[plural], self.get(plural, name, namespace)
        held = old["metadata"]
        if uid is not None and uid != held["uid"]:
            raise answers.other_uid(of, name, uid, held["uid"])
        if resource_version is not None and resource_version != held["resourceVersion"]:
            raise answers.modified(of, name)
        wait = self._grace(of, old, grace)
        if wait == 0 and not held.get("finalizers"):
            self._put(by, "delete", of, old, None, "")
            return None
        if "deletionTimestamp" in held and wait >= held["deletionGracePeriodSeconds"]:
            self._note(by, "delete", of, old, old, "")
            return old
        metadata = {**held, "deletionTimestamp": self.clock.stamp(wait), "deletionGracePeriodSeconds": wait}
        if of.generations:
            metadata["generation"] = held["generation"] + 1
        return self._put(by, "delete", of, old, {**old, "metadata": metadata}, "")

    # --- keeping ---

    def _grace(self, of: Resource, old: JSON, asked: int | None) -> int:
        """Seconds a Pod gets to end; a Pod on no node, or one that has ended, needs none."""
        if of.plural != "pods" or not old["spec"].get("nodeName"):
            return 0
        if old["status"].get("phase") in ("Failed", "Succeeded"):
            return 0
        return int(old["spec"].get("terminationGracePeriodSeconds", _GRACE)) if asked is None else asked

    def _admitted(self, of: Resource, old: JSON, body: JSON, subresource: str) -> JSON:
        """What a write makes of an object: the parts that it may not change are as they were."""
        held = old["metadata"]
        if subresource == "status":
            return {**old, "status": body["status"]} if "status" in body else {k: old[k] for k in old if k != "status"}
        metadata = {**body["metadata"], **{key: held[key] for key in _KEPT if key in held}}
        if "deletionTimestamp" in held:
            added = sorted(set(metadata.get("finalizers") or ()) - set(held.get("finalizers") or ()))
            if added:
                why = f"no new finalizers can be added if the object is being deleted, found new finalizers {added}"
                raise answers.invalid(of, held["name"], "metadata.finalizers", f"Forbidden: {why}")
        new = {**body, "metadata": metadata}
        if of.status:
            new.pop("status", None)
            if "status" in old:
                new["status"] = old["status"]
        if of.generations:
            metadata["generation"] = held["generation"] + (_content(new) != _content(old))
        return new

    def _put(self, by: str, verb: str, of: Resource, old: JSON | None, new: JSON | None, subresource: str) -> JSON:
        if old is not None and new is not None and _same(old, new):
            self._note(by, verb, of, old, old, subresource)
            return old
        self.revision += 1
        thing = new if new is not None else old
        assert thing is not None
        thing = {**thing, "metadata": {**thing["metadata"], "resourceVersion": str(self.revision)}}
        meta = thing["metadata"]
        where = meta.get("namespace", ""), meta["name"]
        let_go = (
            "deletionTimestamp" in meta and not meta.get("finalizers") and not meta.get("deletionGracePeriodSeconds")
        )
        if new is None or let_go:
            del self._objects[of.plural][where]
            self._note(by, verb, of, thing, None, subresource)
        else:
            self._objects[of.plural][where] = thing
            self._note(by, verb, of, old, thing, subresource)
        return thing

    def _note(self, by: str, verb: str, of: Resource, old: JSON | None, new: JSON | None, subresource: str) -> None:
        thing = new if new is not None else old
        assert thing is not None
        meta = thing["metadata"]
        entry = Entry(
            self.clock.seconds,
            by,
            verb,
            of.plural,
            meta.get("namespace", ""),
            meta["name"],
            subresource,
            old,
            new,
            self.revision,
        )
        self.story.append(entry)
        if entry.changed:
            for watcher in self.watchers:
                watcher(entry)

    def _named(self, prefix: str) -> str:
        return prefix + "".join(self._chance.choice(_LETTERS) for _ in range(5))


def _fields(wanted: Mapping[str, Any]) -> JSON:
    """What an applied object says beyond which object it is."""
    metadata = {k: v for k, v in (wanted.get("metadata") or {}).items() if k not in (*_KEPT, "resourceVersion")}
    rest = {key: value for key, value in wanted.items() if key not in ("apiVersion", "kind", "metadata")}
    return {**rest, **({"metadata": metadata} if metadata else {})}


def _content(thing: JSON) -> JSON:
    return {key: value for key, value in thing.items() if key not in ("metadata", "status")}


def _same(old: JSON, new: JSON) -> bool:
    """Whether two versions differ in nothing but their version."""
    if old is new:
        return True
    ours, theirs = old["metadata"], new["metadata"]
    return {**old, "metadata": None} == {**new, "metadata": None} and {**ours, "resourceVersion": ""} == {
        **theirs,
        "resourceVersion": "",
    }
