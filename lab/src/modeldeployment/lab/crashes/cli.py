"""`md-lab reliability`: play everything, hunt every seeded bug, rewrite docs/reliability.md."""

import time
from pathlib import Path
from typing import Annotated

import typer

from modeldeployment.lab.crashes import reporting, seeding
from modeldeployment.lab.crashes.bugs import BUGS
from modeldeployment.lab.terminal import say


def reliability(
    only: Annotated[str, typer.Option(metavar="BUG,BUG", help="Hunt these bugs alone; the page stays.")] = "",
    runs: Annotated[int, typer.Option(min=1, help="Runs in the present source at most.")] = 1_000_000,
    hunt: Annotated[int, typer.Option(min=1, help="Runs for each seeded bug at most.")] = 1_000_000,
    anew: Annotated[bool, typer.Option("--anew", help="Do not begin with what caught a bug last time.")] = False,
    workers: Annotated[int, typer.Option(min=1, help="Hunts side by side.")] = 2,
) -> None:
    """Crash the controllers everywhere on the fake world, then see whether known bugs are caught."""
    root, began = Path.cwd(), time.monotonic()
    names = [each for each in only.split(",") if each]
    if unknown := sorted(set(names) - {each.name for each in BUGS}):
        raise typer.BadParameter(f"there is no bug {', '.join(unknown)}", param_hint="--only")
    bugs = [each for each in BUGS if not names or each.name in names]
    found = []
    for each in seeding.hunted(root, bugs, hunt, workers, {} if anew else reporting.known(root)):
        found.append(each)
        say(f"{'caught' if each.catch.found else 'MISSED'} {each.bug.name}: {each.catch.by} {each.catch.found}")
    if names:
        return
    clean = seeding.sweep(root, runs, workers)
    page = reporting.write(root, clean, found, (time.monotonic() - began) / 60)
    say(f"{clean.runs} runs of the present source: {clean.found or 'nothing found'}; {page} is rewritten")
    if clean.found or sum(1 for each in found if each.catch.found) < 0.95 * len(found):
        raise typer.Exit(1)
