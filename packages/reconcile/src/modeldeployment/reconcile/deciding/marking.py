"""The marks of Pods: labels that say whose a Pod is and which seat it holds, put back where somebody changed them.

What a Pod is decides nothing by its marks where they contradict what cannot be changed: its owner, its group, which
Kueue's webhook guards, and its name. So a Pod whose marks are taken off serves on in its seat, even where something in
the cluster takes them off again and again. Source: facts reconcile §2.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from modeldeployment.api import keys, names
from modeldeployment.reconcile.deciding.pacing import PAUSES
from modeldeployment.reconcile.deciding.seen import MARKS, Insisted, Member, Snapshot
from modeldeployment.reconcile.deciding.slots import matches
from modeldeployment.reconcile.deciding.steps import Reclaim
from modeldeployment.render import Rendering, RoleRendering, Seat

OFTEN: Final = 3
"""After so many times it is told that they do not stay."""

WATCHED_BY: Final[Mapping[str, str | None]] = {keys.NAME: keys.NAME_VALUE}
"""The mark without which a Pod is not watched at all."""

# What a role does, and whether its members are numbered, is as the spec was when the Pod was rendered.
_ALWAYS: Final = tuple(mark for mark in MARKS if mark not in (keys.ROLE_KIND, keys.MEMBER_INDEX))
_ORDINAL, _INDEX = MARKS.index(keys.ORDINAL), MARKS.index(keys.MEMBER_INDEX)


@dataclass(frozen=True, slots=True)
class Marking:
    """The members of a deployment, each in the seat that it was created for, and the marks to put back, by UID."""

    members: tuple[Member, ...]
    astray: Mapping[str, Mapping[str, str | None]]


def of(members: tuple[Member, ...], rendering: Rendering) -> Marking:
    """Seat every member, and tell what its labels should say; members beyond the declared seats stay as they are."""
    roles = {role.name: _Role(role) for role in rendering.roles}
    seated: dict[str, Member] = {}
    astray: dict[str, Mapping[str, str | None]] = {}
    groups: Mapping[str, tuple[_Role, int]] = {}
    for member in members:
        role = roles.get(member.role)
        if role is not None and role.settled(member):
            continue
        groups = groups or _groups(roles.values())
        found = _seat(member, role, groups)
        if found is None:
            continue
        role, placed = found
        if placed != member:
            seated[member.uid] = placed
        if not member.leaving and (wanted := role.differing(placed)):
            astray[member.uid] = wanted
    righted = tuple(seated.get(each.uid, each) for each in members) if seated else members
    return Marking(righted, astray)


def steps(marking: Marking, snapshot: Snapshot, going: Collection[str], now: datetime) -> list[Reclaim]:
    """Put marks back on members that stay, and the one that Pods are watched by on those that nobody sees."""
    given = [
        Reclaim(each.name, each.uid, marking.astray[each.uid])
        for each in (marking.members if marking.astray else ())
        if each.uid in marking.astray and each.uid not in going
    ]
    return [each for each in (*given, *_lost(snapshot)) if due(snapshot, each.uid, now) <= now]


def lost(snapshot: Snapshot, now: datetime) -> list[Reclaim]:
    """Put the mark that Pods are watched by back on those that nobody sees."""
    return [each for each in _lost(snapshot) if due(snapshot, each.uid, now) <= now]


def undone(marking: Marking, snapshot: Snapshot) -> Iterator[tuple[str, Mapping[str, str | None], Insisted]]:
    """The Pods whose marks do not stay, what is put back on each, and how often it was."""
    if not snapshot.insisted:
        return
    astray = {each.name: (each.uid, marking.astray[each.uid]) for each in marking.members if each.uid in marking.astray}
    hidden = {each.name: (each.uid, WATCHED_BY) for each in snapshot.answers.lost}
    for name, (uid, labels) in sorted((astray | hidden).items()):
        insisted = snapshot.insisted.get(uid)
        if insisted is not None and insisted.times >= OFTEN:
            yield name, labels, insisted


def next_look(marking: Marking, snapshot: Snapshot, now: datetime) -> datetime | None:
    """When marks that do not stay are put back once more; None where every mark is as it should be."""
    waiting = [due(snapshot, uid, now) for uid in (*marking.astray, *(each.uid for each in snapshot.answers.lost))]
    return min(waiting, default=None)


def due(snapshot: Snapshot, uid: str, now: datetime) -> datetime:
    """When the marks of a Pod may be put back: now, unless they were lately."""
    insisted = snapshot.insisted.get(uid)
    if insisted is None:
        return now
    return insisted.last + PAUSES[min(insisted.times, len(PAUSES) - 1)]


def _lost(snapshot: Snapshot) -> Iterator[Reclaim]:
    return (Reclaim(each.name, each.uid, WATCHED_BY) for each in snapshot.answers.lost)


class _Role:
    """A role and what its Pods are marked with."""

    def __init__(self, role: RoleRendering) -> None:
        self.rendered = role
        labels = role.template.labels(Seat(0, 0))
        self._fixed = tuple(labels.get(mark) for mark in MARKS[:_ORDINAL])

    def settled(self, member: Member) -> bool:
        """Whether a member holds a declared seat of its own, and is marked as its current render."""
        role, ordinal, marks = self.rendered, member.ordinal, member.marks
        return (
            ordinal is not None
            and ordinal < role.replicas
            and member.group == role.template.group(ordinal)
            and (not marks or (marks[:_ORDINAL] == self._fixed and marks[_ORDINAL] == str(ordinal)))
            and self._index(member, ordinal)
        )

    def _index(self, member: Member, ordinal: int) -> bool:
        if self.rendered.size == 1:
            return member.index == 0 and (not member.marks or member.marks[_INDEX] is None)
        return member.name == self.name(ordinal, member.index) and (
            not member.marks or member.marks[_INDEX] == str(member.index)
        )

    def name(self, ordinal: int, index: int) -> str:
        """The name of a member's Pod above size 1."""
        return names.member_pod(self.rendered.template.occupants.deployment, self.rendered.name, ordinal, index)

    def placed(self, member: Member, ordinal: int) -> Member:
        """A member in the seat of its group; its index is told by its fingerprint, or by its name."""
        role = self.rendered
        index = next(
            (
                each
                for each in range(role.size)
                if member.fingerprint == role.template.fingerprint(Seat(ordinal, each))
                or (role.size > 1 and member.name == self.name(ordinal, each))
            ),
            member.index,
        )
        if (member.role, member.ordinal, member.index) == (role.name, ordinal, index):
            return member
        return replace(member, role=role.name, ordinal=ordinal, index=index)

    def differing(self, member: Member) -> Mapping[str, str | None]:
        """The marks of a member in its seat that are other than they should be."""
        role, ordinal, index = self.rendered, member.ordinal, member.index
        if not member.marks or ordinal is None:
            return {}
        current = matches(member, ordinal, role)
        wanted: dict[str, str | None] = dict(role.template.labels(Seat(ordinal, index)))
        known: tuple[str, ...] = MARKS if current else _ALWAYS
        if not current and role.size > 1 and member.name == self.name(ordinal, index):
            known = (*_ALWAYS, keys.MEMBER_INDEX)
        return {
            mark: wanted.get(mark)
            for mark, held in zip(MARKS, member.marks, strict=True)
            if mark in known and held != wanted.get(mark)
        }


def _groups(roles: Iterable[_Role]) -> Mapping[str, tuple[_Role, int]]:
    """Every declared replica by its group."""
    return {
        role.rendered.template.group(ordinal): (role, ordinal)
        for role in roles
        for ordinal in range(role.rendered.replicas)
    }


def _seat(
    member: Member, labelled: _Role | None, groups: Mapping[str, tuple[_Role, int]]
) -> tuple[_Role, Member] | None:
    """The seat that a member was created for, told by its group; None where the group is that of no declared replica.

    One whose fingerprint is that of the seat its labels name is where they say: what somebody changed is its group.
    """
    if labelled is not None and member.ordinal is not None and matches(member, member.ordinal, labelled.rendered):
        return labelled, member
    found = groups.get(member.group)
    return None if found is None else (found[0], found[0].placed(member, found[1]))
