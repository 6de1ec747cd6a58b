"""What `md-lab` shows while it works: a progress bar on a terminal, plain lines elsewhere, always on standard error."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import assert_never

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from modeldeployment.lab import toolchain
from modeldeployment.lab.controlplane.record import ComponentPhase, Record


def say(line: str) -> None:
    """Print one line on standard error."""
    print(line, file=sys.stderr, flush=True)


@contextmanager
def build_report() -> Iterator[toolchain.Report]:
    """Yield what is told of a build's progress; the bar is measured in seconds of a build without caches."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _plain_build
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("building", total=None, visible=False)

        def report(progress: toolchain.Progress) -> None:
            bar.update(task, visible=True)
            match progress:
                case toolchain.Waiting():
                    bar.update(task, description="waiting for another build of the same programs", total=None)
                case toolchain.Building(program, done, total):
                    bar.update(task, description=f"building {program}", completed=done, total=total)
                case toolchain.Finished(folder):
                    bar.update(task, description=f"built {folder.name}", completed=1, total=1)
                case other:
                    assert_never(other)

        yield report


def _plain_build(progress: toolchain.Progress) -> None:
    match progress:
        case toolchain.Waiting():
            say("waiting for another build of the same programs")
        case toolchain.Building(program, done, total):
            say(f"building {program} ({done * 100 // total} % done; a first build takes about ten minutes)")
        case toolchain.Finished(folder):
            say(f"built {folder}")
        case other:
            assert_never(other)


class StartReport:
    """Says once of each component that it runs."""

    def __init__(self) -> None:
        self._said: set[str] = set()

    def __call__(self, record: Record) -> None:
        """Take in one state of the start."""
        for component, entry in record.components.items():
            if entry.phase is ComponentPhase.RUNNING and component not in self._said:
                self._said.add(component)
                say(f"{component} is ready")
