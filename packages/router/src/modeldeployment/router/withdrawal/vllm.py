"""How `vllm-router` from 0.1.17 on is shown to have let go of a member. Source: facts routers-measured §3, §4 and §7.

It drops a Pod within moments of the label, and is told to over its API as well, which keeps it from putting the Pod
back while it still matches. The list alone proves nothing: a request that was given its two halves before still arrives
at the decode half once its prefill half is done. So its counter of picks must stand still and nothing may be pending.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from modeldeployment.api.choices import RoleKind
from modeldeployment.router.withdrawal import listing, numbers, removing, unbroken
from modeldeployment.router.withdrawal.asking import LIST, NUMBERS, Ask, Heard, State, Step, Subject
from modeldeployment.router.withdrawal.listing import Strange, Worker

PICKED: Final = "vllm_router_processed_requests_total"
"""Counts a request when a worker is picked for it; survives the worker's removal."""
RUNNING: Final = "vllm_router_running_requests"
"""What is under way without a pair; only some policies count it."""
PENDING: Final = "vllm_router_pd_pending_decode_requests"
"""Requests that a decode half was picked for and that have not come to it yet."""
_ACTIVE: Final = "vllm_router_pd_active_decode_requests"
_OCCUPIED: Final = "vllm_router_pd_prefill_occupancy"
_UNKNOWN: Final = "vllm_router_pd_unknown_prefill_requests"
_KNOWN: Final = "vllm_router_worker_health"
_UNDER_WAY: Final = (RUNNING, _ACTIVE, _OCCUPIED, _UNKNOWN)
_SERIES: Final = (PICKED, PENDING, _KNOWN, *_UNDER_WAY)
_OF_A_PAIR: Final = {RoleKind.DECODE: (PENDING, _ACTIVE), RoleKind.PREFILL: (_OCCUPIED,)}
"""What is published of a pair's half once it has been picked."""
_BLIND: Final = timedelta(seconds=5)
"""How long it may list a member before it is told: it may not see the API server now, or be waiting for a sick Pod."""
_LOOK: Final = (LIST, NUMBERS)


def withdraw(state: State | None, heard: Sequence[Heard], subject: Subject, now: datetime) -> Step:
    """Say what follows, on the way to a router that sends the member nothing more. The label is off already."""
    state = unbroken.begun(state, now)
    listed = unbroken.answer(heard, LIST)
    if listed is None:
        return unbroken.waiting(state, subject, "has not been asked yet", _LOOK, 0.0)
    try:
        state = _told(state, heard, now)
        workers = listing.workers(listed, by_id=False)
        mine = listing.of(workers, subject)
        if mine:
            return _still_listed(state, mine, subject, now)
        if state.told is None:
            asks = (_delete(listing.key_of(subject.url)), *_LOOK)
            return unbroken.waiting(unbroken.told(state, now), subject, "no longer lists the member", asks, 0.0)
        return _absent(state, workers, unbroken.answer(heard, NUMBERS), subject, now)
    except Strange as strange:
        return unbroken.unsure(state, subject, str(strange), _LOOK, now)


def restore(state: State | None, heard: Sequence[Heard], subject: Subject, now: datetime) -> Step:
    """Say what follows, on the way to a router that sends it requests again: the label is back, and mostly suffices."""
    return removing.restore(removing.VLLM, state, heard, subject, now)


def _told(state: State, heard: Sequence[Heard], now: datetime) -> State:
    """Take note that it agreed to a removal, which it does for any worker, known or not."""
    for each in heard:
        if each.ask.method == "DELETE":
            if not each.answered:
                raise Strange(f"answers {each}")
            state = replace(state, told=state.told or now)
    return state


def _delete(key: str) -> Ask:
    return Ask("DELETE", f"/workers/{key}")


def _still_listed(state: State, mine: tuple[Worker, ...], subject: Subject, now: datetime) -> Step:
    url = mine[0].url
    if unbroken.spent(state, now):
        return unbroken.kept(state, subject, url, _LOOK)
    if state.tried is None and now - state.since < _BLIND:
        return unbroken.waiting(state, subject, f"still lists {url}", _LOOK, unbroken.pace(state, now))
    asks = (*(_delete(each.key) for each in mine), *_LOOK)
    why = f"still lists {url}, which it was told to remove"
    return unbroken.waiting(unbroken.told(state, now), subject, why, asks, unbroken.pace(state, now))


def _absent(state: State, workers: tuple[Worker, ...], heard: Heard | None, subject: Subject, now: datetime) -> Step:
    if heard is None:
        return unbroken.waiting(state, subject, "has not been asked for its numbers yet", _LOOK, 0.0)
    said = numbers.read(heard, _SERIES, subject)
    if workers and not said.family:
        raise Strange("publishes numbers that are none of vllm-router")
    missing = [name for name in _expected(subject) if said.of(PICKED) and name not in said.sums]
    if missing:
        raise Strange(f"does not publish {missing[0]} of a worker that it has picked")
    if not listing.peers(workers, subject):
        return unbroken.waiting(state, subject, f"lists no other {subject.word} worker", _LOOK, unbroken.SELDOM)
    if pending := said.of(PENDING):
        why = f"has {pending:.0f} requests that {subject.name} was picked for and that have yet to come to it"
        return unbroken.waiting(state, subject, why, _LOOK, unbroken.SELDOM / 2)
    counts = any(name in said.sums for name in _UNDER_WAY)
    quiet = said.of(*_UNDER_WAY) == 0 if counts else None
    return unbroken.standing(state, subject, said.of(PICKED), _LOOK, now, quiet=quiet)


def _expected(subject: Subject) -> tuple[str, ...]:
    return _OF_A_PAIR.get(subject.kind, ()) if subject.paired else ()
