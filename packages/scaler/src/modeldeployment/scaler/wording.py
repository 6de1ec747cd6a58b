"""The sentences of `Bound` and `Active`, and of the events of a scaler; those of planning are `planning.sentences`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, assert_never

from modeldeployment.api import keys
from modeldeployment.api.scalerconditions import ScalerEvent, ScalerReason
from modeldeployment.scaler.binding import Acquire, Hold, Release, Ruling, Stay, Watch
from modeldeployment.scaler.planning.outcome import Move


@dataclass(frozen=True, slots=True)
class Told:
    """An event to record: Normal or Warning, why, and the sentence."""

    type: Literal["Normal", "Warning"]
    reason: ScalerEvent
    note: str


def bound(ruling: Ruling, target: str, *, orphaned: bool = False) -> str:
    """What `Bound` says; `orphaned` tells that the scaler whose binding stands is there no more."""
    match ruling.bound:
        case ScalerReason.BOUND:
            return _owned(ruling, target)
        case ScalerReason.TARGET_NOT_FOUND:
            return f"there is no ModelDeployment {target} in this namespace, or it is being deleted"
        case ScalerReason.TARGET_REPLACED:
            return (
                f"ModelDeployment {target} was deleted and created anew, and nothing is planned for the new one; hint: "
                "edit the spec of this scaler to take it on, which forgets everything about the one before"
            )
        case ScalerReason.INVALID_BINDING:
            return (
                f"the annotation {keys.SCALER_BINDING} of ModelDeployment {target} cannot be read, so nobody knows "
                f"which scaler owns it; hint: {_taken_away(target)}"
            )
        case ScalerReason.ALREADY_BOUND:
            return _others(ruling, target, orphaned=orphaned)
        case _:
            return "spec.suspend is true: nothing is planned, and no deployment is owned"


def active(ruling: Ruling, target: str, *, orphaned: bool = False) -> str:
    """What `Active` says."""
    match ruling.active:
        case ScalerReason.ACTIVE:
            return f"counts of ModelDeployment {target} are committed under {_term(ruling)}"
        case ScalerReason.SHADOW_MODE:
            return "spec.mode is Shadow: recommendations are told here, and no count is written"
        case _:
            return bound(ruling, target, orphaned=orphaned)


def _owned(ruling: Ruling, target: str) -> str:
    match ruling.next:
        case Watch() | Release():
            return f"ModelDeployment {target} is there; Shadow plans for it without owning it"
        case Acquire() | Hold():
            return f"this scaler owns the counts of ModelDeployment {target} under {_term(ruling)}"
        case Stay():
            return f"ModelDeployment {target} is there"
        case other:
            assert_never(other)


def _term(ruling: Ruling) -> str:
    return f"term {ruling.next.term}" if isinstance(ruling.next, Acquire | Hold) else "its binding"


def _others(ruling: Ruling, target: str, *, orphaned: bool) -> str:
    owner = ruling.by
    name, term = (owner.scaler_name, owner.term) if owner is not None else ("another", 0)
    if orphaned:
        return (
            f"ModelDeployment {target} carries a binding of the ModelDeploymentScaler {name} under term {term}, which "
            f"is there no more; hint: {_taken_away(target)}"
        )
    beside = "; Shadow plans beside it" if isinstance(ruling.next, Watch) else ""
    return (
        f"the ModelDeploymentScaler {name} owns ModelDeployment {target} under term {term}{beside}; hint: suspend or "
        f"delete {name}, which releases it"
    )


def _taken_away(target: str) -> str:
    return f"take it away, and change nothing else: kubectl annotate modeldeployment {target} {keys.SCALER_BINDING}-"


# --- events ----------------------------------------------------------------------------------------------------------


def taken(target: str, term: int) -> Told:
    """Say that a binding was written."""
    return Told("Normal", ScalerEvent.BOUND, f"owns the counts of ModelDeployment {target} under term {term}")


def released(target: str, term: int) -> Told:
    """Say that a binding was taken away."""
    note = f"owns the counts of ModelDeployment {target} no more; the binding of term {term} is taken away"
    return Told("Normal", ScalerEvent.RELEASED, note)


def committed(move: Move, before: Mapping[str, int], after: Mapping[str, int], decision: str) -> Told:
    """Say which counts were written, and what for."""
    moved = changed(before, after)
    match move:
        case Move.PLANNED:
            return Told("Normal", ScalerEvent.COMMITTED, f"{moved} (decision {decision})")
        case Move.ROLLBACK:
            note = f"{moved}: what was added was not admitted in time, and is taken back (decision {decision})"
            return Told("Warning", ScalerEvent.ROLLED_BACK, note)
        case Move.RESTORE:
            note = f"{moved}: a retirement was aborted, and what it was for is taken back (decision {decision})"
            return Told("Warning", ScalerEvent.RESTORED, note)
        case Move.DONOR_RELEASE:
            note = f"{moved}: a replica makes room for another role (decision {decision})"
            return Told("Normal", ScalerEvent.COMMITTED, note)
        case Move.RECEIVER_ACQUIRE:
            note = f"{moved}: takes the room that another role made (decision {decision})"
            return Told("Normal", ScalerEvent.COMMITTED, note)
        case other:
            assert_never(other)


def abandoned(before: Mapping[str, int], after: Mapping[str, int], why: str) -> Told:
    """Say that counts were planned and not written."""
    return Told("Normal", ScalerEvent.COMMIT_ABANDONED, f"{changed(before, after)} was not written: {why}")


def refused(what: str, why: str) -> Told:
    """Say that the API server, or a webhook, does not let something be written."""
    return Told("Warning", ScalerEvent.WRITE_REFUSED, f"{what} was refused: {why}")


def reverted(found: Mapping[str, int], committed_: Mapping[str, int], managers: tuple[str, ...]) -> Told:
    """Say who wrote counts that are this scaler's to write."""
    by = f"by {' and '.join(managers)}" if managers else "by somebody else"
    note = (
        f"{changed(committed_, found)} was written {by}, and this scaler owns the counts; hint: have it ignore "
        f"replicas and both scaler annotations (spec.ignoreDifferences of Argo CD, spec.ignore of Flux)"
    )
    return Told("Warning", ScalerEvent.COUNTS_REVERTED, note)


def changed(before: Mapping[str, int], after: Mapping[str, int]) -> str:
    """The counts that differ, as `server 2 -> 3`."""
    moved = [f"{name} {before.get(name, 0)} -> {count}" for name, count in after.items() if before.get(name) != count]
    return ", ".join(moved) or "the same counts"
