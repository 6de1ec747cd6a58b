"""Bounds of time that are told as well as kept, and which statuses may wait: those that count on the last one.

While hundreds of replicas start, each moves a figure three or four times, and nobody reads every figure. A phase
or a condition that flips is written at once, and the last figures always are.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, cast

REST: Final = timedelta(seconds=1)
"""How long a status stands at the least before one that only counts on replaces it, and any waits for set admission.

That is where the API server is quick to answer.
"""

LONGEST_REST: Final = timedelta(seconds=5)
"""How long an API server that is slow to take statuses keeps one waiting at the most, and sets that open a figure."""

_ABREAST: Final = 2
"""So many statuses are under way at a time, on the average, where the API server is slow to take them."""

MINUTE: Final = timedelta(minutes=1)

LONGEST_HOLD: Final = timedelta(minutes=30)
"""A complete set that was held strictly longer is parked (facts atomic-admission §6)."""

LONGEST_YIELD: Final = timedelta(minutes=30)
"""After so long a set that gave way tries again, whatever became of the older one (decisions D18)."""

PAUSES: Final = (timedelta(), timedelta(seconds=2), timedelta(seconds=10), MINUTE, 10 * MINUTE)
"""How long marks of a Pod that were put back so often are left as they are, before they are put back once more."""

_FIGURES: Final = frozenset({"phaseMessage", "roleSummary"})
_OF_ROLES: Final = frozenset({"ready", "quotaReserved", "assignedFlavors", "endpoints"})
_OF_CONDITIONS: Final = frozenset({"message"})


def rest(took: timedelta, waiting: int) -> timedelta:
    """How long a status rests that may wait, beside so many others, where the last one took so long to be written."""
    return min(max(REST, took * waiting / _ABREAST), LONGEST_REST)


@dataclass(frozen=True, slots=True)
class Untold:
    """A status that was decided and not written: since when it waits, and whether only figures moved."""

    since: datetime
    figures: bool


def due(
    held: Untold | None, last: datetime | None, now: datetime, rest: timedelta, *, figures: bool, busy: bool
) -> tuple[datetime, Untold | None]:
    """When a status decided now is to be written, and what is to be known of it until then.

    `held` is what is known already, `last` when one was last written, `figures` whether only those moved, `busy`
    whether sets are being admitted. A flip that joins figures begins to wait anew.
    """
    if figures and last is not None and now - last < rest:
        return last + rest, held
    since = now if held is None or (held.figures and not figures) else held.since
    return since + (LONGEST_REST if figures else rest) if busy else now, Untold(since, figures)


def counts_on(status: Mapping[str, object], patch: Mapping[str, object]) -> bool:
    """Whether a patch changes nothing in a stored status but figures and the messages that say them."""
    return all(
        field in _FIGURES
        or (field == "roles" and _alike(status.get(field), value, _OF_ROLES))
        or (field == "conditions" and _alike(status.get(field), value, _OF_CONDITIONS))
        for field, value in patch.items()
    )


def same_step(status: Mapping[str, object], patch: Mapping[str, object]) -> bool:
    """Whether a patch of `retirement` only says anew what the same step of the same operation waits for."""
    before, after = status.get("retirement"), patch.get("retirement")
    if not isinstance(before, Mapping) or not isinstance(after, Mapping):
        return False
    return all(before.get(name) == value for name, value in after.items() if name != "reason")


def _alike(before: object, after: object, figures: frozenset[str]) -> bool:
    return _without(before, figures) == _without(after, figures)


def _without(entries: object, figures: frozenset[str]) -> list[dict[str, object]]:
    listed = cast("list[Mapping[str, object]]", entries or [])
    return [{name: value for name, value in each.items() if name not in figures} for each in listed]
