"""The README's example runs, and its table names what the package exports."""

import doctest
from pathlib import Path

from modeldeployment import scaler

README = Path(__file__).parents[1] / "README.md"


def test_the_example_runs() -> None:
    result = doctest.testfile(str(README), module_relative=False, encoding="utf-8")
    assert result.attempted > 0
    assert result.failed == 0


def test_every_public_name_is_in_the_table() -> None:
    table = README.read_text(encoding="utf-8").split("## Public names")[1].split("\n## ")[0]
    assert [name for name in scaler.__all__ if f"`{name}`" not in table] == []
