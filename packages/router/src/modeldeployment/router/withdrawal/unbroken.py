"""How long something must stand, and what breaks it: the times of a proof, and what all programs share.

Source: facts routers-measured §7.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from modeldeployment.router.withdrawal.asking import Ask, Heard, State, Step, Subject, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

STILL: Final = timedelta(seconds=2)
"""How long nothing may speak against a proof, unbroken."""
PATIENCE: Final = timedelta(seconds=10)
"""How long a router may answer nothing of use, or list a worker that it agreed to remove."""
OFTEN: Final = 0.1
"""Seconds between two looks at a list that is about to change."""
SELDOM: Final = 1.0
"""Seconds between two looks at what changes by itself, like requests under way."""
KEPT: Final = 2.0
"""Seconds between two looks at what is proven, to see that it stays so."""
_SOON: Final = timedelta(seconds=1)
_AFTER: Final = 0.5


def begun(state: State | None, now: datetime) -> State:
    """Answer the state, or the one at the beginning."""
    return State(now) if state is None else state


def answer(heard: Sequence[Heard], ask: Ask) -> Heard | None:
    """Find the last answer to a request; None where it was not asked."""
    return next((each for each in reversed(heard) if each.ask == ask), None)


def pace(state: State, now: datetime) -> float:
    """Answer how long to rest before the next look at a list that should change: often, and then less so."""
    return OFTEN if now - (state.told or state.since) < _SOON else _AFTER


def told(state: State, now: datetime) -> State:
    """Take note that it is told to remove the member now, or to take it back."""
    return replace(state, tried=state.tried or now, asked=now)


def spent(state: State, now: datetime) -> bool:
    """Whether it was told to remove the member so long ago that it will not."""
    return state.tried is not None and now - state.tried >= PATIENCE


def unsure(state: State, subject: Subject, why: str, asks: tuple[Ask, ...], now: datetime) -> Step:
    """A router whose answer cannot be used: nothing is proven, and after a while nothing can be."""
    trouble = state.trouble or now
    over = now - trouble >= PATIENCE
    reason = f"{subject.router} {why}"
    if over:
        reason += f", for {PATIENCE.total_seconds():.0f} s; find out what is wrong with that router"
    verdict = Verdict.IMPOSSIBLE if over else Verdict.WAITING
    return Step(replace(state, trouble=trouble, still=None), asks, _AFTER, verdict, reason)


def waiting(state: State, subject: Subject, why: str, asks: tuple[Ask, ...], rest: float) -> Step:
    """A router of which something is still awaited, which breaks the proof."""
    return Step(replace(state, trouble=None, still=None), asks, rest, Verdict.WAITING, f"{subject.router} {why}")


def impossible(state: State, subject: Subject, why: str, asks: tuple[Ask, ...]) -> Step:
    """A router that can prove nothing."""
    return Step(replace(state, still=None), asks, KEPT, Verdict.IMPOSSIBLE, f"{subject.router} {why}")


def kept(state: State, subject: Subject, url: str, asks: tuple[Ask, ...]) -> Step:
    """A router that keeps a worker which it was told to remove."""
    why = f"still lists {url}, {PATIENCE.total_seconds():.0f} s after it was told to remove it"
    return impossible(state, subject, why, asks)


def standing(
    state: State, subject: Subject, counted: float, asks: tuple[Ask, ...], now: datetime, *, quiet: bool | None = None
) -> Step:
    """A router of which nothing speaks against the proof: it holds once that has stood long enough.

    A counter that moved begins it anew. `quiet` says whether nothing is under way either, None where it does not count.
    """
    still = state.still if state.still is not None and state.counted == counted else now
    state = replace(state, trouble=None, still=still, counted=counted)
    until = still + STILL
    if now >= until:
        reason = f"{subject.router} sends {subject.name} nothing more"
        return Step(state, asks, SELDOM if quiet is False else KEPT, Verdict.PROVEN, reason, quiet=quiet)
    rest = min(SELDOM, (until - now).total_seconds())
    reason = f"{subject.router} no longer lists {subject.name}, which has to stand for {STILL.total_seconds():.0f} s"
    return Step(state, asks, rest, Verdict.WAITING, reason, quiet=quiet, until=until)


def restored(state: State, subject: Subject, asks: tuple[Ask, ...]) -> Step:
    """A router that lists the member again."""
    state = replace(state, trouble=None, still=None)
    return Step(state, asks, KEPT, Verdict.PROVEN, f"{subject.router} lists {subject.name} again")
