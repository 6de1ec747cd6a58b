"""Tells the story on a console: a live table on a terminal, plain lines elsewhere."""

from collections.abc import Iterable
from contextlib import AbstractContextManager
from types import TracebackType
from typing import IO, Final, Self

from rich.console import Console
from rich.live import Live
from rich.text import Text

from modeldeployment.lab.demo import pictures
from modeldeployment.lab.demo.claims import Verdict
from modeldeployment.lab.demo.history import World
from modeldeployment.lab.demo.kubectl import Told

_WIDE: Final = 160
"""Columns of output that is no terminal, where nobody folds lines."""


def console(stream: IO[str]) -> Console:
    """Return a console that sends control codes to terminals alone, whatever the environment asks for."""
    terminal = stream.isatty()
    return Console(file=stream, force_terminal=terminal, width=None if terminal else _WIDE, highlight=False)


class Teller(AbstractContextManager["Teller"]):
    """A `Show` on a console; as a context it gives the terminal back whole."""

    def __init__(self, on: Console) -> None:
        self._console = on
        self._live: Live | None = None
        self._begun = False
        self._last = ""
        self._held = 0
        self._failed = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._rest()

    def say(self, text: str, style: str = "") -> None:
        """Print one line."""
        self._rest()
        self._console.print(Text(text, style), soft_wrap=True)

    def step(self, title: str) -> None:
        """Begin a step: its title, and the table on a terminal."""
        self.say("")
        self.say(title, "bold")
        self._begun = True
        self._last = ""
        if self._console.is_terminal:
            self._live = Live(console=self._console, transient=True, refresh_per_second=12)
            self._live.start()

    def told(self, told: Told) -> None:
        """Print a command and what it printed; a terminal's lines are folded under their own beginning."""
        self.say(f"  $ {told.command}", "cyan")
        for line in told.lines:
            if self._console.is_terminal:
                self._console.print(pictures.printed(line))
            else:
                self.say(f"  {line}".rstrip())

    def progress(self, world: World) -> None:
        """Show how the deployment stands; a line for every difference where there is no terminal."""
        if self._live is not None:
            self._live.update(pictures.table(world))
            return
        line = pictures.line(world)
        if self._begun and line != self._last and not self._console.is_terminal:
            self._last = line
            self.say(f"  · {line}")

    def verdict(self, verdict: Verdict, *, seconds: float | None = None) -> None:
        """Print a claim with ✓ or ✗, and below it what speaks against it."""
        self._held += verdict.holds
        self._failed += not verdict.holds
        took = "" if seconds is None else f" ({seconds:.1f} s)"
        yes, no = ("ok:", "NOT:") if self._console.options.ascii_only else ("✓", "✗")
        mark, style = (yes, "green") if verdict.holds else (no, "bold red")
        self.say(f"{mark} {verdict.claim}{took}", style)
        for reason in verdict.against:
            self.say(f"    {reason}", "red")

    def summary(self, seconds: float) -> str:
        """Return how many claims held, and how long everything took."""
        claims = self._held + self._failed
        if self._failed:
            return f"{self._failed} of {claims} claims do not hold ({seconds:.0f} s)"
        return f"all {claims} claims hold ({seconds:.0f} s)"

    def picture(self, world: World) -> None:
        """Print the tree."""
        self._rest()
        self._console.print(pictures.tree(world))

    def trouble(self, title: str, lines: Iterable[str]) -> None:
        """Print lines under a title; nothing if there are none."""
        shown = tuple(lines)
        if shown:
            self.say(title, "bold")
        for each in shown:
            self.say(f"  {each}")

    def _rest(self) -> None:
        """Take the live table off the terminal."""
        if self._live is not None:
            self._live.stop()
            self._live = None
