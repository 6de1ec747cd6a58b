"""The page of every code, and the two documents made of them; UPDATE_GOLDEN=1 rewrites those instead of comparing."""

import os
import re
from functools import cache
from pathlib import Path

import pytest
import yaml
from modeldeployment.admission import catalogue
from modeldeployment.admission.examples import GONE, Example
from modeldeployment.admission.showing import example

DOCUMENTS = {"refusals": cache(catalogue.refusals), "lints": cache(catalogue.lints)}
DOCS = Path(__file__).parents[3] / "docs"


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_document_kept_as_golden_is_what_the_rows_say(name: str) -> None:
    path, generated = DOCS / f"{name}.md", DOCUMENTS[name]()
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(generated, encoding="utf-8")
    assert generated == path.read_text(encoding="utf-8"), "if the change is meant, run the tests with UPDATE_GOLDEN=1"


@pytest.mark.parametrize("code", sorted(catalogue.rows()))
def test_a_page_shows_what_is_answered_and_a_neighbour_that_passes(code: str) -> None:
    page = catalogue.page(code)
    assert page.startswith(f"# {code}\n")
    assert re.findall(r"^## (.*)$", page, re.MULTILINE) in (
        ["Refused", "Not refused"],
        ["Warned about", "Not warned about"],
    )
    shown = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    assert len(shown) >= 2
    assert all(yaml.safe_load(block)["kind"] for block in shown)
    assert re.search(r"```text\n.+\n```", page, re.DOTALL)


@pytest.mark.parametrize("code", ["MD000", "MDW00", "md012", ""])
def test_an_unknown_code_has_no_page(code: str) -> None:
    with pytest.raises(KeyError):
        catalogue.page(code)


def test_every_code_is_linked_from_the_index_of_its_document() -> None:
    written = "".join(document() for document in DOCUMENTS.values())
    assert [code for code in catalogue.rows() if f"[{code}](#{code.lower()})" not in written] == []
    assert [code for code in catalogue.rows() if f"\n## {code}\n" not in written] == []


def test_an_example_shows_what_changed_and_the_names_on_the_way() -> None:
    assert example(Example({"spec.roles[0].extraArgs": ["--port", "9000"], "spec.kvCache": GONE})) == (
        "```yaml\n"
        "kind: ModelDeployment\n"
        "spec:\n"
        "  roles:\n"
        "  - name: server\n"
        "    extraArgs:\n"
        "    - --port\n"
        "    - '9000'\n"
        "# without spec.kvCache\n"
        "```"
    )


def test_an_example_of_an_update_shows_both_objects() -> None:
    shown = example(Example({"spec.engine.name": "SGLang"}, old={}))
    assert [yaml.safe_load(block)["spec"] for block in re.findall(r"```yaml\n(.*?)```", shown, re.DOTALL)] == [
        {"engine": {"name": "vLLM"}},
        {"engine": {"name": "SGLang"}},
    ]
    assert re.findall(r"^(Stored|Written):$", shown, re.MULTILINE) == ["Stored", "Written"]


def test_an_example_cuts_what_is_long_and_says_how_long_it_is() -> None:
    shown = example(Example({"spec.roles[0].image": "i" * 513, "spec.roles[0].extraArgs": ["-v"] * 300}))
    assert "(513 characters)" in shown
    assert "(300 entries)" in shown
    assert len(shown) < 400


def test_an_example_says_what_is_different_in_the_cluster() -> None:
    shown = example(Example(known={"h20-8x": None, "mi300x": {"spec.acceleratable": False}}))
    assert "With no `h20-8x` in the cluster." in shown
    assert "`mi300x`" in shown


def test_an_example_that_changes_nothing_shows_the_object_whole() -> None:
    (block,) = re.findall(r"```yaml\n(.*?)```", example(Example(scaler=True)), re.DOTALL)
    assert list(yaml.safe_load(block)["spec"]) == ["targetRef", "roles", "algorithm"]


@pytest.mark.parametrize("code", catalogue.KEPT)
def test_a_row_that_nothing_triggers_has_its_page_all_the_same(code: str) -> None:
    assert code not in catalogue.rows()
    assert "no object is refused by it today" in catalogue.page(code)
    assert catalogue.page(code).replace("# ", "### ", 1) in catalogue.refusals()
