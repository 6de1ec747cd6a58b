"""The pass that somebody asks about: out of a journal's files, or out of what the operator keeps in memory."""

import re
from collections.abc import Sequence
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
class Passes:
    """The passes of one scaler, oldest first, where they are from, and what could not be read of them."""

    source: str
    lines: tuple[Line, ...]
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


def recorded(path: Path, namespace: str, name: str) -> Passes:
    """The passes of a scaler in a journal's files; raises UsageError for files that cannot be read."""
    try:
        found = list(read(path))
    except Undecodable as error:
        raise UsageError(str(error)) from error
    return _of(found, str(path), namespace, name)


async def kept(url: str, namespace: str, name: str) -> Passes:
    """The passes that the operator keeps; raises UsageError where it does not answer."""
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
        return _of(list(parse(body, where)), where, namespace, name)
    except Undecodable as error:
        raise UsageError(f"the operator and this program are of different releases: {error}") from error


def at(passes: Passes, asked: datetime | None) -> Line:
    """The last pass, or the last one at or before an instant; raises UsageError outside of what is recorded."""
    first, last = passes.lines[0], passes.lines[-1]
    if asked is None:
        return last
    over = last.at + timedelta(seconds=_seconds(last))
    if asked < first.at or asked >= over:
        raise UsageError(
            f"--at is {spelt(asked)}: {passes.source} tells of {first.namespace}/{first.name} from {spelt(first.at)} "
            f"to {spelt(last.at)}"
        )
    return max((line for line in passes.lines if line.at <= asked), key=lambda line: line.at)


def spelt(at: datetime) -> str:
    """An instant as Kubernetes spells it."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _of(found: Sequence[Recorded | Torn], source: str, namespace: str, name: str) -> Passes:
    lines = [each for each in found if isinstance(each, Recorded)]
    mine = sorted(
        (each.line for each in lines if (each.line.namespace, each.line.name) == (namespace, name)),
        key=lambda line: line.at,
    )
    if not mine:
        there = sorted({f"{each.line.namespace}/{each.line.name}" for each in lines})
        known = f"it tells of {', '.join(there)}" if there else "it is empty"
        raise UsageError(f"{source} has no pass of {namespace}/{name}; {known}")
    notes = tuple(torn(each) for each in found if isinstance(each, Torn))
    return Passes(source, tuple(mine), notes)


def torn(seen: Torn) -> str:
    """What is said of a line that was not written to its end."""
    return f"{seen.file}:{seen.number} ends within a line and is passed over"


def _seconds(line: Line) -> int:
    sampling = line.spec.get("sampling")
    interval = sampling.get("intervalSeconds") if isinstance(sampling, dict) else None
    return 2 * (interval if isinstance(interval, int) else _INTERVAL)
