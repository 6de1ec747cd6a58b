import doctest
from pathlib import Path

import modeldeployment.api as front_door

README = Path(__file__).parents[1] / "README.md"


def test_the_example_in_the_readme_runs() -> None:
    result = doctest.testfile(str(README), module_relative=False, encoding="utf-8")
    assert result.attempted > 0
    assert result.failed == 0


def test_every_public_name_exists_and_is_in_the_readme() -> None:
    text = README.read_text(encoding="utf-8")
    assert [name for name in front_door.__all__ if not hasattr(front_door, name)] == []
    assert [name for name in front_door.__all__ if f"`{name}`" not in text] == []
