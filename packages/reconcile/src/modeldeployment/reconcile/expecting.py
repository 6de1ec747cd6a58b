"""What a store must have seen before a pass may act on it again: this controller's own last writes.

A pass over a store that has not caught up would repeat what the last one did (architecture §4).
"""

from collections.abc import Mapping
from typing import Protocol


class Seen(Protocol):
    """A store, as far as this asks: the newest version that it is known to be as new as."""

    @property
    def revision(self) -> int:
        """That version."""
        ...


class Expectations:
    """The newest resourceVersion that this controller wrote, for each deployment and store."""

    def __init__(self) -> None:
        self._wanted: dict[object, dict[str, int]] = {}

    def wrote(self, key: object, store: str, resource_version: str) -> None:
        """Remember a write; versions of one server are comparable numbers (KEP-5504), anything else is not expected."""
        if resource_version.isdigit():
            wanted = self._wanted.setdefault(key, {})
            wanted[store] = max(wanted.get(store, 0), int(resource_version))

    def met(self, key: object, stores: Mapping[str, Seen]) -> bool:
        """Whether every store has seen what was written for `key`; expectations that are met are dropped."""
        wanted = self._wanted.get(key)
        if wanted is None:
            return True
        for store in [store for store, version in wanted.items() if stores[store].revision >= version]:
            del wanted[store]
        if not wanted:
            self._wanted.pop(key, None)
        return not wanted

    def forget(self, key: object) -> None:
        """Drop what was expected of a deployment that is gone."""
        self._wanted.pop(key, None)
