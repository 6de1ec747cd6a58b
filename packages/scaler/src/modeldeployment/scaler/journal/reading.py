"""Lines out of files: where each stands, and what is wrong with one that cannot be read."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from modeldeployment.scaler.errors import Undecodable
from modeldeployment.scaler.journal import files
from modeldeployment.scaler.journal.line import Line, decode


@dataclass(frozen=True, slots=True)
class Recorded:
    """A line and where it stands."""

    file: str
    number: int
    """From 1."""
    line: Line


@dataclass(frozen=True, slots=True)
class Torn:
    """The end of a file whose last line was not written to its end: a process was killed, or the disk was full."""

    file: str
    number: int


def read(path: Path) -> Iterator[Recorded | Torn]:
    """The lines of a file, or of all journal files of a directory, oldest first.

    Raises Undecodable for a line that is none, naming file and line, and for a place without a journal.
    """
    for file in _files(path):
        try:
            data = file.read_bytes()
        except OSError as error:
            raise Undecodable(f"{file} cannot be read: {error.strerror or error}") from error
        yield from parse(data, str(file))


def parse(data: bytes, file: str) -> Iterator[Recorded | Torn]:
    """The lines of one file's bytes; raises Undecodable as `read` does."""
    lines = data.split(b"\n")
    for number, text in enumerate(lines, 1):
        if not text.strip():
            continue
        try:
            line = decode(text)
        except Undecodable as error:
            if number == len(lines) and text.startswith(b"{"):
                yield Torn(file, number)
                return
            raise Undecodable(f"{file}:{number}: {error}") from error
        yield Recorded(file, number, line)


def _files(path: Path) -> list[Path]:
    try:
        if not path.is_dir():
            return [path]
        found = files.of(path)
    except OSError as error:
        raise Undecodable(f"{path} cannot be read: {error.strerror or error}") from error
    if not found:
        raise Undecodable(
            f"{path} has no journal: its files are called journal-000001.jsonl and so on\n"
            "hint: name the directory that the operator was given as --journal-dir, or one file"
        )
    return found
