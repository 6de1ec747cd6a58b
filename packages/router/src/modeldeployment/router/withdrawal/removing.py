"""Routers that are told to drop a member, or to take it back, over their worker API.

The gateway of SGLang and `vllm-router` before 0.1.17 drop one only then. They do not notice that the label is off, and
once it is, not even the Pod's deletion: told nothing, they keep it for ever. Told, they drop it within moments and
never put it back. What they have sent before is counted by none of their numbers, so the engine itself says whether it
is still under way. Source: facts routers-measured §1 to §3, §5 and §7.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Final

from modeldeployment.router.withdrawal import listing, numbers, unbroken
from modeldeployment.router.withdrawal.asking import LIST, NUMBERS, Ask, Heard, State, Step, Subject
from modeldeployment.router.withdrawal.listing import Strange, Worker

_AGAIN: Final = timedelta(seconds=1)
_TAKEN_BACK: Final = timedelta(seconds=5)
"""How long it may take to list a worker again before it is told once more."""
_LOOK: Final = (LIST, NUMBERS)


@dataclass(frozen=True, slots=True)
class Program:
    """What one such program does its own way.

    `by_id` says whether it names workers by ids of its own. `known` is a series that every worker it ever listed has,
    also once it was removed. `agrees` are its answers to a removal that say that the worker goes, or is gone; `adds`
    those to an addition that say that it comes, or is there. `takes_pairs` says whether it adds a pair's half. `sees`
    is how long the label alone may take to bring a worker back; zero where it never does.
    """

    by_id: bool
    known: str
    agrees: frozenset[int]
    adds: frozenset[int]
    takes_pairs: bool
    sees: timedelta = timedelta(0)


def withdraw(program: Program, state: State | None, heard: Sequence[Heard], subject: Subject, now: datetime) -> Step:
    """Say what follows, on the way to a router that sends the member nothing more. The label is off already.

    One that never listed it proves nothing: it may have found the Pod and wait to add it, and the label no longer
    matters then. A worker that it has removed before, for whoever asked, is known by a series it leaves behind; and one
    that began after the label was off never found it.
    """
    state = unbroken.begun(state, now)
    if any(each.forbidden for each in heard):
        return unbroken.impossible(state, subject, _closed(subject), _LOOK)
    listed = unbroken.answer(heard, LIST)
    if listed is None:
        return unbroken.waiting(state, subject, "has not been asked yet", _LOOK, 0.0)
    try:
        state = _agreed(program, state, heard, now)
        workers = listing.workers(listed, by_id=program.by_id)
        mine = listing.of(workers, subject)
        if not listing.peers(workers, subject):
            why = f"lists no other {subject.word} worker, so every request would be refused"
            return unbroken.waiting(state, subject, why, _LOOK, unbroken.SELDOM)
        if mine:
            return _remove(state, mine, subject, now)
        if state.told is None and not subject.fresh:
            _was_known(program, unbroken.answer(heard, NUMBERS), subject)
        return unbroken.standing(replace(state, told=state.told or now), subject, 0.0, _LOOK, now)
    except Strange as strange:
        return unbroken.unsure(state, subject, str(strange), _LOOK, now)


def restore(program: Program, state: State | None, heard: Sequence[Heard], subject: Subject, now: datetime) -> Step:
    """Say what follows, on the way to a router that sends it requests again: where the label does not, a request does.

    The label is back. One that was blind while it went and came has not noticed anything, and keeps the worker out.
    """
    state = unbroken.begun(state, now)
    if any(each.forbidden for each in heard):
        return unbroken.impossible(state, subject, _closed(subject), (LIST,))
    listed = unbroken.answer(heard, LIST)
    if listed is None:
        return unbroken.waiting(state, subject, "has not been asked yet", (LIST,), 0.0)
    try:
        mine = listing.of(listing.workers(listed, by_id=program.by_id), subject)
        if mine:
            return unbroken.restored(state, subject, (LIST,))
        if now - state.since < program.sees:
            why = f"does not list {subject.name} again yet"
            return unbroken.waiting(state, subject, why, (LIST,), unbroken.pace(state, now))
        if subject.paired and not program.takes_pairs:
            why = f"takes no half of a pair back; restart that router, and it finds {subject.name} itself"
            return unbroken.impossible(state, subject, why, (LIST,))
        _accepted(program, heard)
    except Strange as strange:
        return unbroken.unsure(state, subject, str(strange), (_add(subject), LIST), now)
    why = f"does not list {subject.name} again yet"
    if state.asked is not None and now - state.asked < _TAKEN_BACK:
        return unbroken.waiting(state, subject, why, (LIST,), unbroken.pace(state, now))
    return unbroken.waiting(unbroken.told(state, now), subject, why, (_add(subject), LIST), 0.0)


def _remove(state: State, mine: tuple[Worker, ...], subject: Subject, now: datetime) -> Step:
    url = mine[0].url
    if unbroken.spent(state, now):
        return unbroken.kept(state, subject, url, _LOOK)
    if state.asked is not None and now - state.asked < _AGAIN:
        why = f"still lists {url}, which it was told to remove"
        return unbroken.waiting(state, subject, why, _LOOK, unbroken.pace(state, now))
    removals = (Ask("DELETE", f"/workers/{each.key}") for each in mine)
    return unbroken.waiting(unbroken.told(state, now), subject, f"lists {url}", (*removals, *_LOOK), 0.0)


def _agreed(program: Program, state: State, heard: Sequence[Heard], now: datetime) -> State:
    for each in heard:
        if each.ask.method == "DELETE":
            if each.status not in program.agrees:
                raise Strange(f"answers {each}")
            state = replace(state, told=state.told or now)
    return state


def _was_known(program: Program, heard: Heard | None, subject: Subject) -> None:
    known = (program.known,)
    if heard is None or not numbers.read(heard, known, subject, may_fall=known).sums:
        raise Strange(f"has never listed {subject.name}, so it may be about to")


def _accepted(program: Program, heard: Sequence[Heard]) -> None:
    for each in heard:
        if each.ask.method == "POST" and each.status not in program.adds:
            raise Strange(f"answers {each}")


def _add(subject: Subject) -> Ask:
    body: dict[str, str | int] = {"url": subject.url}
    if subject.paired:
        body["worker_type"] = subject.word
        if subject.bootstrap_port is not None:
            body["bootstrap_port"] = subject.bootstrap_port
    return Ask("POST", "/workers", body=json.dumps(body).encode())


def _closed(subject: Subject) -> str:
    if subject.keyed:
        return "refuses the key of its own command line; let its Pods be replaced, so that they have the same one"
    return (
        "wants a key for its worker API and spec.router.extraArgs holds none that can be read; give it "
        "--control-plane-api-keys=ID:NAME:admin:KEY there, or take --api-key out"
    )


_VLLM_ADDS: Final = frozenset({HTTPStatus.OK, HTTPStatus.BAD_REQUEST})
"""A worker that is there already is answered like one that cannot be added."""
VLLM: Final = Program(
    by_id=False,
    known="vllm_router_worker_health",
    agrees=frozenset({HTTPStatus.OK}),
    adds=_VLLM_ADDS,
    takes_pairs=False,
    sees=unbroken.PATIENCE,
)
"""`vllm-router` from 0.1.17 on."""
OLD_VLLM: Final = Program(
    by_id=False,
    known="vllm_router_worker_health",
    agrees=frozenset({HTTPStatus.OK}),
    adds=_VLLM_ADDS,
    takes_pairs=False,
)
"""`vllm-router` 0.1.15 and 0.1.16."""
GATEWAY: Final = Program(
    by_id=True,
    known="smg_worker_health",
    agrees=frozenset({HTTPStatus.ACCEPTED, HTTPStatus.NOT_FOUND}),
    adds=frozenset({HTTPStatus.ACCEPTED}),
    takes_pairs=True,
)
"""`sglang-router` 0.3.x. It only notes what it will do, and does it moments later."""
