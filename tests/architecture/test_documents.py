"""What is generated or promised in documents is true."""

import doctest
import re
from pathlib import Path

import pytest
import yaml
from modeldeployment.api.crds import crds

ROOT = Path(__file__).parents[2]
READMES = sorted(
    [*ROOT.glob("*.md"), *ROOT.glob("packages/*/README.md"), *ROOT.glob("lab/README.md"), *ROOT.glob("docs/*.md")]
)
GOLDEN = ROOT / "packages" / "api" / "tests" / "golden"


@pytest.mark.parametrize("readme", READMES, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_examples_of_a_document_run(readme: Path) -> None:
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    result = doctest.testfile(str(readme), module_relative=False, encoding="utf-8", optionflags=flags)
    assert result.failed == 0


def test_the_definitions_on_disk_are_those_the_models_make() -> None:
    stored = {path.stem: yaml.safe_load(path.read_text()) for path in sorted(GOLDEN.glob("*.yaml"))}
    assert stored == {definition["metadata"]["name"]: definition for definition in crds()}


@pytest.mark.parametrize("document", READMES, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_files_a_document_points_at_exist(document: Path) -> None:
    prose = re.sub(r"^```.*?^```$", "", document.read_text(), flags=re.DOTALL | re.MULTILINE)
    targets = re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", prose)
    assert [target for target in targets if not (document.parent / target).exists()] == []
