"""A recorded hour as a load: who asked when, for how much, played faster and thinner than it was.

A trace is a CSV file, gzipped or not, whose header names at least `t_s` (seconds from its start), `input_tokens` and
`output_tokens`; rows stand in the order of their times. Prompts are made up: as long as the recorded ones, of words
that say nothing. What is planned is the same for the same seed.
"""

import csv
import gzip
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from modeldeployment.lab.loading.planning import Request

COLUMNS: Final = ("t_s", "input_tokens", "output_tokens")
"""What the header of a trace has to name."""
_MAGIC: Final = b"\x1f\x8b"


class TraceUnreadable(ValueError):
    """A file is no trace; the message says which line of it and why."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """One recorded request: seconds after the start of its trace, and tokens."""

    at: float
    prompt: int
    output: int


@dataclass(frozen=True, slots=True)
class Tempo:
    """How a trace is played: what lies from `begin` to `end` of it (0: its end), in recorded seconds.

    It goes by `compress` times as fast, and one in `thin` of its requests is sent: with both the same, as many come in
    a second as were recorded. `shared` is the share of every prompt that is the same for all, `streamed` that of the
    requests whose answers stream. Each is given up `patience` seconds after it began. Raises ValueError.
    """

    compress: float = 1.0
    thin: int = 1
    begin: float = 0.0
    end: float = 0.0
    shared: float = 0.0
    streamed: float = 0.5
    patience: float = 120.0
    seed: int = 0

    def __post_init__(self) -> None:
        wrongs = (
            ("compress", self.compress, self.compress > 0, "play it more than 0 times as fast"),
            ("thin", self.thin, self.thin >= 1, "send one request in 1 or more"),
            ("begin", self.begin, self.begin >= 0, "begin at 0 s or later"),
            ("end", self.end, not self.end or self.end > self.begin, "end later than it begins, or at 0, its own end"),
            ("shared", self.shared, 0 <= self.shared <= 1, "it is a share from 0 to 1"),
            ("streamed", self.streamed, 0 <= self.streamed <= 1, "it is a share from 0 to 1"),
            ("patience", self.patience, self.patience > 0, "wait more than 0 s"),
        )
        for name, value, holds, way_out in wrongs:
            if not holds:
                raise ValueError(f"{name} {value}: {way_out}")


def read(file: Path) -> tuple[Arrival, ...]:
    """Read a trace. Raises TraceUnreadable, and OSError where the file cannot be opened."""
    raw = file.read_bytes()
    try:
        text = (gzip.decompress(raw) if raw.startswith(_MAGIC) else raw).decode()
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise TraceUnreadable(f"{file} is no text, gzipped or not: {error}") from error
    rows = csv.DictReader(text.splitlines())
    missing = [each for each in COLUMNS if each not in (rows.fieldnames or ())]
    if missing:
        raise TraceUnreadable(f"{file}: the header names no {', '.join(missing)}; it has {rows.fieldnames}")
    found: list[Arrival] = []
    for row in rows:
        at, prompt, output = (row[each] for each in COLUMNS)
        try:
            arrival = Arrival(float(at), int(prompt), int(output))
        except (TypeError, ValueError) as error:
            raise TraceUnreadable(f"{file}, line {rows.line_num}: {error}") from error
        before = found[-1].at if found else 0.0
        if not before <= arrival.at < float("inf") or arrival.prompt < 0 or arrival.output < 0:
            raise TraceUnreadable(f"{file}, line {rows.line_num}: {arrival} is below zero or before {before:g} s")
        found.append(arrival)
    return tuple(found)


def played(arrivals: Iterable[Arrival], tempo: Tempo) -> Iterator[Request]:
    """Plan the requests of a trace in the order in which they are due; each prompt has a word, each answer a token."""
    chance = random.Random(tempo.seed)
    for number, arrival in enumerate(arrivals):
        if arrival.at < tempo.begin or number % tempo.thin:
            continue
        if tempo.end and arrival.at >= tempo.end:
            return
        mark = f"m{tempo.seed}-{number}"
        common = min(round(arrival.prompt * tempo.shared), max(0, arrival.prompt - 1))
        own = [f"{mark}.{word}" for word in range(1, max(1, arrival.prompt - common))]
        yield Request(
            mark=mark,
            due=(arrival.at - tempo.begin) / tempo.compress,
            stream=chance.random() < tempo.streamed,
            tokens=max(1, arrival.output),
            prompt=" ".join([mark, *own]),
            common=" ".join(f"c{word}" for word in range(common)),
        )
