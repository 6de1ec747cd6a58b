"""Every example of the specification's documents, whole or completed to a whole, is let in as the documents say."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from people_worlds import DOCUMENTS, run, written

Capture = pytest.CaptureFixture[str]


def document(name: str) -> Any:
    """A fragment as it stands in its document; of a diff, what it adds and what it adds it to."""
    text = (DOCUMENTS / name).read_text(encoding="utf-8")
    if name.endswith(".diff"):
        text = "".join(line[1:] for line in text.splitlines(keepends=True))
    return yaml.safe_load(text)


def merged(whole: Any, part: Any) -> Any:
    """The whole with a part laid over it; roles are told apart by name."""
    if isinstance(whole, dict) and isinstance(part, dict):
        return whole | {key: merged(whole.get(key), value) for key, value in part.items()}
    if isinstance(whole, list) and isinstance(part, list) and part and isinstance(part[0], dict) and "name" in part[0]:
        named = {entry["name"]: entry for entry in part}
        return [merged(entry, named.get(entry["name"], {})) for entry in whole]
    return part


WHOLE = ("1-minimal.yaml", "2-pair.yaml", "3-scaler.yaml", "3-throughput.yaml", "3-predictive.yaml")
COMPLETED = {
    "1-roles.yaml": "1-minimal.yaml",
    "2-shared-pool.diff": "2-pair.yaml",
    "2-scale-out.diff": "2-pair.yaml",
    "2-transport.diff": "2-pair.yaml",
    "3-priority.yaml": "3-throughput.yaml",
}


def completed(name: str) -> Any:
    """The object a fragment is a part of."""
    whole, part = document(COMPLETED[name]), document(name)
    if name == "1-roles.yaml":
        whole["spec"]["roles"] = part["roles"]
        return whole
    return merged(whole, part)


def test_every_fragment_is_looked_at() -> None:
    others = {"3-argo.yaml", "3-flux.yaml"}
    statuses = {path.name for path in DOCUMENTS.glob("3-status-*.yaml")}
    assert {path.name for path in DOCUMENTS.iterdir()} == {*WHOLE, *COMPLETED, *others, *statuses}


@pytest.mark.parametrize("name", WHOLE)
def test_a_whole_example_is_let_in_as_it_stands(name: str, capsys: Capture) -> None:
    said = run(capsys, "validate", "-f", DOCUMENTS / name)
    assert said.status == 0
    assert "refused MD" not in said.out


@pytest.mark.parametrize("name", COMPLETED)
def test_a_fragment_is_let_in_with_the_rest_around_it(name: str, tmp_path: Path, capsys: Capture) -> None:
    said = run(capsys, "validate", "-f", written(tmp_path / "whole.yaml", completed(name)))
    assert said.status == 0
    assert "refused MD" not in said.out


def test_a_pair_with_its_scaler_is_let_in_together(tmp_path: Path, capsys: Capture) -> None:
    pair = completed("2-scale-out.diff")
    pair["metadata"]["name"] = "llm-serving"
    scaler = document("3-predictive.yaml")
    scaler["metadata"]["namespace"] = pair["metadata"]["namespace"]
    said = run(capsys, "validate", "-f", written(tmp_path / "both.yaml", pair, scaler))
    assert said.status == 0
    assert "not checked: ModelDeployment" not in said.out


def test_the_pair_is_warned_about_the_flag_until_its_fragment_adds_it(tmp_path: Path, capsys: Capture) -> None:
    assert "--enable-scale-out" in run(capsys, "validate", "-f", DOCUMENTS / "2-pair.yaml").out
    added = written(tmp_path / "whole.yaml", completed("2-scale-out.diff"))
    assert "warning" not in run(capsys, "validate", "-f", added).out.replace("0 warnings", "")


@pytest.mark.parametrize("name", sorted(path.name for path in DOCUMENTS.glob("3-status-*.yaml")))
def test_a_status_of_the_documents_has_no_field_the_kind_does_not_know(
    name: str, tmp_path: Path, capsys: Capture
) -> None:
    scaler = merged(document("3-throughput.yaml"), document(name))
    assert run(capsys, "validate", "-f", written(tmp_path / "whole.yaml", scaler)).status == 0


def test_the_frozen_fields_of_the_document_are_refused_by_name(tmp_path: Path, capsys: Capture) -> None:
    edited = document("1-minimal.yaml")
    edited["spec"]["roles"][0]["resources"]["accelerator"] = 4
    new = written(tmp_path / "new.yaml", edited)
    said = run(capsys, "validate", "-f", new, "--old", DOCUMENTS / "1-minimal.yaml")
    assert said.status == 1
    assert "refused MD033 spec.roles[0].resources" in said.lines[0]
