"""Prometheus' own checker has nothing against what the operator publishes; its program reads the whole exposition."""

import subprocess
from pathlib import Path

import pytest
from conformance_documents import environment
from modeldeployment.lab.errors import GoMissing, GoTooOld, ModulesUnreachable
from modeldeployment.lab.toolchain.promtool import ensure_promtool
from operator_metrics import everything


@pytest.fixture(scope="session")
def promtool() -> Path:
    """The checker; built on first use, which takes minutes."""
    try:
        return ensure_promtool(environment(), lambda _: None)
    except (GoMissing, GoTooOld, ModulesUnreachable) as missing:
        pytest.skip(f"no promtool to check series with: {missing}")


def checked(promtool: Path, exposition: str) -> tuple[int, str]:
    """Show it an exposition: its exit status, and what it says."""
    done = subprocess.run(
        [promtool, "check", "metrics"], input=exposition, capture_output=True, text=True, timeout=60, check=False
    )
    return done.returncode, done.stdout + done.stderr


def test_the_checker_finds_nothing_in_all_that_the_operator_publishes(promtool: Path) -> None:
    exposition = everything()
    assert "modeldeployment_retirement_phase_seconds_bucket" in exposition
    assert checked(promtool, exposition) == (0, "")


def test_the_checker_would_say_so(promtool: Path) -> None:
    status, said = checked(promtool, "# TYPE modeldeployment_retired counter\nmodeldeployment_retired 1\n")
    assert status != 0
    assert "no help text" in said
    assert "_total" in said
