"""One role rendered once, and the cheap copies of it.

A seat (ordinal, member) of a role differs from the next one in the handful of places that `Hole` lists. The template
is the Pod as JSON text, cut at those places while it is written (holes.py), so no text of a user's can ever be taken
for a hole.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, partial
from operator import itemgetter
from typing import Any, Final

from modeldeployment.api import keys, names
from modeldeployment.render.holes import Hole, cut, quoted

_REPLICAS_REMEMBERED: Final = 2048

_ELIGIBLE: Final = f",{quoted(keys.ELIGIBLE)}:{quoted(keys.TRUE)}"


@dataclass(frozen=True, slots=True, order=True)
class Seat:
    """The place of one Pod in its role: the replica's ordinal and the member's index, both from 0."""

    ordinal: int
    member: int


@dataclass(frozen=True, slots=True)
class Occupants:
    """Who sits in the template's seats; `answers` says whether member 0 takes requests."""

    namespace: str
    deployment: str
    role: str
    size: int
    answers: bool


@dataclass(frozen=True, slots=True)
class _Replica:
    """What every member of one replica shares."""

    number: str
    group: str
    subdomain: str
    leader: str


@dataclass(frozen=True, slots=True)
class Template:
    """The Pod of a role, for any of its seats.

    `digest` is hex SHA-256 over the Pod's labels, annotations and spec without the fingerprint itself and the
    eligibility label, in canonical key order; it is the same for every seat and moves when any seat's Pod would.
    """

    digest: str
    occupants: Occupants
    _texts: tuple[str, ...] = field(repr=False)
    _in_order: Callable[[tuple[str, ...]], tuple[str, ...]] = field(repr=False, compare=False)
    _replica: Callable[[int], _Replica] = field(repr=False, compare=False)
    _labels: Mapping[str, str | Hole] = field(repr=False, compare=False)

    @classmethod
    def of(cls, pod: dict[str, Any], occupants: Occupants) -> "Template":
        """Cut `pod`, a JSON tree with holes in it, into a template.

        Raises ValueError when a hole's value would need escaping: then it could not be pasted between quotes. Between
        two seats only digits change, so looking at the first is enough.
        """
        replica = lru_cache(_REPLICAS_REMEMBERED)(partial(_replica, occupants))
        first = _values(occupants, replica(0), Seat(0, 0), "")
        for hole in Hole:
            value = first[hole.value]
            if hole is not Hole.ELIGIBLE and quoted(value) != f'"{value}"':
                raise ValueError(f"{hole.name} {value!r} is not plain text")
        metadata = pod["metadata"]
        hashed = {part: metadata[part] for part in ("labels", "annotations")} | {"spec": pod["spec"]}
        # A hole counts by what it holds at the first seat too, so a change of the naming rules is a change.
        counted = {hole: f"\0{hole.name}\0{first[hole.value]}\0" for hole in Hole}
        counted |= {Hole.ELIGIBLE: "", Hole.FINGERPRINT: ""}
        told = (piece if isinstance(piece, str) else counted[piece] for piece in cut(hashed, canonical=True))
        digest = hashlib.sha256("".join(told).encode())
        pieces = cut(pod, canonical=False)
        texts = tuple(piece for piece in pieces if isinstance(piece, str))
        order, next_text = [], len(first)
        for piece in pieces:
            order.append(piece.value if isinstance(piece, Hole) else next_text)
            next_text += isinstance(piece, str)
        labels = {key: value for key, value in metadata["labels"].items() if value is not Hole.ELIGIBLE}
        return cls(digest.hexdigest(), occupants, texts, itemgetter(*order), replica, labels)

    def group(self, ordinal: int) -> str:
        """Answer the Kueue pod group of a replica."""
        return self._replica(ordinal).group

    def fingerprint(self, seat: Seat) -> str:
        """Answer the seat's fingerprint, 64 hex digits, as its Pod's annotation carries it.

        Raises IndexError for a member the role does not have; ordinals beyond the declared replicas are valid.
        """
        if not (0 <= seat.member < self.occupants.size and seat.ordinal >= 0):
            raise IndexError(f"{seat} is no seat of a role of size {self.occupants.size}")
        return hashlib.sha256(f"{self.digest}/{seat.ordinal}/{seat.member}".encode()).hexdigest()

    def body(self, seat: Seat) -> bytes:
        """Answer the JSON the seat's Pod is created with, owner reference and eligibility label included."""
        values = _values(self.occupants, self._replica(seat.ordinal), seat, self.fingerprint(seat))
        return "".join(self._in_order(values + self._texts)).encode()

    def labels(self, seat: Seat) -> dict[str, str]:
        """Answer the labels of the seat's Pod that stay while it runs: all but the eligibility label."""
        values = _values(self.occupants, self._replica(seat.ordinal), seat, "")
        return {key: values[each.value] if isinstance(each, Hole) else each for key, each in self._labels.items()}

    def pod(self, seat: Seat) -> dict[str, Any]:
        """Answer the same Pod as a tree, for people and tests."""
        pod: dict[str, Any] = json.loads(self.body(seat))
        return pod


def _replica(occupants: Occupants, ordinal: int) -> _Replica:
    deployment, role = occupants.deployment, occupants.role
    return _Replica(
        str(ordinal),
        names.group_name(occupants.namespace, deployment, role, ordinal),
        names.replica_service(deployment, role, ordinal),
        names.leader_address(deployment, role, ordinal),
    )


def _values(occupants: Occupants, replica: _Replica, seat: Seat, fingerprint: str) -> tuple[str, ...]:
    """Answer what fills each hole, in the order of `Hole`."""
    return (
        replica.number,
        str(seat.member),
        replica.group,
        fingerprint,
        names.member_pod(occupants.deployment, occupants.role, seat.ordinal, seat.member),
        replica.subdomain,
        replica.leader,
        _ELIGIBLE if occupants.answers and seat.member == 0 else "",
    )
