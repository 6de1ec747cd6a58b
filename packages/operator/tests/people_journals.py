"""Journals for the tests of `kubectl md`: passes that the planner itself has planned, written as the operator does."""

from pathlib import Path
from typing import Any

import msgspec
from modeldeployment.scaler.journal import Line, encode, repeat
from scaler_lines import line


def planned(seconds: int = 0, **changed: Any) -> Line:
    """A pass of `chat` so many seconds after ten, planned from what it says."""
    one = line(seconds, plan=None, **changed)
    return msgspec.structs.replace(one, plan=repeat(one), committed=True)


def journal(directory: Path, *lines: Line) -> Path:
    """A journal of these lines; the directory of it."""
    directory.mkdir(exist_ok=True)
    (directory / "journal-000001.jsonl").write_bytes(b"".join(encode(each) + b"\n" for each in lines))
    return directory
