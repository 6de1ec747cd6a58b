"""The pass that somebody asks about: out of a journal's files, or out of what the operator keeps in memory."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import aiohttp

from modeldeployment.operator.errors import UsageError
from modeldeployment.scaler.errors import Undecodable
from modeldeployment.scaler.journal import Line, Recorded, Torn, parse, read

_SECONDS: Final = 10.0
_URL: Final = re.compile(r"https?://[^/\s?#]+(/[^\s?#]*)?")
_INTERVAL: Final = 15


@dataclass(frozen=True, slots=True)
class Passed:
    """The pass that is asked about, where it is from, and what could not be read there."""

    source: str
    line: Line
    notes: tuple[str, ...] = ()


def instant(text: str) -> datetime:
    """Read `--at`; raises UsageError for what is no instant with its offset."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError as error:
        raise UsageError(f"--at is {text}: it is no instant; write it as 2026-11-30T10:00:00Z") from error
    if at.tzinfo is None:
        raise UsageError(f"--at is {text}: it has no offset, so it is many instants; write {text}Z for UTC")
    return at.astimezone(UTC)


def recorded(path: Path, namespace: str, name: str, asked: datetime | None = None) -> Passed:
    """The pass of a scaler in a journal's files, the last one where no instant is asked for.

    Raises UsageError for files that cannot be read, and for what they do not tell of.
    """
    try:
        return _chosen(read(path), str(path), (namespace, name), asked)
    except Undecodable as error:
        raise UsageError(str(error)) from error


async def kept(url: str, namespace: str, name: str, asked: datetime | None = None) -> Passed:
    """The same of those that the operator keeps; raises UsageError where it does not answer, too."""
    if not _URL.fullmatch(url):
        raise UsageError(f"--operator is {url}: it must be http://HOST:PORT, where the operator serves /metrics")
    where = f"{url.rstrip('/')}/scalers/{namespace}/{name}/journal"
    try:
        async with (
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(_SECONDS)) as session,
            session.get(where) as answer,
        ):
            body = await answer.read()
    except (TimeoutError, aiohttp.ClientError) as error:
        why = str(error) or f"no answer within {_SECONDS:.0f} s"
        raise UsageError(
            f"--operator is {url}: {why}; kubectl port-forward leads to an operator within a cluster"
        ) from error
    if answer.status != 200:
        said = body.decode(errors="replace").strip().splitlines() or [answer.reason or ""]
        raise UsageError(f"--operator is {url}: it answers {answer.status}: {said[0]}")
    try:
        return _chosen(parse(body, where), where, (namespace, name), asked)
    except Undecodable as error:
        raise UsageError(f"the operator and this program are of different releases: {error}") from error


def spelt(at: datetime) -> str:
    """An instant as Kubernetes spells it."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _chosen(found: Iterable[Recorded | Torn], source: str, scaler: tuple[str, str], asked: datetime | None) -> Passed:
    """Look through the lines once and hold three of them: a journal is larger than what should be in memory."""
    first: Line | None = None
    last: Line | None = None
    best: Line | None = None
    others: set[str] = set()
    notes: list[str] = []
    for each in found:
        if isinstance(each, Torn):
            notes.append(torn(each))
            continue
        line = each.line
        if (line.namespace, line.name) != scaler:
            others.add(f"{line.namespace}/{line.name}")
            continue
        first = line if first is None or line.at < first.at else first
        last = line if last is None or line.at >= last.at else last
        if (asked is None or line.at <= asked) and (best is None or line.at >= best.at):
            best = line
    if first is None or last is None:
        known = f"it tells of {', '.join(sorted(others))}" if others else "it is empty"
        raise UsageError(f"{source} has no pass of {'/'.join(scaler)}; {known}")
    if best is None or (asked is not None and asked >= last.at + timedelta(seconds=_seconds(last))):
        assert asked is not None, "without an instant the last pass is the best one"
        raise UsageError(
            f"--at is {spelt(asked)}: {source} tells of {'/'.join(scaler)} from {spelt(first.at)} to {spelt(last.at)}"
        )
    return Passed(source, best, tuple(notes))


def torn(seen: Torn) -> str:
    """What is said of a line that was not written to its end."""
    return f"{seen.file}:{seen.number} ends within a line and is passed over"


def _seconds(line: Line) -> int:
    sampling = line.spec.get("sampling")
    interval = sampling.get("intervalSeconds") if isinstance(sampling, dict) else None
    return 2 * (interval if isinstance(interval, int) else _INTERVAL)
