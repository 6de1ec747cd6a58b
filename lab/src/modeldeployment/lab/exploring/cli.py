"""`md-lab explore`: walk through as many states as asked for, and say what was found."""

import time
from typing import Annotated

import typer

from modeldeployment.lab.exploring.explorer import explore as walk
from modeldeployment.lab.exploring.promises import PROMISES
from modeldeployment.lab.terminal import say


def explore(
    states: Annotated[int, typer.Option(min=1, help="States to walk through at most.")] = 1_000_000,
) -> None:
    """Walk through states of planning, a deployment and a binding; the same count is always the same walk."""
    began = time.monotonic()
    found = walk(states, lambda count: say(f"{count:,} states, {time.monotonic() - began:.0f} s"))
    whole = "all there are" if found.complete else "breadth first"
    print(
        f"{found.states:,} states ({whole}) over {found.steps:,} steps: {found.worlds:,} worlds beside {found.bonds} "
        f"bindings, {len(PROMISES)} promises on every pass, {time.monotonic() - began:.0f} s"
    )
    for sentence in found.broken:
        print(f"broken: {sentence}")
    if found.broken:
        raise typer.Exit(1)
