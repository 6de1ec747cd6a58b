"""The text in which programs publish their numbers, read for a few names and trusted in nothing else.

Only lines of the names asked for are looked at. One of them that cannot be read spoils the body: what it would have
said is not known, and nothing missing is a zero (decisions D10).
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

_SAMPLE: Final = re.compile(
    rb"""[A-Za-z_:][\w:]*
    (?:\{(?P<labels>.*)\})?
    [ \t]+(?P<value>[+-]?(?:\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|[Nn]a[Nn]|[Ii]nf(?:inity)?))
    (?:[ \t]+-?\d+)?[ \t\r]*""",
    re.VERBOSE,
)
_LABEL: Final = re.compile(r'\s*([A-Za-z_]\w*)\s*=\s*"((?:[^"\\]|\\.)*)"\s*(?:,|\Z)')
_ESCAPED: Final = re.compile(r"\\(.)")
_LONGEST: Final = 4096
"""Bytes of the longest line that is read: labels of programs we know are far shorter."""
_MOST: Final = 20_000
"""Lines that are read of one body: a router of a thousand workers has some of each."""


class Unreadable(ValueError):
    """A line of a name that was asked for says nothing certain; the message says why."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One number of a body. It may be NaN, infinite or below zero: whoever reads it judges that."""

    name: str
    labels: Mapping[str, str]
    value: float


def samples(body: bytes, names: Collection[str]) -> tuple[Sample, ...]:
    """Read the samples of these names out of a body, in its order.

    Raises Unreadable for a line of one of these names that cannot be read, and for two lines of one series.
    """
    lines = _lines(frozenset(names)).findall(body)
    if len(lines) > _MOST:
        raise Unreadable(f"it gives {len(lines)} numbers where {_MOST} are read")
    found = [_sample(line) for line in lines]
    seen = {(each.name, tuple(sorted(each.labels.items()))) for each in found}
    if len(seen) < len(found):
        raise Unreadable("it gives one series twice")
    return tuple(found)


@lru_cache(maxsize=64)
def _lines(names: frozenset[str]) -> re.Pattern[bytes]:
    every = b"|".join(re.escape(name.encode()) for name in sorted(names))
    return re.compile(rb"^(?:%s)(?![\w:]).*" % every, re.MULTILINE)


def _sample(line: bytes) -> Sample:
    read = _SAMPLE.fullmatch(line) if len(line) <= _LONGEST else None
    if read is None:
        raise Unreadable(f"the line {line[:60].decode(errors='replace')!r} cannot be read")
    name = line.partition(b"{")[0].split(None, 1)[0].decode()
    try:
        labels = _labels((read["labels"] or b"").decode())
    except UnicodeDecodeError as error:
        raise Unreadable(f"the labels of {name} are no text") from error
    return Sample(name, labels, float(read["value"]))


def _labels(text: str) -> dict[str, str]:
    labels: dict[str, str] = {}
    at = 0
    while at < len(text):
        read = _LABEL.match(text, at)
        if read is None or read[1] in labels:
            raise Unreadable(f"the labels {text[:60]!r} cannot be read")
        labels[read[1]] = _ESCAPED.sub(lambda found: "\n" if found[1] == "n" else found[1], read[2])
        at = read.end()
    return labels
