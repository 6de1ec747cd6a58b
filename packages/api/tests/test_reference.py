"""The generated reference pages against those kept under docs/; UPDATE_GOLDEN=1 rewrites those instead of comparing."""

import os
from pathlib import Path

import pytest
import yaml
from modeldeployment.api import reference
from modeldeployment.api.crds import KINDS
from modeldeployment.api.minimal import MINIMAL

DOCS = Path(__file__).parents[3] / "docs" / "reference"
PAGES = reference.pages()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_the_one_kept_as_golden(name: str) -> None:
    path = DOCS / name
    if os.environ.get("UPDATE_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(PAGES[name], encoding="utf-8")
    assert PAGES[name] == path.read_text(encoding="utf-8"), "if the change is meant, run with UPDATE_GOLDEN=1"


def test_every_kind_has_a_page_and_no_page_is_left_of_a_kind_that_went() -> None:
    assert sorted(PAGES) == sorted(path.name for path in DOCS.glob("*.md"))
    assert list(PAGES) == [f"{kind.name.lower()}.md" for kind in KINDS]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_the_least_object_of_a_page_is_one_of_its_kind(kind: object) -> None:
    (found,) = (each for each in KINDS if each is kind)
    document = yaml.safe_load(MINIMAL[found.name])
    assert document["kind"] == found.name
    assert found.model.model_validate(document).body()["metadata"]["name"] == document["metadata"]["name"]
    assert ("namespace" in document["metadata"]) is found.namespaced


def test_a_field_is_shown_with_type_default_bounds_and_description() -> None:
    page = PAGES["modeldeploymentscaler.md"].splitlines()
    assert "| `spec.roles[].minReplicas` | int32 | `1` | 1 to 1024 | Fewest replicas. |" in page
    assert (
        "| `spec.suspend` | boolean | `false` |  | Whether planning stops and an owned binding is released. |" in page
    )
    assert any(line.startswith('| `spec.algorithm.proportional.tolerance` | quantity | `"0.1"` |') for line in page)
    assert any(line.startswith("| `status.lastCommit.vector` | map of int32 |  | required |") for line in page)


def test_a_pattern_does_not_break_the_table_it_stands_in() -> None:
    for page in PAGES.values():
        rows = [line for line in page.splitlines() if line.startswith(("| `spec.", "| `status."))]
        assert {line.replace("\\|", "").count("|") for line in rows} <= {3, 6}


def test_a_rule_is_shown_with_its_code_and_when_it_judges() -> None:
    rules = [line for line in PAGES["kvcachepool.md"].splitlines() if line.startswith("| `MD")]
    assert [line.split(" | ")[:3] for line in rules] == [
        ["| `MD205`", "`spec.backends`", "always"],
        ["| `MD206`", "`spec.backends`", "edit"],
        ["| `MD207`", "`spec.quota.total`", "always"],
    ]
