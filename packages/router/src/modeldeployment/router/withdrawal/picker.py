"""How the picker of `llm-d-router` is shown to have let go of a member: from its own view of its endpoints.

Read out of the program's source (v0.10.0; v0.7.1 has the same under older names), and asked of the real program:

- The per-endpoint queue sizes are not remembered: each time its numbers are asked for they are made of the endpoints it
  may pick from at that moment. A Pod that loses the label, or is not Ready, is taken out of these before anything else
  happens. So a member without such a series cannot be picked, but for a list of candidates that may be 50 ms old.
- It counts its picks by endpoint, a pair's decode half alone.
- It tells of its own build in every body, with no endpoint too: without that the body is somebody else's.
- What it has picked a member for goes there at once, through the proxy beside it, and nothing counts it there. So the
  engine says whether something is under way, and the handoff window of a pair's halves covers what a decode half's own
  proxy is about to send (decisions D6).

Source: facts routing §5 and §9, router-rendering §3 to §7, control-plane §10.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from modeldeployment.router.exposition import Sample
from modeldeployment.router.withdrawal import numbers, unbroken
from modeldeployment.router.withdrawal.asking import NUMBERS, Heard, State, Step, Subject
from modeldeployment.router.withdrawal.listing import Strange

_ENDPOINTS: Final = {
    "llm_d_epp_per_endpoint_queue_size": "model_server_endpoint",
    "inference_pool_per_pod_queue_size": "model_server_pod",
}
"""A series for each endpoint, and the label that names it: the Pod, and behind it the number of its port."""
_PICKS: Final = {
    "llm_d_epp_scheduler_attempts_total": "endpoint_name",
    "inference_extension_scheduler_attempts_total": "pod_name",
}
_OWN: Final = ("llm_d_epp_info", "inference_extension_info")
_SERIES: Final = (*_ENDPOINTS, *_PICKS, *_OWN)
_LOOK: Final = (NUMBERS,)


def withdraw(state: State | None, heard: Sequence[Heard], subject: Subject, now: datetime) -> Step:
    """Say what follows, on the way to a picker that picks the member no more. The label is off already."""
    state = unbroken.begun(state, now)
    said = unbroken.answer(heard, NUMBERS)
    if said is None:
        return unbroken.waiting(state, subject, "has not been asked yet", _LOOK, 0.0)
    try:
        found = _read(said)
    except Strange as strange:
        return unbroken.unsure(state, subject, str(strange), _LOOK, now)
    endpoints = _endpoints(found)
    if subject.name in endpoints and subject.encodes:
        why = f"keeps {subject.name} among its endpoints until it is deleted, since an Encode role is beside it"
        return unbroken.impossible(state, subject, why, _LOOK)
    if subject.name in endpoints:
        return unbroken.waiting(state, subject, f"may still pick {subject.name}", _LOOK, unbroken.pace(state, now))
    if subject.peers and not endpoints:
        return unbroken.waiting(state, subject, "has no other endpoint to pick", _LOOK, unbroken.SELDOM)
    picks = max((_picks(found, subject, series) for series in _PICKS), default=0.0)
    return unbroken.standing(state, subject, picks, _LOOK, now)


def restore(state: State | None, heard: Sequence[Heard], subject: Subject, now: datetime) -> Step:
    """Say what follows, on the way to a picker that picks it again: the label is back, which suffices."""
    state = unbroken.begun(state, now)
    said = unbroken.answer(heard, NUMBERS)
    if said is None:
        return unbroken.waiting(state, subject, "has not been asked yet", _LOOK, 0.0)
    try:
        listed = subject.name in _endpoints(_read(said))
    except Strange as strange:
        return unbroken.unsure(state, subject, str(strange), _LOOK, now)
    if listed:
        return unbroken.restored(state, subject, _LOOK)
    return unbroken.waiting(state, subject, f"does not pick {subject.name} yet", _LOOK, unbroken.pace(state, now))


def endpoints(heard: Heard) -> frozenset[str]:
    """Answer the endpoints it may pick, each a Pod's name and, where that has several, its rank behind it.

    Raises Strange for what are not the numbers of a picker, or not all of them.
    """
    return _named(_read(heard))


def pod_of(endpoint: str) -> str:
    """Answer the name of the Pod that an endpoint is of."""
    return re.sub(r"-rank-\d+\Z", "", endpoint)


def _read(heard: Heard) -> tuple[Sample, ...]:
    found = numbers.samples(heard, _SERIES)
    for each in found:
        numbers.plain(each)
    if not any(each.name in _OWN for each in found):
        raise Strange(f"publishes numbers without {_OWN[0]}, so they say nothing of its endpoints")
    return found


def _endpoints(found: Sequence[Sample]) -> frozenset[str]:
    """The Pods it may pick, by name."""
    return frozenset(map(pod_of, _named(found)))


def _named(found: Sequence[Sample]) -> frozenset[str]:
    return frozenset(each.labels.get(_ENDPOINTS[each.name], "") for each in found if each.name in _ENDPOINTS)


def _picks(found: Sequence[Sample], subject: Subject, series: str) -> float:
    return sum(each.value for each in found if each.name == series and each.labels.get(_PICKS[series]) == subject.name)
