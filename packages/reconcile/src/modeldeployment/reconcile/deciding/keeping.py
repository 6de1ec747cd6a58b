"""Wanted objects against owned ones, of any kind: what is missing, what has drifted, what is no longer wanted.

Ownership is by UID. An object of a wanted name that somebody else owns is never taken over (facts reconcile §8).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from modeldeployment.reconcile.deciding.drifting import drift, marks, replaced
from modeldeployment.reconcile.deciding.seen import Names, OwnedKind, SeenObject
from modeldeployment.reconcile.deciding.steps import AlignObject, CreateObject, DeleteObject, Step


class Ref(NamedTuple):
    """One object of the deployment's namespace."""

    kind: OwnedKind
    name: str


Bodies = Mapping[Ref, Mapping[str, object]]


@dataclass(frozen=True, slots=True)
class Keeping:
    """The steps about some objects of a pass.

    `unknown` are wanted names of which nobody has said yet who holds them; while there is one, the steps are not
    complete. `taken` are wanted names that somebody else holds.
    """

    steps: tuple[Step, ...] = ()
    unknown: tuple[Ref, ...] = ()
    taken: tuple[Ref, ...] = ()


def ref(body: Mapping[str, object]) -> Ref:
    """Which object a rendered body is."""
    metadata = body["metadata"]
    assert isinstance(metadata, Mapping)
    return Ref(OwnedKind(str(body["kind"])), str(metadata["name"]))


def of(
    bodies: Bodies, seen: Iterable[SeenObject], names: Mapping[OwnedKind, Names], *, together: bool = False
) -> Keeping:
    """Compare wanted with owned objects; where a wanted one is not owned, `names` says who holds its name.

    An object that is ours and only lost the labels by which it is watched gets them back. One that is on its way out is
    not written again: once it has gone it is missing. `together` objects are of use only all of them: none is created
    beside a name that somebody else holds.
    """
    owned = {Ref(each.kind, each.name): each for each in seen}
    absent = [each for each in bodies if each not in owned]
    unknown = tuple(each for each in absent if each.kind not in names)
    known = [each for each in absent if each.kind in names]
    taken = tuple(each for each in known if each.name in names[each.kind].foreign)
    steps: list[Step] = []
    for each in known:
        body = bodies[each]
        if each.name in names[each.kind].ours:
            steps.append(AlignObject(*each, names[each.kind].ours[each.name], marks(body, {})))
        elif each not in taken and not (together and (taken or unknown)):
            steps.append(CreateObject(*each, body))
    for each, body in bodies.items():
        if each not in owned or owned[each].leaving:
            continue
        if replaced(each.kind, body, owned[each].body):
            steps.append(DeleteObject(*each, owned[each].uid))
        elif patch := drift(each.kind, body, owned[each].body):
            steps.append(AlignObject(*each, owned[each].uid, patch))
    steps += [
        DeleteObject(*each, owned[each].uid)
        for each in sorted(owned)
        if each not in bodies and owned[each].managed and not owned[each].leaving
    ]
    return Keeping(tuple(steps), unknown, taken)
