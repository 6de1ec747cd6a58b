"""What the page of the walk through every state says is what the walk holds."""

from pathlib import Path

from modeldeployment.lab.exploring import PROMISES

PAGE = Path(__file__).parents[2] / "docs" / "exploration.md"


def test_every_promise_stands_on_the_page() -> None:
    told = PAGE.read_text().splitlines()
    assert [each.sentence for each in PROMISES if f"- {each.sentence}" not in told] == []
