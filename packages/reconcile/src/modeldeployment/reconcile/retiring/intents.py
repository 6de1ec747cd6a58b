"""What the spec wants gone: Pods that leave together, in the order in which they are to leave, and what holds one back.

Source: facts shutdown §2 (what starts an operation), facts reconcile §7, decisions D6, D9, D49.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum, auto
from functools import cached_property
from typing import Final

DRAIN: Final = timedelta(seconds=240)
"""How long a replica may take to run empty (facts shutdown §2)."""


@dataclass(frozen=True, slots=True)
class Occupant:
    """One Pod as the protocol sees it.

    `leads` says whether requests are sent to it, so that it is the one that is read (decisions D9). `eligible` is its
    label. `over` says that its containers have ended, `untouched` that its engine has never answered its start-up gate
    since the Pod was made, so that no request can have reached it.
    """

    uid: str
    name: str
    leads: bool = True
    eligible: bool = False
    leaving: bool = False
    over: bool = False
    untouched: bool = False

    @property
    def stands(self) -> bool:
        """Whether it can still be retired: nobody deleted it, and it has not ended."""
        return not self.leaving and not self.over


@dataclass(frozen=True)
class Intent:
    """Pods that the spec wants gone together: one replica, or all surplus Pods of a role as one operation.

    `ordinal` is the replica's, of surplus Pods the highest. `workload` is the UID of the Workload that goes with them,
    empty where there is none. `window` is how long a half of a pair stays idle before it goes (decisions D6), None for
    any other. `last` says that a router would be left with no worker of its kind (decisions D49).
    """

    role: str
    ordinal: int
    members: tuple[Occupant, ...]
    workload: str = ""
    window: timedelta | None = None
    last: bool = False

    @cached_property
    def uids(self) -> frozenset[str]:
        """The UIDs of its members."""
        return frozenset(member.uid for member in self.members)


class Held(Enum):
    """Why an intent cannot become an operation now."""

    NO_UID = auto()
    LAST_OF_KIND = auto()
    WINDOW_TOO_LONG = auto()
    OTHER_UNDER_WAY = auto()
    OTHER_RETAINED = auto()


def held(intent: Intent) -> Held | None:
    """What holds an intent back by itself, whatever else is under way."""
    if not intent.members or any(not member.uid for member in intent.members):
        return Held.NO_UID
    if intent.last:
        return Held.LAST_OF_KIND
    if intent.window is not None and intent.window >= DRAIN:
        return Held.WINDOW_TOO_LONG
    return None


def first(intents: Iterable[Intent]) -> Intent | None:
    """The first that nothing holds back: one that is held does not hold back those behind it."""
    return next((intent for intent in intents if held(intent) is None), None)


def wanted(intents: Iterable[Intent]) -> frozenset[str]:
    """The UIDs of all Pods that the spec wants gone."""
    return frozenset().union(*(intent.uids for intent in intents))
