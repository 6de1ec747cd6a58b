# ruff: noqa: E501 (prose of a page)
"""docs/reliability.md: what is exercised, what was found, which seeded bugs are caught and by what."""

import os
import platform
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from modeldeployment.lab.crashes.hunting import Catch
from modeldeployment.lab.crashes.product import SEEDS
from modeldeployment.lab.crashes.promises import PROMISES
from modeldeployment.lab.crashes.scenarios import SCENARIOS
from modeldeployment.lab.crashes.seeding import Caught, Hunted

PAGE: Final = Path("docs/reliability.md")

_HEAD: Final = """# Reliability: crash anywhere

Written by `make reliability`; not by hand. The real controllers, deployment and set admission, run on the lab's fake world
(`lab/model`: an API server, Kueue, scheduler and kubelet in memory, in virtual time). Each scenario is played once
undisturbed and then again for every single thing that can go wrong once.

- **Kill**: the process ends before each write in turn, and after each write before its answer. Two seconds later a new one
  starts: fresh controllers, stores filled by lists, time goes on.
- **Lost answer**: each write is done and its answer lost; what may be repeated is repeated by the client, the rest is
  `Uncertain`.
- **Refusal**: each write is answered 409 once (deletes aside, which name a UID) and 500 once.
- **Events**: each event of each watch comes after the next pass, or merged with what follows, or is lost and a list follows.
- **Order**: whatever can happen next happens in {seeds} other orders.
- **Hurry**: where people act twice, the second time at each write of what the first set off.

A disturbed run must end like the undisturbed one (seats, fingerprints, labels, owners, Services, router objects,
Workloads, status without times). Creates and deletes may exceed it by what the fault costs: nothing, but for a kill, a lost
answer or a refusal at the create of a member of several, which costs that one replica once more. A delay, a merged event
and another order cost nothing and fail no pass. At rest, one more pass and one more process write nothing.
"""

_PROMISED: Final = """
## What holds after every write

"""

_SCENARIOS: Final = """
## Scenarios

| Scenario | What happens | Ends in | Pods created, deleted |
|---|---|---|---|
"""

_BUGS: Final = """
## Seeded bugs

Each is an edit of the present source, put into a copy of it (`lab/crashes/bugs`). The hunt stops at the first finding, and begins with the
run that caught the bug when this page was written last; `Runs` says how many it took without that.
Scenarios and promises grew until these were caught, so the share says what is covered, not what an unknown bug would meet.
Edits that change nothing here were left out: an event older than what a store holds never arrives in the fake world.

| Bug | What it is | Known from | Caught by | Runs |
|---|---|---|---|---|
"""


_ROW: Final = re.compile(
    r"^\| (?P<name>[\w-]+) \|[^|]*\|[^|]*\| (?P<by>[^|:]+): [^|]*\| (?P<runs>\d+) \|$", re.MULTILINE
)


def write(root: Path, clean: Catch, found: Sequence[Hunted], minutes: float) -> Path:
    """Write the page; where it stands."""
    page = root / PAGE
    page.write_text(text(clean, found, minutes))
    return page


def known(root: Path) -> dict[str, Caught]:
    """By which run each bug was caught when the page was written; empty where there is no page."""
    page = root / PAGE
    rows = _ROW.finditer(page.read_text()) if page.exists() else ()
    return {row["name"]: Caught(row["by"], int(row["runs"])) for row in rows}


def text(clean: Catch, found: Sequence[Hunted], minutes: float) -> str:
    """The page."""
    caught = [each for each in found if each.catch.found]
    missed = [each.bug.name for each in found if not each.catch.found]
    share = f"{len(caught)} of {len(found)} seeded bugs are caught ({len(caught) / max(1, len(found)):.0%})"
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    verdict = f"nothing found in {clean.runs:,} runs" if not clean.found else f"**found**: {clean.by}: {clean.found}"
    lines = [
        _HEAD.format(seeds=SEEDS),
        f"\nThe present source: {verdict}, {clean.seconds:.0f} s of processor time. {share}",
        f"; missed: {', '.join(missed)}" if missed else "",
        f". The whole took {minutes:.0f} min ({machine}). The suite plays a fixed part of the runs on every change.\n",
        _PROMISED,
        *(f"- {_sentence(each)}\n" for each in PROMISES),
        _SCENARIOS,
        *(
            f"| {each.name} | {each.what} | {', '.join(phase or 'gone' for phase in each.ends.phases)} "
            f"| {each.ends.pods[0]}, {each.ends.pods[1]} |\n"
            for each in SCENARIOS
        ),
        _BUGS,
        *(_row(each) for each in found),
    ]
    return "".join(lines)


def _row(each: Hunted) -> str:
    bug, catch = each.bug, each.catch
    by = f"{catch.by}: {_cell(catch.found)}" if catch.found else "**missed**"
    return f"| {bug.name} | {_cell(bug.what)} | {_cell(bug.known)} | {by} | {catch.runs} |\n"


def _cell(words: str) -> str:
    return (words if len(words) <= 110 else f"{words[:107]}…").replace("|", "/").replace("\n", " ")


def _sentence(promise: Callable[..., object]) -> str:
    return (promise.__doc__ or "").strip()
