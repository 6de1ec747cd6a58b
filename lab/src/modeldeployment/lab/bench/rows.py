"""The measured values as rows of `.bench/latest.json`."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from modeldeployment.lab.bench.errors import BenchError
from modeldeployment.lab.bench.goals import MEASUREMENTS, Measurement

LATEST: Final = Path(".bench") / "latest.json"


@dataclass(frozen=True, slots=True)
class Value:
    """One measured value, and in words what it was measured against."""

    measurement: Measurement
    value: float
    against: str

    @property
    def ok(self) -> bool:
        """Whether the goal is met."""
        return self.measurement.met_by(self.value)

    def row(self) -> dict[str, Any]:
        """The row of the file: id, value, unit, goal, ok."""
        kind = self.measurement
        return {"id": kind.id, "value": round(self.value, 4), "unit": kind.unit, "goal": kind.goal, "ok": self.ok}


def merged(earlier: Iterable[dict[str, Any]], values: Iterable[Value]) -> list[dict[str, Any]]:
    """The rows in the order of the contract: new ones replace earlier ones of their id, the others stay."""
    rows = {str(row.get("id")): row for row in earlier} | {value.measurement.id: value.row() for value in values}
    return [rows[kind.id] for kind in MEASUREMENTS if kind.id in rows]


def read(file: Path) -> list[dict[str, Any]]:
    """The rows of an earlier run; none where there is no file. Raises BenchError for a file that is something else."""
    try:
        rows = json.loads(file.read_bytes())
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as error:
        raise BenchError(f"{file} cannot be read ({error}); remove it and measure again") from error
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise BenchError(f"{file} holds no list of rows; remove it and measure again")
    return rows


def write(file: Path, rows: Sequence[dict[str, Any]]) -> None:
    """Put the rows in place of the file at once. Raises BenchError where that is not possible."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        fresh = file.with_suffix(".new")
        fresh.write_text(json.dumps(rows, indent=2) + "\n")
        fresh.replace(file)
    except OSError as error:
        raise BenchError(f"{file} cannot be written ({error.strerror}); run it from a directory that can") from error
