"""What the page says of a bug is what the next hunt begins with."""

from pathlib import Path

import pytest
from modeldeployment.lab.crashes import reporting
from modeldeployment.lab.crashes.bugs import BUGS
from modeldeployment.lab.crashes.hunting import Catch, named
from modeldeployment.lab.crashes.seeding import Caught, Hunted, NotSeeded, hunt_one, remembered

CLEAN = Catch("", "", 9000, 600.0)
ROOT = Path(__file__).parents[2]


def test_the_run_that_caught_a_bug_is_read_back_from_the_page(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    first, second, third, *_ = BUGS
    catches = (
        Catch("status says 1 | 2: no", "rollout, event 5 late", 12, 1.0),
        Catch("", "", 9000, 600.0),
        Catch("does not start: SyntaxError", "import", 0, 0.0),
    )
    found = [Hunted(bug, catch) for bug, catch in zip((first, second, third), catches, strict=True)]
    reporting.write(tmp_path, CLEAN, found, 1.0)
    assert reporting.known(tmp_path) == {
        first.name: Caught("rollout, event 5 late", 12),
        third.name: Caught("import", 0),
    }


@pytest.mark.parametrize("run", ["one-role, undisturbed in another way", "nothing, undisturbed", ""])
def test_a_run_that_is_there_no_more_is_not_begun_with(run: str) -> None:
    assert list(named(run)) == []


@pytest.mark.parametrize(
    ("catch", "last", "runs"),
    [
        pytest.param(Catch("no", "rollout, event 5 late", 1, 1.0), Caught("rollout, event 5 late", 12), 12, id="again"),
        pytest.param(Catch("no", "pair, undisturbed", 7, 1.0), Caught("rollout, event 5 late", 12), 7, id="by-another"),
        pytest.param(Catch("no", "pair, undisturbed", 7, 1.0), Caught(), 7, id="anew"),
        pytest.param(Catch("", "", 9000, 600.0), Caught("rollout, event 5 late", 12), 9000, id="no-more"),
        pytest.param(Catch("", "", 9000, 600.0), Caught(), 9000, id="never"),
    ],
)
def test_a_hunt_that_begins_with_the_run_of_the_page_keeps_the_runs_of_the_page(
    catch: Catch, last: Caught, runs: int
) -> None:
    assert remembered(catch, last).runs == runs


def test_a_hunt_that_outlasts_all_patience_says_whose_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("modeldeployment.lab.crashes.seeding._PATIENCE", 0.01)
    with pytest.raises(NotSeeded, match=f"hunt of {BUGS[0].name} did not end within"):
        hunt_one(ROOT, BUGS[0], 1)


def test_a_run_is_played_by_its_name() -> None:
    assert list(named("one-role, killed before write 2")) == [("one-role, killed before write 2", [])]


def test_a_hunt_without_a_page_begins_with_nothing(tmp_path: Path) -> None:
    assert reporting.known(tmp_path) == {}


def test_every_bug_on_the_page_is_read_back() -> None:
    page = (ROOT / reporting.PAGE).read_text()
    rows = page.partition("## Seeded bugs")[2].count("\n| ") - 1
    assert len(reporting.known(ROOT)) == rows - page.count("**missed**")
