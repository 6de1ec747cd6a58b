"""The README's example runs, and its table names what the package exports."""

import doctest
import re
from pathlib import Path

import modeldeployment.reconcile

README = Path(__file__).parents[1] / "README.md"


def test_the_example_runs_as_written() -> None:
    result = doctest.testfile(str(README), module_relative=False)
    assert result.attempted > 5
    assert result.failed == 0


def test_the_table_names_exactly_what_the_package_exports() -> None:
    table = README.read_text(encoding="utf-8").split("## Public names")[1].split("\n## ")[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert named == set(modeldeployment.reconcile.__all__)
