"""A journal, planned once more: every decision is the same bit for bit, or the first difference is told."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from modeldeployment.operator.errors import UsageError
from modeldeployment.operator.people.printing import count
from modeldeployment.operator.people.scalers.passes import spelt, torn
from modeldeployment.scaler.errors import Undecodable
from modeldeployment.scaler.journal import Difference, Recorded, Torn, difference, read, repeat


@dataclass(slots=True)
class Replay:
    """What came of it; `parted` is where it ended, with the field and both values."""

    passes: int = 0
    inputs: int = 0
    """Lines without a plan, which there is nothing to compare with."""
    scalers: set[str] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)
    parted: tuple[Recorded, Difference] | None = None

    def sentence(self) -> str:
        """One line, or two where a decision differs."""
        if self.parted is None:
            passes = f"{count(self.passes, 'pass', 'es')} of {count(len(self.scalers), 'scaler')}"
            said = f"{passes}: every decision is the same"
            return f"{said}; {count(self.inputs, 'line')} without a plan" if self.inputs else said
        where, seen = self.parted
        scaler = f"{where.line.namespace}/{where.line.name}"
        return (
            f"{where.file}:{where.number}: {scaler} at {spelt(where.line.at)}: plan.{seen.field} differs\n"
            f"  recorded {seen.recorded}\n  repeated {seen.repeated}"
        )

    def table(self) -> dict[str, Any]:
        """The same for programs."""
        told: dict[str, Any] | None = None
        if self.parted is not None:
            where, seen = self.parted
            told = {
                "file": where.file,
                "line": where.number,
                "namespace": where.line.namespace,
                "name": where.line.name,
                "at": spelt(where.line.at),
                "field": f"plan.{seen.field}",
                "recorded": seen.recorded,
                "repeated": seen.repeated,
            }
        return {
            "passes": self.passes,
            "inputs": self.inputs,
            "scalers": sorted(self.scalers),
            "notes": self.notes,
            "difference": told,
        }


def replay(path: Path) -> Replay:
    """Plan every line again up to the first difference; raises UsageError for a journal that cannot be read."""
    seen = Replay()
    try:
        for each in read(path):
            if isinstance(each, Torn):
                seen.notes.append(torn(each))
            elif not _same(each, seen):
                return seen
    except Undecodable as error:
        raise UsageError(str(error)) from error
    if not seen.passes and not seen.inputs:
        raise UsageError(f"{path} has no whole line, so there is nothing to repeat")
    return seen


def _same(each: Recorded, seen: Replay) -> bool:
    line = each.line
    if line.plan is None:
        seen.inputs += 1
        return True
    try:
        repeated = repeat(line)
    except Undecodable as error:
        raise Undecodable(f"{each.file}:{each.number}: {error}") from error
    seen.passes += 1
    seen.scalers.add(f"{line.namespace}/{line.name}")
    parted = difference(line.plan, repeated)
    if parted is not None:
        seen.parted = (each, parted)
    return parted is None
