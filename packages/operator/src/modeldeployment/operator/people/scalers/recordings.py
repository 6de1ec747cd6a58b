"""Recorded traffic out of files: single requests, or rates of windows, as CSV that may be compressed."""

import csv
import gzip
import math
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Final

from modeldeployment.operator.errors import UsageError
from modeldeployment.scaler.backtesting import traces
from modeldeployment.scaler.backtesting.traces import Request, Trace

_REQUESTS: Final = ("t_s", "input_tokens", "output_tokens")
_HITS: Final = "prefix_hit_tokens_inf"
_RATES: Final = ("t_s", "rate_rps")
_MODEL: Final = "model"
_SUFFIXES: Final = (".csv", ".csv.gz")
_COARSE: Final = 1.5
_LONGEST: Final = 60 * 86400


@dataclass(frozen=True, slots=True)
class Wish:
    """What of a recording is wanted, and what its requests have where it does not say."""

    model: str | None = None
    """Of a file with several."""
    prompt: int = 1000
    generation: int = 200
    seconds: int | None = None
    """From its first second; None: all of it."""
    factor: Fraction = Fraction(1)


@dataclass(frozen=True, slots=True)
class _Row:
    file: str
    line: int
    cells: Mapping[str, str]

    def number(self, column: str) -> float:
        text = self.cells.get(column) or ""
        try:
            value = float(text)
        except ValueError as error:
            raise self._wrong(column, text, "it is no number") from error
        if not math.isfinite(value):
            raise self._wrong(column, text, "it is no number")
        if value < 0:
            raise self._wrong(column, text, "it is below zero")
        return value

    def _wrong(self, column: str, text: str, why: str) -> UsageError:
        return UsageError(f"{self.file}:{self.line}: {column} is {text!r}: {why}")


def read(path: Path, wish: Wish) -> Iterator[Trace]:
    """The traces of a file, or of every file of single requests in a directory, in the order of their names.

    Raises UsageError naming file, line and column of what cannot be read.
    """
    if not path.is_dir():
        yield _wished(_file(path, wish), wish)
        return
    found = [each for each in sorted(path.iterdir()) if each.name.endswith(_SUFFIXES) and _of_requests(each)]
    if not found:
        raise UsageError(f"{path} has no trace: a file is {' or '.join(_SUFFIXES)} with columns {', '.join(_REQUESTS)}")
    for each in found:
        yield _wished(_file(each, wish), wish)


def _wished(trace: Trace, wish: Wish) -> Trace:
    if wish.seconds is not None:
        trace = Trace(trace.name, trace.seconds[: wish.seconds])
    return trace if wish.factor == 1 else traces.scaled(trace, wish.factor)


def _of_requests(path: Path) -> bool:
    header, _ = _table(path)
    return set(_REQUESTS) <= set(header)


def _file(path: Path, wish: Wish) -> Trace:
    header, rows = _table(path)
    name = path.name.removesuffix(".gz").removesuffix(".csv")
    if set(_REQUESTS) <= set(header):
        requests = [_request(row, _HITS in header) for row in rows]
        if not requests:
            raise UsageError(f"{path} has no request: there is a header and nothing below it")
        _within(path, max(each.at for each in requests))
        return traces.of_requests(name, _spread(requests))
    if set(_RATES) <= set(header):
        return _of_rates(path, name, rows, wish, several=_MODEL in header)
    raise UsageError(
        f"{path}:1: the columns are {', '.join(header) or 'none'}: a trace has {', '.join(_REQUESTS)} for single "
        f"requests, or {', '.join(_RATES)} for rates"
    )


def _request(row: _Row, hits: bool) -> Request:
    prompt = row.number("input_tokens") - (row.number(_HITS) if hits else 0)
    return Request(row.number("t_s"), max(0, int(prompt)), int(row.number("output_tokens")))


def _spread(requests: list[Request]) -> list[Request]:
    """Requests of a clock that ticks seldom, spread evenly from each of its ticks to the next."""
    ticks = sorted({each.at for each in requests})
    gaps = [after - before for before, after in pairwise(ticks)]
    if not gaps or min(gaps) < _COARSE:
        return requests
    tick = min(gaps)
    at: dict[float, list[Request]] = {}
    for each in requests:
        at.setdefault(each.at, []).append(each)
    return [
        Request(start + tick * index / len(together), each.prompt, each.generation)
        for start, together in at.items()
        for index, each in enumerate(together)
    ]


def _of_rates(path: Path, name: str, rows: Iterator[_Row], wish: Wish, *, several: bool) -> Trace:
    rates: dict[str, list[tuple[int, Fraction]]] = {}
    for row in rows:
        rate = Fraction(row.number("rate_rps")).limit_denominator(10**6)
        rates.setdefault(row.cells.get(_MODEL) or "" if several else "", []).append((int(row.number("t_s")), rate))
    model = wish.model if several else ""
    if model is None and len(rates) == 1:
        model = next(iter(rates))
    if model not in rates:
        known = ", ".join(sorted(rates)) or "none"
        asked = "--model is missing" if model is None else f"--model is {model}"
        raise UsageError(f"{asked}: {path} has rates of {known}")
    told = sorted(rates[model])
    if len(told) < 2:
        raise UsageError(f"{path} has {len(told)} window: how long it is shows only beside another one")
    seconds = min(after - before for (before, _), (after, _) in pairwise(told))
    if seconds <= 0:
        raise UsageError(f"{path} has two windows that begin at the same second")
    _within(path, told[-1][0] - told[0][0])
    if wish.seconds is not None:
        told = [each for each in told if each[0] < told[0][0] + wish.seconds + seconds]
    made = traces.of_rates(f"{name} {model}".strip(), told, seconds, wish.prompt, wish.generation)
    if not made.seconds:
        raise UsageError(f"{path} has no window with a rate above zero")
    return made


def _within(path: Path, seconds: float) -> None:
    if seconds > _LONGEST:
        raise UsageError(
            f"{path} goes on for {seconds:.0f} s: t_s is seconds from the first request, {_LONGEST} at most"
        )


def _table(path: Path) -> tuple[list[str], Iterator[_Row]]:
    try:
        data = path.read_bytes()
        text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from error
    except (EOFError, zlib.error) as error:
        raise UsageError(f"{path} cannot be unpacked: {error}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is no text: byte {error.start} is not UTF-8") from error
    lines = csv.reader(text.splitlines())
    header = [each.strip() for each in next(lines, [])]
    if not header:
        raise UsageError(f"{path} is empty: a trace begins with the names of its columns")
    return header, (
        _Row(str(path), number, dict(zip(header, cells, strict=False)))
        for number, cells in enumerate(lines, 2)
        if cells
    )
