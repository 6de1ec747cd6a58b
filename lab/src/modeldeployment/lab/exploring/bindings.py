"""Who may write: the real ruling over a target's binding, and what people and other scalers do to it."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from modeldeployment.api.binding import Binding, Decision
from modeldeployment.scaler import binding

TERMS: Final = 3
"""Terms that are told apart; after the last one nobody binds any more."""
UID: Final = "scaler"


class Bond(NamedTuple):
    """A target's binding, and what the scaler knows of it."""

    active: bool = True
    suspended: bool = False
    owner: str = ""
    """Empty, the scaler's UID, another's, or `?` where it cannot be parsed."""
    term: int = 0
    known: int = 0
    """The highest term that status tells of."""
    decided: int = 0
    """The term of the last decision on the target."""


class Ruled(NamedTuple):
    """What a bond lets happen."""

    nexts: tuple[tuple[Bond, bool], ...]
    """With whether it is an edit of the scaler's spec."""
    plans: bool
    writes: bool
    after_write: Bond
    unbound: bool
    broken: tuple[str, ...]


def ruled(bond: Bond) -> Ruled:
    """Ask the ruling, and whoever else may touch the binding."""
    owner = binding.Owner(
        name="chat",
        uid=UID,
        generation=1,
        active=bond.active,
        suspended=bond.suspended,
        known=binding.Known(uid="target", term=bond.known),
    )
    decision = Decision(decision_id="d", term=bond.decided, vector={"prefill": 2}).text() if bond.decided else None
    claimed = binding.Claimed(uid="target", binding=_text(bond), decision=decision)
    next_ = binding.ruling(owner, claimed).next
    broken: list[str] = []
    following = [(each, False) for each in _others(bond)]
    following += [
        (bond._replace(active=not bond.active), True),
        (bond._replace(suspended=not bond.suspended), True),
    ]
    match next_:
        case binding.Acquire(term=term):
            if bond.owner not in ("", UID):
                broken.append("No target is taken from another.")
            if term <= max(bond.known, bond.decided, bond.term):
                broken.append("Terms never fall, and none is used twice.")
            if term <= TERMS:
                taken = bond._replace(owner=UID, term=term)
                # the answer may be lost, or the process may end before status knows
                following += [(taken._replace(known=term), False), (taken, False)]
        case binding.Release():
            if bond.owner != UID:
                broken.append("Only one's own binding is released.")
            following.append((bond._replace(owner="", term=0), False))
        case binding.Hold(term=term):
            if bond.owner != UID or term != bond.term or not bond.active or bond.suspended:
                broken.append("Counts are written under one's own binding and its term.")
            following.append((bond._replace(known=max(bond.known, term)), False))
    return Ruled(
        tuple(each for each in dict.fromkeys(following) if each[0] != bond),
        isinstance(next_, binding.Hold | binding.Watch),
        isinstance(next_, binding.Hold),
        bond._replace(decided=bond.term, known=max(bond.known, bond.term)),
        bond.owner in ("", "?"),
        tuple(broken),
    )


def _text(bond: Bond) -> str | None:
    if not bond.owner:
        return None
    if bond.owner == "?":
        return "?"
    return Binding(scaler_name="chat", scaler_uid=bond.owner, term=bond.term).text()


def _others(bond: Bond) -> Iterator[Bond]:
    if not bond.owner:
        if bond.decided < TERMS:
            yield bond._replace(owner="other", term=bond.decided + 1)
        yield bond._replace(owner="?", term=0)
    elif bond.owner == "other":
        yield bond._replace(owner="", term=0)
        if bond.decided < bond.term:
            yield bond._replace(decided=bond.term)
    elif bond.owner == "?":
        yield bond._replace(owner="", term=0)
