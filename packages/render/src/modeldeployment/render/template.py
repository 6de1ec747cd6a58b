"""One role rendered once, and the cheap copies of it.

A seat (ordinal, member) of a role differs from the next one in the handful of places that `Hole` lists. The template is the Pod
as JSON text, cut at those places while it is written, so no text of a user's can ever be taken for a hole.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import lru_cache
from typing import Any, Final

from modeldeployment.api import keys, names

_text: Final = json.JSONEncoder().encode
_GROUPS_REMEMBERED: Final = 2048


@dataclass(frozen=True, slots=True, order=True)
class Seat:
    """The place of one Pod in its role: the replica's ordinal and the member's index, both from 0."""

    ordinal: int
    member: int


class Hole(Enum):
    """What differs between two Pods of one role."""

    ORDINAL = auto()
    MEMBER = auto()
    GROUP = auto()
    FINGERPRINT = auto()
    NAME = auto()
    """Pod name and hostname above size 1; a single Pod gets a generated name."""
    SUBDOMAIN = auto()
    LEADER = auto()
    ELIGIBLE = auto()
    """The whole eligibility label, on answering members only; outside digest and fingerprint (decisions D4)."""


@dataclass(frozen=True, slots=True)
class Occupants:
    """Who sits in the template's seats: enough to fill every hole."""

    namespace: str
    deployment: str
    role: str
    size: int
    answers: bool
    """Whether member 0 takes requests."""


@dataclass(frozen=True, slots=True)
class Template:
    """The Pod of a role, for any of its seats.

    `digest` is hex SHA-256 over the Pod's labels, annotations and spec without the fingerprint itself and the eligibility
    label, in canonical key order; it is the same for every seat and moves when any seat's Pod would.
    """

    digest: str
    occupants: Occupants
    pieces: tuple[str | Hole, ...] = field(repr=False)
    _group: Any = field(repr=False, compare=False)

    @classmethod
    def of(cls, pod: Mapping[str, Any], occupants: Occupants) -> "Template":
        """Cut `pod`, a JSON tree with holes in it, into a template.

        Raises ValueError when a hole's value would need escaping: then it could not be pasted between quotes. Between two seats
        only digits change, so looking at the first is enough.
        """
        group = lru_cache(_GROUPS_REMEMBERED)(
            lambda ordinal: names.group_name(occupants.namespace, occupants.deployment, occupants.role, ordinal)
        )
        first = _values(occupants, group, Seat(0, 0), "")
        for hole, value in first.items():
            if hole is not Hole.ELIGIBLE and _text(value) != f'"{value}"':
                raise ValueError(f"{hole.name} {value!r} is not plain text")
        metadata = pod["metadata"]
        hashed = {part: metadata[part] for part in ("labels", "annotations")} | {"spec": pod["spec"]}
        digest = hashlib.sha256()
        for piece in _joined(_written(hashed, canonical=True)):
            # A hole counts by its name and by what it holds at the first seat, so a change of naming rules is a change too.
            match piece:
                case Hole.ELIGIBLE | Hole.FINGERPRINT:
                    pass
                case Hole() as hole:
                    digest.update(f"\0{hole.name}\0{first[hole]}\0".encode())
                case text:
                    digest.update(text.encode())
        return cls(digest.hexdigest(), occupants, tuple(_joined(_written(pod, canonical=False))), group)

    def group(self, ordinal: int) -> str:
        """Answer the Kueue pod group of a replica."""
        name: str = self._group(ordinal)
        return name

    def fingerprint(self, seat: Seat) -> str:
        """Answer the seat's fingerprint, 64 hex digits, as its Pod's annotation carries it.

        Raises IndexError for a member the role does not have; ordinals beyond the declared replicas are valid.
        """
        if not (0 <= seat.member < self.occupants.size and seat.ordinal >= 0):
            raise IndexError(f"{seat} is no seat of a role of size {self.occupants.size}")
        return hashlib.sha256(f"{self.digest}/{seat.ordinal}/{seat.member}".encode()).hexdigest()

    def body(self, seat: Seat) -> bytes:
        """Answer the JSON the seat's Pod is created with, owner reference and eligibility label included."""
        values = _values(self.occupants, self._group, seat, self.fingerprint(seat))
        return "".join([piece if type(piece) is str else values[piece] for piece in self.pieces]).encode()  # type: ignore[index]

    def pod(self, seat: Seat) -> dict[str, Any]:
        """Answer the same Pod as a tree, for people and tests."""
        pod: dict[str, Any] = json.loads(self.body(seat))
        return pod


def _values(occupants: Occupants, group: Any, seat: Seat, fingerprint: str) -> dict[Hole, str]:
    deployment, role, ordinal, member = occupants.deployment, occupants.role, seat.ordinal, seat.member
    values = {
        Hole.ORDINAL: str(ordinal),
        Hole.GROUP: group(ordinal),
        Hole.FINGERPRINT: fingerprint,
        Hole.ELIGIBLE: _ELIGIBLE if occupants.answers and member == 0 else "",
    }
    if occupants.size > 1:
        values[Hole.MEMBER] = str(member)
        values[Hole.NAME] = names.member_pod(deployment, role, ordinal, member)
        values[Hole.SUBDOMAIN] = names.replica_service(deployment, role, ordinal)
        values[Hole.LEADER] = names.leader_address(deployment, role, ordinal)
    return values


_ELIGIBLE: Final = f",{_text(keys.ELIGIBLE)}:{_text(keys.TRUE)}"


def _written(node: Any, *, canonical: bool) -> Iterator[str | Hole]:
    """Write a JSON tree as text and holes. Canonical: keys of every object sorted, so the order of Parts does not show."""
    match node:
        case Hole() as hole:
            yield '"'
            yield hole
            yield '"'
        case Mapping() as entries:
            yield "{"
            separator = ""
            for key in sorted(entries) if canonical else entries:
                value = entries[key]
                if value is Hole.ELIGIBLE:
                    if not separator:
                        raise ValueError("the eligibility label cannot come first: it brings its own comma")
                    yield value
                    continue
                yield f"{separator}{_text(key)}:"
                yield from _written(value, canonical=canonical)
                separator = ","
            yield "}"
        case list() | tuple():
            yield "["
            for index, entry in enumerate(node):
                if index:
                    yield ","
                yield from _written(entry, canonical=canonical)
            yield "]"
        case leaf:
            yield _text(leaf)


def _joined(pieces: Iterator[str | Hole]) -> Iterator[str | Hole]:
    """Join neighbouring texts."""
    run: list[str] = []
    for piece in pieces:
        if isinstance(piece, str):
            run.append(piece)
            continue
        if run:
            yield "".join(run)
            run.clear()
        yield piece
    if run:
        yield "".join(run)
