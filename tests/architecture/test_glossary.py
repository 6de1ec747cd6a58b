"""The glossary names types that exist, and the code keeps off the words it rules out."""

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in (ROOT / "docs" / "glossary.md").read_text().splitlines()
    if line.startswith("| ") and not line.startswith("| Word")
]
LATER = "(a later stage)"
AMBIGUOUS = frozenset(
    [
        "app",
        "service",
        "component",
        "type",
        "unit",
        "index",
        "rank",
        "number",
        "worker",
        "master",
        "head",
        "batch",
        "position",
        "error",
        "flavor",
        "state",
        "loop",
        "sync",
        "plan",
        "action",
        "operation",
        "eviction",
        "stuck",
        "readiness",
        "cache",
        "cluster",
        "queue",
        "revision",
        "warning",
        "instance",
        "plugin",
    ]
)
"""Words that also mean something else here, so finding one proves nothing."""
RULED_OUT = sorted({word for row in ROWS for word in row[3].split(", ") if " " not in word} - AMBIGUOUS)


@pytest.mark.parametrize("carrier", sorted({row[2].strip("`") for row in ROWS if row[2] != LATER}))
def test_every_word_is_carried_by_something_that_exists(carrier: str) -> None:
    try:
        importlib.import_module(carrier)
    except ModuleNotFoundError:
        module, name = carrier.rsplit(".", 1)
        assert hasattr(importlib.import_module(module), name)


def test_no_definition_uses_a_word_that_the_glossary_rules_out() -> None:
    assert "informer" in RULED_OUT
    defined = re.compile(r"^\s*(?:async def|def|class) (\w+)", re.MULTILINE)
    offenders = [
        f"{source.relative_to(ROOT)}: {name}"
        for source in sorted([*ROOT.glob("packages/*/src/**/*.py"), *ROOT.glob("lab/src/**/*.py")])
        for name in defined.findall(source.read_text())
        if set(re.findall(r"[A-Z]?[a-z]+", name.lower())) & set(RULED_OUT)
    ]
    assert offenders == []
