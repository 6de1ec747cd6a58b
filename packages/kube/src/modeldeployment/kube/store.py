"""What a watch has told so far: the present objects of one kind, with named indexes over them."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Generic, TypeAlias

from modeldeployment.kube.kinds import T
from modeldeployment.kube.shapes import ObjectMeta
from modeldeployment.kube.sharing import Share, sharer

Key: TypeAlias = tuple[str, str]


class Store(Generic[T]):
    """The present objects of one kind by (namespace, name); objects are immutable and may be kept by readers.

    `indexes` maps a name to a function giving the values under which an object is found. `on_change` functions are
    called with (old, new) after the store has changed: (None, new) when an object came, (old, None) when it went. An
    object replaced by another of the same name, told by its UID, goes before the new one comes. They run inside the
    reflector, so they must be quick and must not raise.
    """

    def __init__(
        self,
        indexes: Mapping[str, Callable[[T], Iterable[str]]] | None = None,
        on_change: Iterable[Callable[[T | None, T | None], None]] = (),
    ) -> None:
        self._index_of = dict(indexes or {})
        self._on_change = list(on_change)
        self._objects: dict[Key, T] = {}
        self._indexes: dict[str, dict[str, dict[Key, T]]] = {name: {} for name in self._index_of}
        self._share: Share | None = None
        self._revision = 0
        self._synced = asyncio.Event()

    # --- reading ---

    def get(self, namespace: str, name: str) -> T | None:
        """One object, or None when it is not there; the namespace of a cluster-wide object is empty."""
        return self._objects.get((namespace, name))

    def by_index(self, index: str, value: str) -> tuple[T, ...]:
        """All objects an index files under a value; one that changes keeps its place.

        Raises KeyError for an unknown index.
        """
        return tuple(self._indexes[index].get(value, {}).values())

    def items(self) -> Iterator[T]:
        """All objects; iterate to the end before giving control back to the event loop."""
        return iter(self._objects.values())

    def __len__(self) -> int:
        return len(self._objects)

    @property
    def revision(self) -> int:
        """The newest resourceVersion this store is known to be as new as, bookmarks included; 0 before the first list.

        Versions are comparable integers (control-plane facts; Kubernetes 1.35 promises it).
        """
        return self._revision

    @property
    def synced(self) -> bool:
        """Whether the first list is complete."""
        return self._synced.is_set()

    async def wait_synced(self) -> None:
        """Wait until the first list is complete."""
        await self._synced.wait()

    def subscribe(self, on_change: Callable[[T | None, T | None], None]) -> None:
        """Call this function on every change from now on."""
        self._on_change.append(on_change)

    # --- writing, by the reflector ---

    def put(self, new: T) -> None:
        """Take in an object that came or changed; a version not newer than the one held is ignored."""
        self._put(new, shared=False)

    def _put(self, new: T, *, shared: bool) -> None:
        key = _key(new.metadata)
        old = self._objects.get(key)
        self.advance(new.metadata.resource_version)
        if old is not None:
            if old.metadata.uid != new.metadata.uid:
                self._take_out(key, old)
                old = None
            elif _version(new.metadata) <= _version(old.metadata):
                return
        if not shared:
            if self._share is None:
                self._share = sharer(type(new))
            self._share(new)
        for name, index_of in self._index_of.items():
            index, values = self._indexes[name], tuple(index_of(new))
            if old is not None:
                # What stays where it was keeps its place: whoever compares what is filed there sees one change.
                _unfile(index, key, (each for each in index_of(old) if each not in values))
            for value in values:
                index.setdefault(value, {})[key] = new
        self._objects[key] = new
        self._tell(old, new)

    def remove(self, last: T) -> None:
        """Take out an object that is gone, unless another of its name has come since; `last` is its last version."""
        key = _key(last.metadata)
        old = self._objects.get(key)
        self.advance(last.metadata.resource_version)
        if old is not None and old.metadata.uid == last.metadata.uid:
            self._take_out(key, old)

    def replace(self, objects: Iterable[T], resource_version: str) -> None:
        """Take in a complete list: what it does not name is gone, also when nobody saw it go."""
        present = {_key(new.metadata): new for new in objects}
        for key, old in [item for item in self._objects.items() if item[0] not in present]:
            self._take_out(key, old)
        for new in present.values():
            self._put(new, shared=True)  # the client that listed them has done so, page by page
        self.advance(resource_version)
        self._synced.set()

    def advance(self, resource_version: str) -> None:
        """Note that everything up to this version has been seen."""
        self._revision = max(self._revision, int(resource_version or 0))

    def _take_out(self, key: Key, old: T) -> None:
        del self._objects[key]
        for name, index_of in self._index_of.items():
            _unfile(self._indexes[name], key, index_of(old))
        self._tell(old, None)

    def _tell(self, old: T | None, new: T | None) -> None:
        for on_change in self._on_change:
            on_change(old, new)


def _key(metadata: ObjectMeta) -> Key:
    return metadata.namespace, metadata.name


def _version(metadata: ObjectMeta) -> int:
    return int(metadata.resource_version or 0)


def _unfile(index: dict[str, dict[Key, T]], key: Key, values: Iterable[str]) -> None:
    for value in values:
        filed = index.get(value)
        if filed is not None:
            filed.pop(key, None)
            if not filed:
                del index[value]
