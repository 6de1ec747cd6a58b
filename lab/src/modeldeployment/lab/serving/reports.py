"""What a kubelet reports of a Pod, as patches of its status: pure. Times are as the API server writes them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from modeldeployment.lab.routers.picking import PROXY

JSON = dict[str, Any]

_CONDITIONS = ("PodReadyToStartContainers", "Initialized", "ContainersReady", "Ready")


@dataclass(frozen=True, slots=True)
class Report:
    """One Pod as it runs: its address, since when, how often its container restarted, and whether it is ready.

    `started` says that its container has answered since it was last up, as a startup probe finds out.
    """

    address: str
    since: str
    restarts: int = 0
    ready: bool = False
    up: bool = True
    started: bool = False


def running(pod: Mapping[str, Any], report: Report, now: str) -> JSON:
    """Answer the status of a Pod that runs, ready or not."""
    gates = [each["conditionType"] for each in pod["spec"].get("readinessGates", ())]
    ready = {"ContainersReady": report.ready, "Ready": report.ready}
    told = {kind: ready.get(kind, True) for kind in (*_CONDITIONS, *gates)}
    return {
        "status": {
            "phase": "Running",
            "startTime": report.since,
            "podIP": report.address,
            "podIPs": [{"ip": report.address}],
            "conditions": _conditions(pod, told, now),
            "containerStatuses": [
                {
                    **_container(pod, each, report.restarts),
                    "ready": report.ready,
                    "started": report.started,
                    "state": _state(report, now),
                }
                for each in pod["spec"]["containers"]
            ],
        }
    }


def ended(pod: Mapping[str, Any], report: Report, code: int, now: str) -> JSON:
    """Answer the status of a Pod whose containers have ended."""
    state = {"terminated": {"exitCode": code, "reason": "Error", "startedAt": report.since, "finishedAt": now}}
    return {
        "status": {
            "phase": "Failed",
            "conditions": _conditions(pod, {"ContainersReady": False, "Ready": False}, now),
            "containerStatuses": [
                {**_container(pod, each, report.restarts), "ready": False, "started": False, "state": state}
                for each in pod["spec"]["containers"]
            ],
        }
    }


def _container(pod: Mapping[str, Any], container: Mapping[str, Any], restarts: int) -> JSON:
    name = container["name"]
    if name == PROXY:  # which runs on while the picker beside it starts anew
        restarts = 0
    return {
        "name": name,
        "image": container["image"],
        "imageID": "",
        "containerID": f"lab://{pod['metadata']['uid']}/{name}/{restarts}",
        "restartCount": restarts,
    }


def _state(report: Report, now: str) -> JSON:
    if report.up:
        return {"running": {"startedAt": report.since}}
    return {"terminated": {"exitCode": 137, "reason": "Error", "startedAt": report.since, "finishedAt": now}}


def _conditions(pod: Mapping[str, Any], told: Mapping[str, bool], now: str) -> list[JSON]:
    """Answer all conditions of a Pod with those that are told changed; times move only where the status does."""
    before = {each["type"]: each for each in pod.get("status", {}).get("conditions") or ()}
    for kind, holds in told.items():
        status = str(holds)
        if before.get(kind, {}).get("status") != status:
            before[kind] = {"type": kind, "status": status, "lastTransitionTime": now}
    return list(before.values())
