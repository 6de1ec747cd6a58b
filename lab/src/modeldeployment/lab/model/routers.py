"""Deployments of `apps`: their Pods are not modelled, only that so many of them become ready."""

from collections.abc import Iterator
from functools import partial

from modeldeployment.lab.model.moves import Move, Pace
from modeldeployment.lab.model.resources import JSON
from modeldeployment.lab.model.server import Server

_DELAY = 1.5


class DeploymentStatus:
    """Reports the wanted replicas of each Deployment as ready, a moment after its spec changed."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._pace = Pace(server.clock)

    def moves(self) -> Iterator[Move]:
        """One report for each Deployment whose status is not that of its spec."""
        self._pace.round()
        for each in self._server.items("deployments"):
            wanted = _status(each)
            if each.get("status") != wanted and "deletionTimestamp" not in each["metadata"]:
                at = self._pace.at((each["metadata"]["uid"], each["metadata"]["generation"]), _DELAY)
                yield Move(at, "deployments", f"readies {each['metadata']['name']}", partial(self._put, each))

    def _put(self, each: JSON) -> None:
        meta, wanted = each["metadata"], _status(each)
        self._server.update(
            "deployments",
            meta["name"],
            meta["namespace"],
            lambda held: {**held, "status": wanted},
            by="deployments",
            subresource="status",
        )


def _status(each: JSON) -> JSON:
    count = each["spec"].get("replicas", 1)
    figures = dict.fromkeys(("replicas", "readyReplicas", "availableReplicas", "updatedReplicas"), count)
    return {"observedGeneration": each["metadata"]["generation"], **(figures if count else {})}
