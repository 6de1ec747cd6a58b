"""Nodes: what they hold, who fits, and what becomes of Pods whose node is gone or unready (facts control-plane §8)."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final

from modeldeployment.api.quantity import Quantity
from modeldeployment.lab.model import conditions
from modeldeployment.lab.model.moves import Move, Pace
from modeldeployment.lab.model.resources import JSON
from modeldeployment.lab.model.server import Server

COLLECTED_AFTER: Final = 52.0
"""Seconds until the Pods of a node that is gone are ended (40 of quarantine, and a period of 20)."""

TOLERATED: Final = 300.0
"""Seconds that Pods stay on a node that is not ready."""

_ENDED: Final = ("Failed", "Succeeded")


def requests(spec: Mapping[str, Any]) -> dict[str, int]:
    """What a Pod asks of its node, in thousandths, the Pod itself included; init containers are left out."""
    total: dict[str, int] = {"pods": 1000}
    for container in spec.get("containers") or ():
        asked = container.get("resources") or {}
        for name, amount in {**(asked.get("limits") or {}), **(asked.get("requests") or {})}.items():
            total[name] = total.get(name, 0) + milli(amount)
    return total


def milli(amount: str | float) -> int:
    """A quantity in thousandths."""
    text = str(amount)
    return int(text) * 1000 if text.isdigit() else Quantity.parse(amount).milli


def usable(node: JSON) -> bool:
    """Whether new Pods may come to a node."""
    return conditions.true(node, "Ready") and not (node.get("spec") or {}).get("unschedulable")


def matches(node: JSON, selector: Mapping[str, str]) -> bool:
    """Whether a node has all labels of a selector."""
    labels = node["metadata"].get("labels") or {}
    return all(labels.get(key) == value for key, value in selector.items())


def free(server: Server) -> dict[str, dict[str, int]]:
    """What each node has left, in thousandths, besides the Pods that are bound to it and have not ended."""
    left = {
        node["metadata"]["name"]: {name: milli(amount) for name, amount in node["status"]["allocatable"].items()}
        for node in server.items("nodes")
    }
    for pod in server.items("pods"):
        node = pod["spec"].get("nodeName")
        if node in left and pod["status"]["phase"] not in _ENDED:
            take(left[node], requests(pod["spec"]))
    return left


def take(left: dict[str, int], asked: Mapping[str, int], count: int = 1) -> None:
    """Take so many times what is asked from what is left."""
    for name, amount in asked.items():
        left[name] = left.get(name, 0) - amount * count


def room(left: Mapping[str, int], asked: Mapping[str, int]) -> int:
    """How many times what is asked fits into what is left."""
    return min((max(0, left.get(name, 0)) // amount for name, amount in asked.items() if amount), default=0)


class NodeController:
    """Ends Pods of nodes that are gone, says of Pods on unready nodes that they are unready, and evicts them later."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._pace = Pace(server.clock)

    def moves(self) -> Iterator[Move]:
        """What it does about each Pod."""
        self._pace.round()
        nodes = {node["metadata"]["name"]: node for node in self._server.items("nodes")}
        for pod in self._server.items("pods"):
            name = pod["spec"].get("nodeName")
            if not name:
                continue
            node = nodes.get(name)
            if node is None:
                if pod["status"]["phase"] in _ENDED and pod["metadata"].get("deletionGracePeriodSeconds") == 0:
                    continue
                at = self._pace.at((pod["metadata"]["uid"], "orphan"), COLLECTED_AFTER)
                yield Move(at, "podgc", f"ends {pod['metadata']['name']}", partial(self._end, pod))
            elif not conditions.true(node, "Ready"):
                if conditions.true(pod, "Ready"):
                    at = self._pace.at((pod["metadata"]["uid"], "unready"), 0.1)
                    yield Move(at, "nodes", f"unready {pod['metadata']['name']}", partial(self._unready, pod))
                if "deletionTimestamp" not in pod["metadata"]:
                    at = self._pace.at((pod["metadata"]["uid"], "taint"), TOLERATED)
                    yield Move(at, "nodes", f"evicts {pod['metadata']['name']}", partial(self._evict, pod))

    def _end(self, pod: JSON) -> None:
        meta = pod["metadata"]
        now = self._server.clock.stamp()
        if pod["status"]["phase"] not in _ENDED:
            status = {**pod["status"], "phase": "Failed"}
            status = conditions.put(status, "DisruptionTarget", True, "DeletionByPodGC", "PodGC: node not found", now)
            self._write(pod, status, "podgc")
        held = self._server.find("pods", meta["name"], meta["namespace"])
        if held is not None and held["metadata"].get("deletionGracePeriodSeconds") != 0:
            self._server.delete("pods", meta["name"], meta["namespace"], by="podgc", uid=meta["uid"], grace=0)

    def _unready(self, pod: JSON) -> None:
        status = conditions.put(pod["status"], "Ready", False, "", "", self._server.clock.stamp())
        self._write(pod, status, "nodes")

    def _evict(self, pod: JSON) -> None:
        meta = pod["metadata"]
        message = "Taint manager: deleting due to NoExecute taint"
        now = self._server.clock.stamp()
        self._write(
            pod,
            conditions.put(pod["status"], "DisruptionTarget", True, "DeletionByTaintManager", message, now),
            "nodes",
        )
        self._server.delete("pods", meta["name"], meta["namespace"], by="nodes", uid=meta["uid"])

    def _write(self, pod: JSON, status: JSON, by: str) -> None:
        meta = pod["metadata"]
        self._server.update(
            "pods",
            meta["name"],
            meta["namespace"],
            lambda held: {**held, "status": status},
            by=by,
            subresource="status",
        )
