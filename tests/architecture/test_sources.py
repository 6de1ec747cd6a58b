"""What the source files look like: their size, their names, and where each fact is written."""

import ast
import re
import statistics
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from modeldeployment.api import keys, kueue

ROOT = Path(__file__).parents[2]
MEMBERS = sorted(path.parent for path in [*ROOT.glob("packages/*/pyproject.toml"), ROOT / "lab" / "pyproject.toml"])
SOURCES = sorted(path for member in MEMBERS for path in (member / "src").rglob("*.py"))
TESTS = sorted([*ROOT.glob("packages/*/tests/**/*.py"), *ROOT.glob("lab/tests/**/*.py"), *ROOT.glob("tests/**/*.py")])

FORBIDDEN = {"utils", "util", "helpers", "helper", "common", "base", "manager", "core", "misc"}


def test_files_are_short() -> None:
    lines = {path: len(path.read_text().splitlines()) for path in [*SOURCES, *TESTS]}
    assert [str(path.relative_to(ROOT)) for path, count in lines.items() if count > 600] == []
    assert sum(count <= 400 for count in lines.values()) / len(lines) >= 0.9
    assert statistics.median(lines.values()) <= 150


def test_no_module_is_named_after_nothing_in_particular() -> None:
    named = [path for path in [*SOURCES, *TESTS] if FORBIDDEN & {path.stem, *path.relative_to(ROOT).parts}]
    assert named == []


def test_the_namespace_has_no_package_of_its_own() -> None:
    assert [path for path in SOURCES if path.name == "__init__.py" and path.parent.name == "modeldeployment"] == []


def test_a_version_is_written_in_a_members_pyproject_and_nowhere_else() -> None:
    for member in MEMBERS:
        project = tomllib.loads((member / "pyproject.toml").read_text())["project"]
        assert re.fullmatch(r"\d+\.\d+\.\d+", project["version"])
    assert [path for path in SOURCES if re.search(r"^__version__\s*=", path.read_text(), re.MULTILINE)] == []


KEYS = {
    value
    for module in (keys, kueue)
    for value in vars(module).values()
    if type(value) is str and ("/" in value or value == keys.GROUP)
}
VOCABULARY = {"packages/api/src/modeldeployment/api/keys.py", "packages/api/src/modeldeployment/api/kueue.py"}
OURS = re.compile(r"(?:^|[^\w.])((?:[a-z-]+\.)*(?:gpustack\.ai|kueue\.x-k8s\.io)/[\w.-]*)")
JUSTIFIED = {
    # How the lab runs Kueue: its configuration file, and a probe of the version that is being started.
    "lab/src/modeldeployment/lab/controlplane/configurations.py": {"config.kueue.x-k8s.io/v1beta2"},
    "lab/src/modeldeployment/lab/controlplane/installing.py": {"kueue.x-k8s.io/v1beta2"},
    "lab/src/modeldeployment/lab/controlplane/quota.py": {"credits.gpustack.ai/"},
    # What the lab's nodes offer; the operator reads these resource names from InstanceTypes and Pods.
    "lab/src/modeldeployment/lab/fleets/keys.py": {"device.gpustack.ai/rdma", "device.gpustack.ai/rdma.shared"},
    # Paths of a load generator that speaks to the API server without the client it measures.
    "lab/src/modeldeployment/lab/bench/worlds.py": {"kueue.x-k8s.io/v1beta2"},
    # A rule the API server evaluates: the key is part of an expression.
    "packages/api/src/modeldeployment/api/frozen.py": {keys.HOSTNAME},
}
"""Keys written outside the vocabulary, and why that is right."""


def test_every_label_and_annotation_is_written_in_the_vocabulary_alone() -> None:
    strangers: dict[str, set[str]] = defaultdict(set)
    for path in SOURCES:
        name = str(path.relative_to(ROOT))
        for text in _strings(path):
            found = {text} & KEYS | set(OURS.findall(text))
            if name not in VOCABULARY and (more := found - JUSTIFIED.get(name, set())):
                strangers[name] |= more
    assert strangers == {}


def test_every_word_of_the_vocabulary_is_written_once() -> None:
    written = [text for name in sorted(VOCABULARY) for text in _strings(ROOT / name) if text in KEYS]
    assert sorted(written) == sorted(set(written))


def test_nothing_names_a_path_of_the_machine_it_was_written_on() -> None:
    path = re.compile(r"(?<![\w.{}$])/(?:work|root|home/\w+)/[\w.]")
    tracked = [each for pattern in ("*.py", "*.md", "*.toml", "*.yaml", "Makefile") for each in ROOT.rglob(pattern)]
    own = [each for each in tracked if not {".venv", ".git", ".tools", "node_modules"} & set(each.parts)]
    assert own
    assert [
        str(each.relative_to(ROOT)) for each in own if path.search(each.read_text()) and each != Path(__file__)
    ] == []


@pytest.mark.parametrize("member", MEMBERS, ids=lambda member: member.name)
def test_every_member_has_a_readme_with_an_example(member: Path) -> None:
    text = (member / "README.md").read_text()
    assert ">>> " in text or "```" in text


def _strings(path: Path) -> Iterator[str]:
    """Every string of a file that is not a docstring."""
    tree = ast.parse(path.read_text())
    prose = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
            yield node.value
