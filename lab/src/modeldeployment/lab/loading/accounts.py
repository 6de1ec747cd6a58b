"""The account of a load: what became of every request, as its caller saw it. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Final


class Outcome(StrEnum):
    """What became of a request, by where it ended."""

    ANSWERED = "answered"
    """In full: every token that was asked for, and the end of the answer."""
    REFUSED = "refused"
    """Told so, or not connected, before any work began: sending it again costs nothing."""
    CUT = "cut"
    """The connection was lost after it was sent, or the answer is short of what was asked for."""
    FAILED = "failed"
    """Answered with an error of the server's."""
    GIVEN_UP = "given-up"
    """No end within the caller's patience."""


LOST: Final = frozenset({Outcome.CUT, Outcome.FAILED, Outcome.GIVEN_UP})
"""What a caller calls a lost request."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One request: what became of it and why, and the engine that wrote the answer, empty where nobody said.

    `began` is in seconds after the start of the load, `took` from then to its end; `status` is 0 without an answer.
    """

    mark: str
    stream: bool
    outcome: Outcome
    cause: str
    engine: str
    status: int
    tokens: int
    began: float
    took: float


@dataclass(frozen=True, slots=True)
class Account:
    """What became of every request of a load, in the order in which they were due."""

    answers: tuple[Answer, ...]

    def count(self, outcome: Outcome) -> int:
        """Count the requests that came to this."""
        return sum(each.outcome is outcome for each in self.answers)

    @property
    def lost(self) -> tuple[Answer, ...]:
        """Every request that was lost."""
        return tuple(each for each in self.answers if each.outcome in LOST)

    @property
    def unanswered(self) -> tuple[Answer, ...]:
        """Every request that was lost or refused."""
        return tuple(each for each in self.answers if each.outcome is not Outcome.ANSWERED)

    def causes(self) -> Counter[str]:
        """Count what was not answered, by outcome and cause."""
        return Counter(f"{each.outcome}: {each.cause}" for each in self.unanswered)

    def engines(self) -> Counter[str]:
        """Count what was answered, by the engine that answered it."""
        return Counter(each.engine for each in self.answers if each.outcome is Outcome.ANSWERED)

    def tree(self) -> dict[str, Any]:
        """Answer the account as a JSON tree."""
        return {
            "sent": len(self.answers),
            "outcomes": {outcome.value: self.count(outcome) for outcome in Outcome},
            "lost": len(self.lost),
            "causes": dict(self.causes().most_common()),
            "engines": dict(sorted(self.engines().items())),
            "unanswered": [{**asdict(each), "outcome": each.outcome.value} for each in self.unanswered],
        }

    def text(self, known: Mapping[str, str] | None = None) -> str:
        """Answer the account as people read it; `known` gives engines other names, such as their Pods'."""
        names = known or {}
        counted = ", ".join(f"{self.count(outcome)} {outcome}" for outcome in Outcome if self.count(outcome))
        lines = [f"{len(self.answers)} sent: {counted or 'nothing came of them'}"]
        lines += [f"  {count} {cause}" for cause, count in self.causes().most_common()]
        lines += [f"  {names.get(who, who or 'nobody said')} answered {n}" for who, n in sorted(self.engines().items())]
        return "\n".join(lines)


def together(accounts: Iterable[Account]) -> Account:
    """Answer several accounts as one."""
    return Account(tuple(answer for account in accounts for answer in account.answers))
