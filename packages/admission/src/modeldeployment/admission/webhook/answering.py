"""One review from bytes to bytes: read, look up what it names, judge, answer.

Nothing is written anywhere, so a dry run is like any other. No exception leaves but BadReview.
"""

import logging
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from modeldeployment.admission import lookups
from modeldeployment.admission.errors import Unreadable
from modeldeployment.admission.facts import Actor, Policy
from modeldeployment.admission.lints.scaling import zeros_stored
from modeldeployment.admission.reviewing import mutate, review, still_leaving
from modeldeployment.admission.webhook import wire
from modeldeployment.admission.webhook.configurations import Half
from modeldeployment.admission.webhook.wire import Answer, Asked
from modeldeployment.api import keys
from modeldeployment.kube import Client

_log: Final = logging.getLogger(__name__)

BOUNDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper bounds of the histogram of durations, in seconds."""

_OPERATIONS: Final = ("CREATE", "UPDATE")


@dataclass(slots=True)
class Tally:
    """What was answered since the start: reviews by (kind, half, allowed), codes said, durations by half.

    `durations` counts reviews per bucket of BOUNDS, the last bucket being everything longer; `seconds` is their sum.
    """

    reviews: Counter[tuple[str, Half, bool]] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)
    durations: dict[Half, list[int]] = field(default_factory=lambda: {half: [0] * (len(BOUNDS) + 1) for half in Half})
    seconds: Counter[Half] = field(default_factory=Counter)

    def add(self, half: Half, kind: str, answer: Answer, seconds: float) -> None:
        """Count one answer."""
        self.reviews[kind, half, answer.allowed] += 1
        self.codes.update(answer.codes)
        self.durations[half][bisect_left(BOUNDS, seconds)] += 1
        self.seconds[half] += seconds  # type: ignore[assignment]


class Reviewer:
    """Answers reviews with what `client` reads live.

    `policy` and `operators` (user names whose writes are the operator's own) may be changed at any time.
    """

    def __init__(self, client: Client, policy: Policy, operators: frozenset[str] = frozenset()) -> None:
        self._client = client
        self.policy = policy
        self.operators = operators
        self.tally = Tally()

    async def answer(self, half: Half, kind: str, body: bytes) -> bytes:
        """Answer a review sent to one half about one kind. Raises BadReview where there is nothing to answer."""
        began = time.perf_counter()
        asked = wire.read(body)
        try:
            answer = await self._answer(half, kind, asked)
        except Unreadable as error:
            _log.warning("review not possible", extra=_said(asked, str(error)))
            answer = wire.unreadable(asked, str(error))
        except Exception as error:  # noqa: BLE001 (a defect of ours must refuse with an answer, and be found in the log)
            _log.exception("review failed", extra=_said(asked, repr(error)))
            answer = wire.failed(asked, "the operator failed to review this object, so it was not let in; see its log")
        self.tally.add(half, kind, answer, time.perf_counter() - began)
        return answer.body

    async def _answer(self, half: Half, kind: str, asked: Asked) -> Answer:
        if asked.operation not in _OPERATIONS or asked.sub_resource:
            return wire.let_in(asked)
        if (asked.kind.group, asked.kind.version, asked.kind.kind) != (keys.GROUP, keys.VERSION, kind):
            shown = f"{asked.kind.group}/{asked.kind.version}, {asked.kind.kind}"
            return wire.not_ours(asked, f"this path reviews {keys.API_VERSION}, {kind}, not {shown}")
        if asked.object is None or asked.object.get("kind") != kind:
            return wire.not_ours(asked, f"the request carries no {kind}")
        # The API server puts a deletion back that a write leaves out, but only after the mutating half was asked.
        new = still_leaving(asked.object, asked.old_object)
        return await (self._defaulted(asked, new) if half is Half.MUTATE else self._judged(asked, new))

    async def _defaulted(self, asked: Asked, new: Mapping[str, Any]) -> Answer:
        facts = await lookups.read(self._client, lookups.to_default(new), asked.namespace, self.policy)
        outcome = mutate(new, facts)
        if outcome.refusals:
            return wire.forbidden(asked, outcome.refusals)
        # The half that judges sees the defaults that took the zeros' place, so the zeros are told of here.
        return wire.let_in(asked, patch=outcome.operations, warnings=tuple(zeros_stored(new)))

    async def _judged(self, asked: Asked, new: Mapping[str, Any]) -> Answer:
        old = asked.old_object if asked.operation == "UPDATE" else None
        facts = await lookups.read(self._client, lookups.to_judge(new, old), asked.namespace, self.policy)
        actor = Actor.OPERATOR if asked.user_info.username in self.operators else Actor.USER
        return wire.judged(asked, review(new, old, facts, actor))


def _said(asked: Asked, reason: str) -> dict[str, str]:
    return {"object": f"{asked.kind.kind.lower()}s/{asked.namespace}/{asked.called}", "reason": reason}
