"""Why a deployment, a role or one replica does not serve, in lines and for programs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from modeldeployment.operator.errors import UsageError
from modeldeployment.operator.people.growing import link_row, spans
from modeldeployment.reconcile.deciding import slots
from modeldeployment.reconcile.explaining import chains, sentences
from modeldeployment.reconcile.explaining.links import Why

if TYPE_CHECKING:
    from modeldeployment.reconcile.explaining.chains import Explained, Waiting
    from modeldeployment.reconcile.explaining.links import Chain, Link
    from modeldeployment.reconcile.explaining.picture import Picture

_REMARKS = frozenset({Why.QUEUE_UNCHECKED})
"""What is worth a line and holds nothing."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked about: the whole deployment, a role of it, or one replica."""

    role: str = ""
    ordinal: int | None = None


def asked(text: str | None, picture: Picture, explained: Explained) -> Asked:
    """Read `role` or `role/ordinal`, declared or still there; raises UsageError that names what there is."""
    if text is None:
        return Asked()
    role, slash, number = text.partition("/")
    declared = {each.name: each.replicas for each in picture.snapshot.deployment.spec.roles}
    still = {each.name: sorted({*range(each.declared), *each.slots}) for each in explained.roles}
    name = picture.snapshot.deployment.metadata.name
    if role not in declared and role not in still:
        raise UsageError(f"{name} has no role {role!r}; it has {', '.join(declared)}")
    if not slash:
        return Asked(role)
    there = still.get(role, range(declared.get(role, 0)))
    if not number.isascii() or not number.isdecimal() or int(number) not in there:
        raise UsageError(f"{name} has no replica {text!r}; of that role there is {_known(role, there)}")
    return Asked(role, int(number))


def _known(role: str, ordinals: Sequence[int]) -> str:
    if not ordinals:
        return "none declared"
    if len(ordinals) > 1 and list(ordinals) == [*range(len(ordinals))]:
        return f"{role}/0 to {role}/{len(ordinals) - 1}"
    return spans([f"{role}/{each}" for each in ordinals])


@dataclass(frozen=True, slots=True)
class Answer:
    """What keeps what was asked about from serving; `serves` says that nothing does.

    `retiring` are replicas beside it that the spec does not declare any more.
    """

    picture: Picture
    ready: int
    declared: int
    about: str
    whole: tuple[Link, ...]
    chains: tuple[Chain, ...]
    retiring: tuple[Chain, ...] = ()

    @property
    def serves(self) -> bool:
        """Whether nothing is held."""
        return not self.chains and all(link.why in _REMARKS for link in self.whole)

    def lines(self) -> Iterator[str]:
        """One line a fact, what causes it below it, and at the end what helps. No cause is told twice."""
        if self.serves:
            yield f"{self.about} serves" + (
                "" if "/" in self.about else f": {self.ready} of {self.declared} replicas are ready"
            )
        yield from map(sentences.of, self.whole)
        starts = {chain.links[0] for chain in self.chains}
        told: set[Link] = set()
        for chain in self.chains:
            first, *others = chain.links
            yield f"{sentences.of(first)}{_alike(chain)}"
            # What another replica waits for is told once: as its own chain, or below the first that waits for it.
            own = [link for link in others if link.subject == first.subject or not (starts | told) & {*others}]
            told.update(own)
            yield from (f"  {sentences.of(link)}" for link in own)
        yield from (f"{sentences.of(chain.links[0])}{_alike(chain)}" for chain in self.retiring)
        every = (*self.whole, *(link for chain in (*self.chains, *self.retiring) for link in chain.links))
        ways = dict.fromkeys(way for link in every if (way := sentences.way_out(link)))
        yield from (f"what helps: {way}" for way in ways)

    def table(self) -> dict[str, Any]:
        """The same for programs."""
        meta = self.picture.snapshot.deployment.metadata
        return {
            "namespace": meta.namespace,
            "name": meta.name,
            "about": self.about,
            "serves": self.serves,
            "ready": self.ready,
            "declared": self.declared,
            "why": [link_row(link) for link in self.whole],
            "chains": _chain_rows(self.chains),
            "retiring": _chain_rows(self.retiring),
            "unread": list(self.picture.unread),
        }


def _alike(chain: Chain) -> str:
    return f" (as {spans(chain.subjects[1:])})" if len(chain.subjects) > 1 else ""


def _chain_rows(told: Iterable[Chain]) -> list[dict[str, Any]]:
    return [{"replicas": list(chain.subjects), "links": [link_row(link) for link in chain.links]} for chain in told]


def answer(picture: Picture, explained: Explained, of: Asked) -> Answer:
    """Pick from an explanation what was asked about."""
    name = picture.snapshot.deployment.metadata.name or ""
    waiting: tuple[Waiting, ...] = explained.of(of.role, of.ordinal) if of.role else explained.waiting
    retiring = explained.on_their_way(of.role, of.ordinal) if of.role else explained.retiring
    if of.ordinal is not None:
        waiting, retiring = (*retiring, *waiting), ()
    others = {f"role {each.name}" for each in picture.snapshot.deployment.spec.roles if each.name != of.role}
    whole = tuple(link for link in explained.whole if not of.role or link.subject not in others)
    seats = [
        (role, ordinal)
        for role in explained.roles
        for ordinal in range(role.declared)
        if of.role in ("", role.name) and of.ordinal in (None, ordinal)
    ]
    about = name if not of.role else f"role {of.role}" if of.ordinal is None else f"{of.role}/{of.ordinal}"
    ready = sum(slots.serving(role, ordinal) for role, ordinal in seats)
    return Answer(picture, ready, len(seats), about, whole, chains.folded(waiting), chains.folded(retiring))
