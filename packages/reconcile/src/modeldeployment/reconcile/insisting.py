"""How often the marks of a Pod were put back lately: what a restart may forget, and nothing else remembers."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from modeldeployment.reconcile.deciding.seen import Insisted

FORGOTTEN: Final = timedelta(hours=1)
"""After so long without a write, a Pod's marks are put back at once again."""


class Insistence:
    """What was put back on the Pods of each deployment, by UID."""

    def __init__(self) -> None:
        self._known: dict[object, dict[str, Insisted]] = {}

    def of(self, key: object, now: datetime) -> Mapping[str, Insisted]:
        """What was put back lately for `key`; empty for nearly every one."""
        known = self._known.get(key)
        if known is None:
            return {}
        for uid in [uid for uid, each in known.items() if now - each.last > FORGOTTEN]:
            del known[uid]
        if not known:
            del self._known[key]
        return dict(known)

    def noted(self, key: object, uid: str, now: datetime, refused: str) -> None:
        """Remember that the marks of a Pod were put back, or what the API server had against it."""
        known = self._known.setdefault(key, {})
        before = known.get(uid)
        known[uid] = Insisted(1 if before is None else before.times + 1, now, refused)

    def forget(self, key: object) -> None:
        """Drop what was put back for a deployment that is gone."""
        self._known.pop(key, None)
