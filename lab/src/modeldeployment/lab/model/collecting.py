"""The garbage collector: what has no owner left goes, and references to owners that are gone are taken out."""

from collections.abc import Iterator

from modeldeployment.lab.model.moves import Move, Pace
from modeldeployment.lab.model.resources import BY_KIND, JSON, RESOURCES
from modeldeployment.lab.model.server import Server

_DELAY = 0.5


class Collector:
    """Deletes in the background, one object at a time."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._pace = Pace(server.clock)

    def moves(self) -> Iterator[Move]:
        """One move for each object that has lost an owner."""
        self._pace.round()
        for plural in RESOURCES:
            for thing in self._server.items(plural):
                owners = thing["metadata"].get("ownerReferences")
                lost = [each for each in owners or () if not self._stands(thing, each)]
                if lost and (len(lost) < len(owners) or "deletionTimestamp" not in thing["metadata"]):
                    yield self._move(plural, thing, lost)

    def _move(self, plural: str, thing: JSON, lost: list[JSON]) -> Move:
        meta = thing["metadata"]
        at = self._pace.at((meta["uid"], len(lost)), _DELAY)
        name, namespace = meta["name"], meta.get("namespace", "")
        left = [each for each in meta["ownerReferences"] if each not in lost]
        if left:
            patch = {"metadata": {"uid": meta["uid"], "ownerReferences": left}}
            return Move(
                at,
                "collector",
                f"forgets owners of {plural} {name}",
                lambda: self._server.merge(plural, name, namespace, patch, by="collector"),
            )
        return Move(
            at,
            "collector",
            f"collects {plural} {name}",
            lambda: self._server.delete(plural, name, namespace, by="collector", uid=meta["uid"]),
        )

    def _stands(self, thing: JSON, owner: JSON) -> bool:
        of = BY_KIND[owner["kind"]]
        found = self._server.find(
            of.plural, owner["name"], thing["metadata"].get("namespace", "") if of.namespaced else ""
        )
        return found is not None and found["metadata"]["uid"] == owner["uid"]
