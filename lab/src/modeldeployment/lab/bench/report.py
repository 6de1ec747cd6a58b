"""The table people read at the end."""

from collections.abc import Iterable

from rich.console import Console
from rich.table import Table

from modeldeployment.lab.bench.rows import Value


def table(values: Iterable[Value]) -> Table:
    """One line a value: id, value, goal, whether it is met, and what it was measured against."""
    made = Table(title="Measured", title_justify="left", show_lines=True)
    for heading in ("id", "value", "goal", "ok"):
        made.add_column(heading, no_wrap=True)
    made.add_column("measured against", overflow="fold")
    for value in values:
        kind = value.measurement
        verdict = "yes" if value.ok else "[bold red]missed[/]"
        made.add_row(kind.id, f"{value.value:.4g} {kind.unit}", kind.goal, verdict, value.against)
    return made


def show(values: Iterable[Value]) -> None:
    """Print the table on standard output; as wide as it needs to be where that is no terminal."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=160)
    console.print(table(values))
