"""What docs/scaling.md, docs/journal.md and docs/gitops.md show is what the commands print."""

import re
from pathlib import Path

import pytest
from people_worlds import run

Capture = pytest.CaptureFixture[str]

DOCS = Path(__file__).parents[3] / "docs"


def blocks(document: str, kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```", (DOCS / document).read_text(), re.DOTALL | re.MULTILINE)


def test_the_pass_that_is_planned_by_hand_comes_to_what_is_shown(tmp_path: Path, capsys: Capture) -> None:
    (document,) = blocks("journal.md", "json")
    file = tmp_path / "input.json"
    file.write_text(document)
    shown = next(each for each in blocks("journal.md", "text") if each.startswith("default/"))
    assert run(capsys, "plan", "--input", file, "-o", "text").out == shown


def test_the_settings_for_gitops_are_those_that_are_printed(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "deployment.yaml"
    file.write_text("kind: ModelDeployment\nmetadata: {name: llm-serving}\nspec: {roles: [{name: server}]}\n")
    printed = [run(capsys, "gitops", "llm-serving", "--for", whose, "-f", file).out for whose in ("argocd", "flux")]
    assert blocks("gitops.md", "yaml") == printed


def test_the_pass_that_is_explained_is_told_as_it_is_shown() -> None:
    told = (Path(__file__).parent / "test_people_scaler_why.py").read_text()
    shown = next(each for each in blocks("scaling.md", "text") if each.startswith("default/"))
    for line in shown.splitlines():
        assert f'"{line}\\n"' in told
