"""Whether a scaler may own its target, and what it does about it: the pure half of the binding fence.

The rows of `TABLE` are asked in order, and the first that knows the situation rules. Nothing here takes a target from
another scaler, and no term is used twice for one target: the next one is above everything that the target or the
scaler's status tells of.

Source: spec 3 §Binding fence, facts scaler §9, decisions D35.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from modeldeployment.api.binding import Binding, Decision
from modeldeployment.api.scalerconditions import ScalerReason


@dataclass(frozen=True, slots=True)
class Known:
    """The target that was planned for last, as the scaler's status keeps it."""

    uid: str
    term: int = 0
    """Highest term it was bound under; 0: under none."""


@dataclass(frozen=True, slots=True)
class Owner:
    """A scaler, as far as bindings go."""

    name: str
    uid: str
    generation: int
    active: bool
    """Whether its mode lets it own anything."""
    suspended: bool = False
    leaving: bool = False
    known: Known | None = None
    replaced_at: int | None = None
    """Generation under which `TargetReplaced` was reported; None where something else was reported last."""


@dataclass(frozen=True, slots=True)
class Claimed:
    """A target, as far as bindings go: the two annotations as they are written."""

    uid: str
    leaving: bool = False
    binding: str | None = None
    decision: str | None = None


@dataclass(frozen=True, slots=True)
class Acquire:
    """Write a binding under this term; nothing is planned before it stands."""

    term: int


@dataclass(frozen=True, slots=True)
class Hold:
    """The binding stands: plan, and commit under this term."""

    term: int


@dataclass(frozen=True, slots=True)
class Watch:
    """Plan, and write nothing to the target."""


@dataclass(frozen=True, slots=True)
class Release:
    """Take the scaler's own binding away, and leave the target serving."""

    term: int


@dataclass(frozen=True, slots=True)
class Stay:
    """Plan nothing and leave the target alone."""


Next: TypeAlias = Acquire | Hold | Watch | Release | Stay


@dataclass(frozen=True, slots=True)
class Ruling:
    """What a scaler may do with its target, and how its conditions say so."""

    next: Next
    bound: ScalerReason
    active: ScalerReason
    acknowledged: bool = False
    """Whether the target is another than before and the scaler's spec was edited since that was reported."""
    by: Binding | None = None
    """Who owns the target instead."""

    @property
    def needs_finalizer(self) -> bool:
        """Whether the target carries the scaler's binding, or is about to: deletion has something to release then."""
        return isinstance(self.next, Acquire | Hold | Release)


@dataclass(frozen=True, slots=True)
class _Situation:
    owner: Owner
    target: Claimed | None
    stored: Binding | None
    known: Known | None
    acknowledged: bool

    @property
    def ours(self) -> bool:
        return self.stored is not None and self.stored.scaler_uid == self.owner.uid

    def ruled(self, next_: Next, bound: ScalerReason, active: ScalerReason | None = None) -> Ruling:
        return Ruling(next_, bound, active or bound, self.acknowledged)


def ruling(owner: Owner, target: Claimed | None) -> Ruling:
    """Rule what a scaler does about its target; None is a target that is not there."""
    replaced = _replaced(owner, target)
    acknowledged = replaced and owner.replaced_at is not None and owner.generation > owner.replaced_at
    situation = _Situation(
        owner,
        target,
        Binding.parse(target.binding) if target is not None and target.binding is not None else None,
        None if acknowledged else owner.known,
        acknowledged,
    )
    for row in TABLE:
        ruled = row(situation)
        if ruled is not None:
            return ruled
    raise AssertionError("the last row of the table knows every situation")


def _replaced(owner: Owner, target: Claimed | None) -> bool:
    return owner.known is not None and target is not None and target.uid != owner.known.uid


# --- the table -------------------------------------------------------------------------------------------------------


def _leaving(seen: _Situation) -> Ruling | None:
    """Release what a deleted scaler owns, unless the target goes as well."""
    if not seen.owner.leaving:
        return None
    return seen.ruled(_given_back(seen), ScalerReason.SUSPENDED)


def _suspended(seen: _Situation) -> Ruling | None:
    """Release and plan nothing, whatever the target is like."""
    return seen.ruled(_given_back(seen), ScalerReason.SUSPENDED) if seen.owner.suspended else None


def _not_found(seen: _Situation) -> Ruling | None:
    """Find no target; one on its way out is none."""
    if seen.target is not None and not seen.target.leaving:
        return None
    return seen.ruled(Stay(), ScalerReason.TARGET_NOT_FOUND)


def _another(seen: _Situation) -> Ruling | None:
    """Find another target of the same name that nobody has acknowledged."""
    if seen.known is None or seen.target is None or seen.target.uid == seen.known.uid:
        return None
    return seen.ruled(Stay(), ScalerReason.TARGET_REPLACED)


def _unreadable(seen: _Situation) -> Ruling | None:
    """Find a binding that does not say whose it is."""
    if seen.target is None or seen.target.binding is None or seen.stored is not None:
        return None
    return seen.ruled(Stay(), ScalerReason.INVALID_BINDING)


def _others(seen: _Situation) -> Ruling | None:
    """Leave another's binding in place. Shadow plans beside it, since it would not write anyway."""
    if seen.stored is None or seen.ours:
        return None
    if seen.owner.active:
        return Ruling(Stay(), ScalerReason.ALREADY_BOUND, ScalerReason.ALREADY_BOUND, seen.acknowledged, by=seen.stored)
    return Ruling(Watch(), ScalerReason.ALREADY_BOUND, ScalerReason.SHADOW_MODE, seen.acknowledged, by=seen.stored)


def _shadow(seen: _Situation) -> Ruling | None:
    """Release what was owned while the mode was another, then plan without owning."""
    if seen.owner.active:
        return None
    given_back = _given_back(seen)
    next_ = given_back if isinstance(given_back, Release) else Watch()
    return seen.ruled(next_, ScalerReason.BOUND, ScalerReason.SHADOW_MODE)


def _own(seen: _Situation) -> Ruling | None:
    """Hold the binding, or take it under the next term where there is none or it has fallen behind."""
    term = _term(seen)
    held = seen.stored is not None and seen.stored.term >= term
    return seen.ruled(Hold(seen.stored.term) if held and seen.stored else Acquire(term + 1), _BOUND, _ACTIVE)


TABLE: Final[tuple[Callable[[_Situation], Ruling | None], ...]] = (
    _leaving,
    _suspended,
    _not_found,
    _another,
    _unreadable,
    _others,
    _shadow,
    _own,
)
"""In order of precedence."""

_BOUND: Final = ScalerReason.BOUND
_ACTIVE: Final = ScalerReason.ACTIVE


def _given_back(seen: _Situation) -> Next:
    going = seen.target is None or seen.target.leaving
    return Release(seen.stored.term) if seen.ours and seen.stored is not None and not going else Stay()


def _term(seen: _Situation) -> int:
    """The highest term that anything tells of, 0 where nothing does; the target's own binding is told by the caller."""
    decision = Decision.parse(seen.target.decision) if seen.target is not None and seen.target.decision else None
    return max(decision.term if decision is not None else 0, seen.known.term if seen.known is not None else 0)
