"""Puts a bug into a copy of the source and has it looked for there; the checkout is never touched."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from modeldeployment.lab.crashes.bugs import Bug
from modeldeployment.lab.crashes.hunting import Catch
from modeldeployment.lab.errors import LabError

_IGNORED: Final = shutil.ignore_patterns("__pycache__", "*.pyc")
_PATIENCE: Final = 1800.0


class NotSeeded(LabError):
    """A bug does not fit the present source any more, or its hunt broke down."""


@dataclass(frozen=True, slots=True)
class Caught:
    """By which run a bug was caught last, and after how many that were not chosen for it; empty where it was not."""

    by: str = ""
    runs: int = 0


@dataclass(frozen=True, slots=True)
class Hunted:
    """A bug and what was found of it."""

    bug: Bug
    catch: Catch


def hunted(root: Path, bugs: Iterable[Bug], most: int, workers: int, known: Mapping[str, Caught]) -> Iterable[Hunted]:
    """Hunt bugs side by side, at most so many runs each, in the order given. Raises NotSeeded.

    By what a bug is `known` to be caught, that is played first; if it still is, the runs that a hunt once took remain.
    """

    def hunt(bug: Bug) -> Hunted:
        last = known.get(bug.name, Caught())
        return Hunted(bug, remembered(hunt_one(root, bug, most, first=last.by), last))

    with ThreadPoolExecutor(workers) as pool:
        yield from pool.map(hunt, bugs)


def remembered(catch: Catch, last: Caught) -> Catch:
    """Answer a catch with the runs that a hunt once took, where the run that caught the bug last still does."""
    return replace(catch, runs=last.runs) if last.by and catch.by == last.by else catch


def sweep(root: Path, most: int, workers: int) -> Catch:
    """Play the present source, at most so many runs, in as many parts as there are workers. Raises NotSeeded."""
    with ThreadPoolExecutor(workers) as pool:
        parts = list(pool.map(lambda part: hunt_one(root, None, most // workers, part, workers), range(workers)))
    worst = next((each for each in parts if each.found), parts[0])
    return Catch(worst.found, worst.by, sum(each.runs for each in parts), sum(each.seconds for each in parts))


def hunt_one(root: Path, bug: Bug | None, most: int, part: int = 0, parts: int = 1, first: str = "") -> Catch:
    """Hunt one bug, or none, in a copy of the source. Raises NotSeeded, also where a hunt outlasts all patience."""
    with tempfile.TemporaryDirectory(prefix="seeded-") as folder:
        copy = Path(folder)
        sources = [*sorted(root.glob("packages/*/src")), root / "lab/src"]
        for source in sources:
            shutil.copytree(source, copy / source.relative_to(root), ignore=_IGNORED)
        for edit in bug.edits if bug is not None else ():
            file = copy / edit.file
            text = file.read_text()
            if text.count(edit.old) != 1:
                raise NotSeeded(f"{edit.file}: the text that a bug replaces stands there {text.count(edit.old)} times")
            file.write_text(text.replace(edit.old, edit.new))
        path = os.pathsep.join(str(copy / source.relative_to(root)) for source in sources)
        command = [sys.executable, "-m", "modeldeployment.lab.crashes.hunting", str(most), str(part), str(parts), first]
        environment = {**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": "0"}
        try:
            done = subprocess.run(
                command, env=environment, capture_output=True, text=True, timeout=_PATIENCE, check=False
            )
        except subprocess.TimeoutExpired as late:
            name = bug.name if bug is not None else "the present source"
            raise NotSeeded(f"the hunt of {name} did not end within {_PATIENCE:.0f} s") from late
    if done.returncode != 0:
        if bug is None or done.returncode < 0:  # a signal ended it, which says nothing of a bug
            raise NotSeeded(f"the hunt broke down with status {done.returncode}: {done.stderr[-500:]}")
        return Catch(f"does not start: {done.stderr.strip().rpartition(chr(10))[2]}", "import", 0, 0.0)
    return Catch(**json.loads(done.stdout.splitlines()[-1]))
