"""What a load sends and when: pure, and the same for the same seed."""

import random
from dataclasses import dataclass
from typing import Final

MOST: Final = 1_000_000
"""More requests than this are no load for one process."""


@dataclass(frozen=True, slots=True)
class Load:
    """An open-loop load: requests begin when they are due, whatever became of earlier ones.

    `rate` requests a second in the mean for `seconds`, at most `count` of them (0: no such bound). `streamed` is the
    share of those that stream, from 0 to 1; each asks for one of `tokens`, fewest and most. Every request is given up
    `patience` seconds after it began. Raises ValueError for what cannot be sent.
    """

    rate: float
    seconds: float
    count: int = 0
    streamed: float = 0.5
    tokens: tuple[int, int] = (4, 16)
    words: int = 12
    patience: float = 120.0
    seed: int = 0

    def __post_init__(self) -> None:
        fewest, most = self.tokens
        wrongs = (
            ("rate", self.rate, self.rate > 0, "send more than 0 a second"),
            ("seconds", self.seconds, self.seconds > 0, "send for more than 0 s"),
            ("count", self.count, self.count >= 0, "bound it by 0, which is no bound, or more"),
            ("streamed", self.streamed, 0 <= self.streamed <= 1, "it is a share from 0 to 1"),
            ("tokens", self.tokens, 1 <= fewest <= most, "ask for at least 1, and for no more than the most"),
            ("words", self.words, self.words >= 1, "a prompt has at least the word by which it is found again"),
            ("patience", self.patience, self.patience > 0, "wait more than 0 s"),
            ("rate", self.rate, self.rate * self.seconds <= MOST, f"one load sends at most {MOST:,} requests"),
        )
        for name, value, holds, way_out in wrongs:
            if not holds:
                raise ValueError(f"{name} {value}: {way_out}")


@dataclass(frozen=True, slots=True)
class Request:
    """One request to be sent: due so many seconds after the start, known by its mark, the first word of its prompt.

    `common` is what stands before its prompt and before others' as well.
    """

    mark: str
    due: float
    stream: bool
    tokens: int
    prompt: str
    common: str = ""

    def body(self, model: str) -> dict[str, object]:
        """Answer the body of a chat that asks for exactly its tokens."""
        messages = [{"role": "user", "content": self.prompt}]
        if self.common:
            messages.insert(0, {"role": "system", "content": self.common})
        return {"model": model, "messages": messages, "max_tokens": self.tokens, "stream": self.stream}


def requests(load: Load) -> tuple[Request, ...]:
    """Plan a load: arrivals as of many callers who know nothing of each other (exponential gaps)."""
    chance = random.Random(load.seed)
    planned: list[Request] = []
    due = chance.expovariate(load.rate)
    while due < load.seconds and (not load.count or len(planned) < load.count):
        mark = f"m{load.seed}-{len(planned)}"
        rest = " ".join(f"w{chance.randrange(1000)}" for _ in range(load.words - 1))
        stream = chance.random() < load.streamed
        tokens = chance.randint(*load.tokens)
        planned.append(Request(mark, due, stream, tokens, f"{mark} {rest}".strip()))
        due += chance.expovariate(load.rate)
    return tuple(planned)
