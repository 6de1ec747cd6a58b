"""Tells people: status where the control plane moved, and events."""

from collections.abc import Callable
from datetime import datetime
from typing import Final

from modeldeployment.api import keys
from modeldeployment.kube import Client, Grant, PatchType, Recorder, shapes
from modeldeployment.scaler import reporting
from modeldeployment.scaler.binding import Ruling
from modeldeployment.scaler.case import Case
from modeldeployment.scaler.reporting import Planned, Report
from modeldeployment.scaler.standing import Standing
from modeldeployment.scaler.tallying import Tally
from modeldeployment.scaler.watching import SCALERS, Key, Watched
from modeldeployment.scaler.wording import Told

GRANTS: Final = (Grant(SCALERS, ("patch",), "tell what was observed, recommended and done", subresource="status"),)


class Teller:
    """Writes status and records events of scalers."""

    def __init__(
        self, client: Client, watched: Watched, recorder: Recorder, clock: Callable[[], datetime], tally: Tally
    ) -> None:
        self._client = client
        self._watched = watched
        self._recorder = recorder
        self._clock = clock
        self._tally = tally

    async def tell(self, case: Case, planned: Planned | None = None) -> None:
        """Say what was ruled and, where it was planned, what came of it; written where that moved. Raises KubeError."""
        await self.report(case.key, case.standing, self._report(case, planned))

    async def report(self, key: Key, each: Standing, report: Report) -> None:
        """Write a report where the control plane moved. Raises KubeError, and the next pass writes it."""
        after = reporting.after(each.outline, report)
        moved = reporting.moved(each.outline, after)
        each.outline = after
        if moved:
            each.status = reporting.written(each.status, report, self._clock().replace(microsecond=0))
            each.untold = True
            await self.write(key, each)

    async def write(self, key: Key, each: Standing) -> None:
        """Write the status that is to stand, all of it. Raises KubeError.

        A Conflict says that the scaler was edited, or that another process leads by now and has told more; whoever
        still sees an old version cannot take back what was told since.
        """
        stored = self._watched.scalers.get(key.namespace, key.name)
        version = max(int(stored.metadata.resource_version) if stored is not None else 0, each.told)
        body = [
            {"op": "replace", "path": "/metadata/uid", "value": each.uid},
            {"op": "replace", "path": "/metadata/resourceVersion", "value": str(version)},
            {"op": "add", "path": "/status", "value": each.status.body()},
        ]
        how, subresource = PatchType.JSON, "status"
        written = await self._client.patch(SCALERS, key.name, body, key.namespace, how=how, subresource=subresource)
        each.told = int(written.metadata.resource_version)
        each.untold = False
        self._tally.status_writes += 1

    async def emit(self, stored: shapes.Custom, told: Told) -> None:
        """Record an event on a scaler."""
        meta = stored.metadata
        regarding = shapes.ObjectReference(
            api_version=keys.API_VERSION,
            kind=SCALERS.kind,
            name=meta.name,
            namespace=meta.namespace,
            uid=meta.uid,
        )
        await self._recorder.emit(regarding, told.type, told.reason.value, told.note, "Scale")
        self._tally.events += 1

    def _report(self, case: Case, planned: Planned | None) -> Report:
        orphaned = self._orphaned(case.key.namespace, case.ruling)
        said = reporting.claims(case.ruling, case.name, orphaned=orphaned, trouble=case.standing.trouble)
        found = reporting.findings(planned.plan.findings) if planned is not None else ()
        uid = case.target.uid if case.target is not None else ""
        bound = reporting.binding(case.ruling, case.name, uid, case.standing.status.binding)
        return Report(case.wanted.generation, bound, (*said, *found), planned)

    def _orphaned(self, namespace: str, ruling: Ruling) -> bool:
        if ruling.by is None:
            return False
        owner = self._watched.scalers.get(namespace, ruling.by.scaler_name)
        return owner is None or owner.metadata.uid != ruling.by.scaler_uid
