"""`md-lab bench`: measure, keep the rows, show the table."""

import asyncio
import contextlib
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from modeldeployment.kube import KubeError
from modeldeployment.lab.bench import report, rows, suite
from modeldeployment.lab.bench.errors import BenchError, UnknownMeasurement
from modeldeployment.lab.bench.goals import Measurement, chosen
from modeldeployment.lab.bench.rows import Value
from modeldeployment.lab.terminal import build_report, say


def bench(
    only: Annotated[str, typer.Option(metavar="ID,ID", help="Measure these alone; other rows stay.")] = "",
    strict: Annotated[bool, typer.Option("--strict", help="Exit 1 when a goal is missed.")] = False,
    scale: Annotated[
        float,
        typer.Option(min=0.001, max=1.0, hidden=True, help="Shrink every count; such values are not kept."),
    ] = 1.0,
) -> None:
    """Measure what the operator costs beside raw ceilings of the same run, and write .bench/latest.json."""
    try:
        wanted = chosen(only)
    except UnknownMeasurement as error:
        raise typer.BadParameter(str(error), param_hint="--only") from error
    file = Path.cwd() / rows.LATEST
    kept = rows.read(file)
    try:
        values = asyncio.run(_measured(wanted, scale, file if scale == 1.0 else None, kept))
    except KubeError as error:
        raise BenchError(f"the measurement was broken off: {error}") from error
    report.show(values)
    if scale != 1.0:
        say(f"measured at {scale:g} of the size, so {rows.LATEST} is unchanged")
    missed = [value.measurement.id for value in values if not value.ok]
    if missed:
        say(f"goals missed: {', '.join(missed)}")
    if missed and strict:
        raise typer.Exit(1)


async def _measured(
    wanted: tuple[Measurement, ...], scale: float, file: Path | None, kept: list[dict[str, object]]
) -> list[Value]:
    """Run the suite, keeping each value at once so that a later failure loses none."""
    began = time.monotonic()
    values: list[Value] = []

    def tell(line: str) -> None:
        print(f"{time.monotonic() - began:6.1f} s  {line}", file=sys.stderr, flush=True)

    with build_report() as building:
        async with contextlib.aclosing(suite.run(wanted, scale, building, tell)) as measured:
            async for some in measured:
                values += [value for value in some if value.measurement in wanted]
                if file is not None:
                    rows.write(file, rows.merged(kept, values))
    tell("done")
    return values
