"""The text in which programs publish their numbers, read for a few names and trusted in nothing else.

It answers what prometheus-client's own parser answers for those names, in a fraction of the time, since no other line
is looked at. Where that parser guesses, this one refuses: a line of a name that was asked for which cannot be read
spoils the body, since what it would have said is not known, and nothing missing is a zero (decisions D10).

It stands here since withdrawal reads routers with it, and everything else that reads numbers stands above: retirement,
accounts of the cache and the scaler (decisions D23). A counter keeps the name it is written under.
"""

import re
from collections.abc import Collection, Mapping
from functools import lru_cache
from sys import intern
from typing import Final, NamedTuple, TypeAlias

_TEXT: Final = rb'"[^"\\\n]*(?:\\.[^"\\\n]*)*"'
_REST: Final = re.compile(
    rb"""(?: [ \t]* \{ (?P<labels> [^"}\n]* (?: %s [^"}\n]* )* ) \} [ \t]* | [ \t]+ )
    (?P<value> [+-]? (?: \d+ (?: \. \d* )? (?: e [+-]? \d+ )? | \.\d+ (?: e [+-]? \d+ )? | nan | inf (?: inity )? ) )
    (?: [ \t]+ -? \d+ )? \s*"""
    % _TEXT,
    re.VERBOSE | re.IGNORECASE,
)
"""What stands behind a name: labels, the value, and a time in milliseconds that nobody asks for."""
_TERM: Final = re.compile(
    r"""\s* (?: ( [A-Za-z_]\w* | "[^"\\]*(?:\\.[^"\\]*)*" ) \s*=\s* )? "([^"\\]*(?:\\.[^"\\]*)*)" \s*(?:,|\Z)""",
    re.VERBOSE | re.ASCII,
)
"""One label and its value; the name of the series itself, where it needs quotes."""
_ESCAPED: Final = re.compile(r'\\([\\n"])')
_LONGEST: Final = 2048
"""Bytes of the longest line that is read: labels of programs we know are far shorter."""
_MOST: Final = 20_000
"""Lines that are read of one body: a router of a thousand workers has some of each."""

Labels: TypeAlias = tuple[tuple[str, str], ...]
"""Labels and their values, by label."""


class Series(NamedTuple):
    """What one number is of. It is hashable, and equal series are equal however their labels were ordered."""

    name: str
    labels: Labels


class Sample(NamedTuple):
    """One number of a body. It may be NaN, infinite or below zero: whoever reads it judges that."""

    name: str
    labels: Mapping[str, str]
    value: float


class Unreadable(ValueError):
    """A line of a name that was asked for says nothing certain; the message says why."""


class Repeated(Unreadable):
    """Two lines give one series."""


def series(body: bytes, names: Collection[str], most: int = _MOST) -> dict[Series, float]:
    """Read the series of these names out of a body, in its order.

    Raises Unreadable for a line of one of these names that cannot be read, for more of them than `most`, and, as
    Repeated, for two lines of one series.
    """
    found: dict[Series, float] = {}
    for count, line in enumerate(_lines(frozenset(names)).finditer(b"\n" + body)):
        if count == most:
            raise Unreadable(f"it gives more than {most} numbers")
        name, rest = line.groups(b"")
        read = _REST.fullmatch(rest) if len(rest) <= _LONGEST else None
        if read is None:
            raise Unreadable(f"the line {(name + rest)[:60].decode(errors='replace')!r} cannot be read")
        labels, value = read.groups()
        one = _series(name, labels or b"")
        if one in found:
            raise Repeated("it gives one series twice")
        if name or one.name in names:
            found[one] = float(value)
    return found


def samples(body: bytes, names: Collection[str]) -> tuple[Sample, ...]:
    """Read the samples of these names out of a body, in its order; raises what `series` raises."""
    return tuple(Sample(name, dict(labels), value) for (name, labels), value in series(body, names).items())


@lru_cache(maxsize=64)
def _lines(names: frozenset[str]) -> re.Pattern[bytes]:
    """Match what follows a line's end where it is a name, or the brace of a series whose name stands in quotes."""
    every = b"|".join(re.escape(name.encode()) for name in sorted(names))
    return re.compile(rb"\n[ \t\r\f\v]*(?:(%s)(?![\w:])|(?={))([^\n]*)" % every)


@lru_cache(maxsize=2**14)  # an engine gives the same series every time, and its replicas give the same again
def _series(name: bytes, text: bytes) -> Series:
    try:
        return _read(name.decode(), text.decode())
    except UnicodeDecodeError as error:
        raise Unreadable(f"the labels of {name.decode()} are no text") from error


def _read(name: str, text: str) -> Series:
    labels: dict[str, str] = {}
    at = 0
    while at < len(text):
        term = _TERM.match(text, at)
        if term is None:
            raise Unreadable(f"the labels {text[:60]!r} cannot be read")
        label, value = term.groups()
        key = label if label is None or not label.startswith('"') else _plain(label[1:-1])
        if key in labels or key == "" or (key is None and name):
            raise Unreadable(f"the labels {text[:60]!r} cannot be read")
        if key is None:
            name = _plain(value)
        else:
            labels[intern(key)] = intern(_plain(value))  # a few words, over and over
        at = term.end()
    return Series(name, tuple(sorted(labels.items())))


def _plain(text: str) -> str:
    return _ESCAPED.sub(lambda found: "\n" if found[1] == "n" else found[1], text) if "\\" in text else text
