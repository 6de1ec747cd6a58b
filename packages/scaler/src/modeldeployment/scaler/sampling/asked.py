"""Whom the scaler asks: one engine, at its Pod's own address, in one life of its container."""

from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Final

from modeldeployment.api import RoleKind
from modeldeployment.api.choices import EngineName

MOST: Final = 64
"""Engines of one role that are read (spec 3 §Limitations)."""


@dataclass(frozen=True, slots=True)
class Engine:
    """The answering member of a ready replica, and in which life it is asked.

    `url` is None where its Pod does not say where its numbers are read. Another container or another count of restarts
    under the same UID is another life, whose counters start anew (spec 3 §Engine signals).
    """

    role: str
    kind: RoleKind
    name: EngineName
    pod: str
    uid: str
    container: str
    restarts: int
    url: str | None

    @property
    def life(self) -> tuple[str, str, int]:
        """What has to be the same for two readings to be of one set of counters."""
        return self.uid, self.container, self.restarts


def chosen(members: Sequence[Engine], roles: Container[str]) -> tuple[list[Engine], list[Engine]]:
    """Answer which engines of these roles are read, by name of their Pods, and which are beyond what is read."""
    asked: list[Engine] = []
    beyond: list[Engine] = []
    several: dict[str, int] = {}
    for each in sorted(members, key=lambda engine: engine.pod):
        if each.role in roles:
            several[each.role] = several.get(each.role, 0) + 1
            (asked if several[each.role] <= MOST else beyond).append(each)
    return asked, beyond
