"""The kubelet of every node, as the Stages of the lab's kwok play it (`lab/controlplane/kwok.yaml`).

Annotations on a Pod mean what they mean there: `lab/ready-after`, `lab/never-ready`, `lab/terminate-after`,
`lab/never-terminates`.
"""

import re
from collections.abc import Iterator
from functools import partial
from typing import Final

from modeldeployment.lab.model import conditions
from modeldeployment.lab.model.moves import Move, Pace
from modeldeployment.lab.model.resources import JSON
from modeldeployment.lab.model.server import Server

READY_AFTER: Final = "lab/ready-after"
NEVER_READY: Final = "lab/never-ready"
TERMINATE_AFTER: Final = "lab/terminate-after"
NEVER_TERMINATES: Final = "lab/never-terminates"

_ENDED: Final = ("Failed", "Succeeded")
_TERMINATES: Final = 0.2


class Kubelet:
    """Starts Pods that are bound, ends Pods that are deleted, and lets go of those that have ended."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._pace = Pace(server.clock)
        self._addresses = 0

    def moves(self) -> Iterator[Move]:
        """The next stage of each Pod of a node that stands."""
        self._pace.round()
        standing = {node["metadata"]["name"] for node in self._server.items("nodes")}
        for pod in self._server.items("pods"):
            if pod["spec"].get("nodeName") not in standing:
                continue
            meta, phase = pod["metadata"], pod["status"]["phase"]
            notes = meta.get("annotations") or {}
            name, uid = meta["name"], meta["uid"]
            if "deletionTimestamp" not in meta:
                if phase == "Pending" and NEVER_READY not in notes:
                    at = self._pace.at((uid, "start"), _delay(notes.get(READY_AFTER), 0.05))
                    yield Move(at, "kubelet", f"starts {name}", partial(self._start, pod))
            elif phase not in _ENDED:
                if NEVER_TERMINATES not in notes:
                    at = self._pace.at((uid, "end"), _delay(notes.get(TERMINATE_AFTER), _TERMINATES))
                    yield Move(at, "kubelet", f"ends {name}", partial(self._end, pod))
            elif meta["deletionGracePeriodSeconds"] != 0:
                at = self._pace.at((uid, "forget"), 0.02)
                yield Move(at, "kubelet", f"lets go of {name}", partial(self._let_go, pod))

    def _start(self, pod: JSON) -> None:
        self._addresses += 1
        now = self._server.clock.stamp()
        status = {**pod["status"], "phase": "Running", "startTime": now}
        status["podIP"] = f"127.1.{self._addresses // 256}.{self._addresses % 256}"
        for kind in ("Initialized", "ContainersReady", "Ready"):
            status = conditions.put(status, kind, True, "", "", now)
        status["containerStatuses"] = [
            {"name": each["name"], "ready": True, "restartCount": 0, "state": {"running": {"startedAt": now}}}
            for each in pod["spec"]["containers"]
        ]
        self._write(pod, status)

    def _end(self, pod: JSON) -> None:
        now = self._server.clock.stamp()
        status = {**pod["status"], "phase": "Failed"}
        for kind in ("ContainersReady", "Ready"):
            status = conditions.put(status, kind, False, "PodFailed", "", now)
        ended = {"terminated": {"exitCode": 143, "reason": "Error", "finishedAt": now}}
        status["containerStatuses"] = [
            {"name": each["name"], "ready": False, "restartCount": 0, "state": ended}
            for each in pod["spec"]["containers"]
        ]
        self._write(pod, status)

    def _let_go(self, pod: JSON) -> None:
        meta = pod["metadata"]
        self._server.delete("pods", meta["name"], meta["namespace"], by="kubelet", uid=meta["uid"], grace=0)

    def _write(self, pod: JSON, status: JSON) -> None:
        meta = pod["metadata"]
        self._server.update(
            "pods",
            meta["name"],
            meta["namespace"],
            lambda held: {**held, "status": status},
            by="kubelet",
            subresource="status",
        )


def _delay(text: str | None, default: float) -> float:
    """Read a duration such as `30s`, `500ms` or `2m`."""
    if not text:
        return default
    factors = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
    return sum(float(number) * factors[unit] for number, unit in re.findall(r"([\d.]+)(ms|s|m|h)", text))
