"""The scheduler: Pods without gates go to a node that has room."""

from collections.abc import Iterator
from functools import partial

from modeldeployment.lab.model import conditions, nodes
from modeldeployment.lab.model.moves import Move, Pace
from modeldeployment.lab.model.resources import JSON
from modeldeployment.lab.model.server import Server

_DELAY = 0.02


class Scheduler:
    """Binds one Pod at a time, each to the first node by name that fits."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._pace = Pace(server.clock)

    def moves(self) -> Iterator[Move]:
        """One binding for each Pod that fits somewhere."""
        self._pace.round()
        waiting = [pod for pod in self._server.items("pods") if _waits(pod)]
        if not waiting:
            return
        left = nodes.free(self._server)
        for pod in waiting:
            node = self._node(pod, left)
            if node:
                at = self._pace.at(pod["metadata"]["uid"], _DELAY)
                yield Move(
                    at,
                    "scheduler",
                    f"binds {pod['metadata']['name']} to {node}",
                    partial(self._bind, pod, node),
                )

    def _node(self, pod: JSON, left: dict[str, dict[str, int]]) -> str:
        asked = nodes.requests(pod["spec"])
        for node in sorted(self._server.items("nodes"), key=lambda node: str(node["metadata"]["name"])):
            name: str = node["metadata"]["name"]
            wanted = pod["spec"].get("nodeSelector") or {}
            if nodes.usable(node) and nodes.matches(node, wanted) and nodes.room(left[name], asked):
                return name
        return ""

    def _bind(self, pod: JSON, node: str) -> None:
        meta = pod["metadata"]

        def bound(held: JSON) -> JSON:
            return {**held, "spec": {**held["spec"], "nodeName": node}}

        self._server.update("pods", meta["name"], meta["namespace"], bound, by="scheduler", verb="bind")
        status = conditions.put(pod["status"], "PodScheduled", True, "", "", self._server.clock.stamp())
        self._server.update(
            "pods",
            meta["name"],
            meta["namespace"],
            lambda held: {**held, "status": status},
            by="scheduler",
            subresource="status",
        )


def _waits(pod: JSON) -> bool:
    spec = pod["spec"]
    return (
        not spec.get("nodeName")
        and not spec.get("schedulingGates")
        and "deletionTimestamp" not in pod["metadata"]
        and pod["status"]["phase"] == "Pending"
    )
