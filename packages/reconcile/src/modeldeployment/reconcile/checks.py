"""Keeps our AdmissionCheck there and every check of ours active, since a queue with an inactive one admits nothing.

Source: facts atomic-admission §1; decisions D26.
"""

import logging
from collections.abc import Callable
from datetime import datetime
from typing import Final

from modeldeployment.api import keys, kueue
from modeldeployment.kube import AlreadyExists, Client, Grant, NotFound, PatchType, WorkQueue, shapes
from modeldeployment.kube.kinds import ADMISSION_CHECKS
from modeldeployment.reconcile.watching import Watched

log = logging.getLogger(__name__)

GRANTS: Final = (
    Grant(ADMISSION_CHECKS, ("create",), "install the check that holds a set together"),
    Grant(ADMISSION_CHECKS, ("patch",), "say that it is answered", "status"),
)

_UNINSTALLED: Final = 15.0
"""Seconds until Kueue is looked for again where it is not installed."""

_STAMP: Final = "%Y-%m-%dT%H:%M:%SZ"
_REASON: Final = "Ready"
_MESSAGE: Final = "the operator answers this check"


class CheckKeeper:
    """Installs and activates; `reconcile(name)` is one pass over the check of a name."""

    def __init__(self, client: Client, watched: Watched, queue: WorkQueue[str], clock: Callable[[], datetime]) -> None:
        self._client = client
        self._checks = watched.queues.checks
        self._queue = queue
        self._clock = clock
        self._said = ""
        self._checks.subscribe(self._check)

    async def begin(self) -> None:
        """Wait until Kueue's checks can be read, then look at ours and at every other that names our controller."""
        await self._checks.wait_synced()
        self._queue.add(kueue.JOINT_CHECK)
        for each in self._checks.items():
            self._check(None, each)

    async def reconcile(self, name: str) -> float | None:
        """Take one pass: seconds until the next look, None where a change must wake it. Raises KubeError."""
        check = self._checks.get("", name)
        if check is None:
            return await self._install() if name == kueue.JOINT_CHECK else None
        if check.spec.controller_name != kueue.JOINT_CONTROLLER:
            if name == kueue.JOINT_CHECK:
                self._complain(check)
            return None
        if not _active(check):
            await self._activate(check)
        return None

    async def _install(self) -> float | None:
        body = {
            "apiVersion": ADMISSION_CHECKS.api_version,
            "kind": ADMISSION_CHECKS.kind,
            "metadata": {"name": kueue.JOINT_CHECK, "labels": {keys.PART_OF: keys.PART_OF_VALUE}},
            "spec": {"controllerName": kueue.JOINT_CONTROLLER},
        }
        try:
            made = await self._client.create(ADMISSION_CHECKS, body)
        except AlreadyExists:
            return 1.0  # the store has not seen it yet, or it is held by a queue while it goes
        except NotFound:
            return _UNINSTALLED
        log.info("admission check installed", extra={"object": kueue.JOINT_CHECK, "reason": "it was not there"})
        await self._activate(made)
        return None

    async def _activate(self, check: shapes.AdmissionCheck) -> None:
        name = check.metadata.name
        condition = {
            "type": kueue.QueueCondition.ACTIVE.value,
            "status": "True",
            "reason": _REASON,
            "message": _MESSAGE,
            "observedGeneration": check.metadata.generation,
            "lastTransitionTime": self._clock().strftime(_STAMP),
        }
        body = {
            "apiVersion": ADMISSION_CHECKS.api_version,
            "kind": ADMISSION_CHECKS.kind,
            # By its UID: one that was deleted in between must not come back by a patch.
            "metadata": {"name": name, "uid": check.metadata.uid},
            "status": {"conditions": [condition]},
        }
        try:
            await self._client.patch(
                ADMISSION_CHECKS,
                name,
                body,
                how=PatchType.APPLY,
                subresource="status",
                force=True,
                manager=kueue.JOINT_CONTROLLER,
            )
        except NotFound:
            return
        log.info("admission check activated", extra={"object": name, "reason": "it was not active"})

    def _complain(self, check: shapes.AdmissionCheck) -> None:
        """Say once that our name is taken: which controller a check is for can never be changed."""
        uid = check.metadata.uid
        if self._said != uid:
            self._said = uid
            reason = (
                f"spec.controllerName is {check.spec.controller_name!r}, not {kueue.JOINT_CONTROLLER!r}, and cannot be "
                "changed: delete the check, and it is installed anew; until then no set is held together"
            )
            log.error("admission check is somebody else's", extra={"object": check.metadata.name, "reason": reason})

    def _check(self, old: shapes.AdmissionCheck | None, new: shapes.AdmissionCheck | None) -> None:
        each = new or old
        ours = each is not None and each.spec.controller_name == kueue.JOINT_CONTROLLER
        if each is not None and (ours or each.metadata.name == kueue.JOINT_CHECK):
            self._queue.add(each.metadata.name)


def _active(check: shapes.AdmissionCheck) -> bool:
    """Whether Kueue takes it as active; what a person writes into the reason is left alone."""
    return any(each.type == kueue.QueueCondition.ACTIVE and each.status == "True" for each in check.status.conditions)
