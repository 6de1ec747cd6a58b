"""Seeded bugs are edits of the present source: each text they replace stands there once."""

from pathlib import Path

import pytest
from modeldeployment.lab.crashes.bugs import BUGS, Bug

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_what_a_bug_replaces_stands_once_in_the_source(bug: Bug) -> None:
    for edit in bug.edits:
        assert (ROOT / edit.file).read_text().count(edit.old) == 1, f"{edit.file}: adapt the bug to: {edit.old}"
        assert edit.new != edit.old


def test_bugs_have_names_of_their_own() -> None:
    assert len({bug.name for bug in BUGS}) == len(BUGS)
    assert len(BUGS) >= 30
