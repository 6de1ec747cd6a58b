"""Recorded demand, second by second."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Arrival:
    """What arrives within one second: requests, and the tokens that they ask for."""

    requests: int = 0
    prompt: int = 0
    """Tokens that no prefix cache answers."""
    generation: int = 0


@dataclass(frozen=True, slots=True)
class Request:
    """One recorded request."""

    at: float
    """Seconds after the first."""
    prompt: int
    generation: int


@dataclass(frozen=True, slots=True)
class Trace:
    """Demand by the second, from the first on."""

    name: str
    seconds: tuple[Arrival, ...]

    @property
    def total(self) -> Arrival:
        """All of it."""
        return Arrival(
            sum(each.requests for each in self.seconds),
            sum(each.prompt for each in self.seconds),
            sum(each.generation for each in self.seconds),
        )


def of_requests(name: str, requests: Iterable[Request]) -> Trace:
    """Demand of single requests, in whatever order they are told."""
    seconds: dict[int, list[int]] = {}
    for each in requests:
        second = seconds.setdefault(int(each.at), [0, 0, 0])
        second[0] += 1
        second[1] += each.prompt
        second[2] += each.generation
    return Trace(name, tuple(Arrival(*seconds.get(at, (0, 0, 0))) for at in range(max(seconds, default=-1) + 1)))


def of_rates(name: str, rates: Iterable[tuple[int, Fraction]], seconds: int, prompt: int, generation: int) -> Trace:
    """Demand of windows of so many seconds, each told as its start and its requests per second, spread evenly.

    Every request has the same tokens. Windows of rate 0 and windows that are not told are gaps of the recording and not
    silence: between their neighbours the rate goes over in a line.
    """
    made: list[Arrival] = []
    owed = Fraction(0)
    for rate in _rates(sorted((start, rate) for start, rate in rates if rate > 0), seconds):
        owed += rate
        whole = int(owed)
        owed -= whole
        made.append(Arrival(whole, whole * prompt, whole * generation))
    return Trace(name, tuple(made))


def _rates(told: Sequence[tuple[int, Fraction]], seconds: int) -> Iterator[Fraction]:
    """The rate of every second."""
    for (start, rate), following in zip(told, (*told[1:], None), strict=False):
        yield from (rate for _ in range(seconds))
        if following is not None:
            gap = following[0] - start - seconds
            yield from (rate + (following[1] - rate) * Fraction(at, gap) for at in range(gap))


def scaled(trace: Trace, factor: Fraction) -> Trace:
    """The same traffic so many times as heavy; what a second loses by rounding, a later one has."""
    made: list[Arrival] = []
    before, after = [0, 0, 0], [0, 0, 0]
    for each in trace.seconds:
        for index, count in enumerate((each.requests, each.prompt, each.generation)):
            before[index] += count
        now = [int(count * factor) for count in before]
        made.append(Arrival(*(new - old for new, old in zip(now, after, strict=True))))
        after = now
    return Trace(trace.name, tuple(made))
