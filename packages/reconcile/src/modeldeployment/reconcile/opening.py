"""Which Workloads were let go and have not been seen to come in: while there are any, sets open."""

from datetime import datetime
from typing import Final

from modeldeployment.reconcile.deciding import pacing


class Opening:
    """The Workloads that were answered `Ready`, from the answer until Kueue has admitted them or thought otherwise.

    `last` is when the last one was let go.
    """

    def __init__(self) -> None:
        self._let_go: Final[dict[str, datetime]] = {}
        self.last: datetime | None = None

    def let_go(self, uid: str, now: datetime) -> None:
        """Note that a Workload was answered `Ready`."""
        self._let_go.pop(uid, None)
        self._let_go[uid] = self.last = now

    def came(self, uid: str) -> None:
        """Note that a Workload is admitted, waits for quota again, or is gone."""
        self._let_go.pop(uid, None)

    def lasts(self, now: datetime) -> bool:
        """Whether sets open: one is on its way, or was let go a moment ago, so that the next is likely to follow.

        Another check may hold a Workload for hours, so what was let go long ago is on no way.
        """
        if self.last is None:
            return False
        return now - self.last < (pacing.MINUTE if self._let_go else pacing.REST)
