"""The package's front door: what it exports, and that its README tells the truth."""

import doctest
import subprocess
import sys
from pathlib import Path

import modeldeployment.kube as kube

README = Path(__file__).parents[1] / "README.md"


def test_the_pure_example_runs() -> None:
    failed, tried = doctest.testfile(str(README), module_relative=False)
    assert (failed, tried) == (0, 2)


def test_every_public_name_exists_and_is_named_in_the_readme() -> None:
    text = README.read_text()
    leaves = {name for name in kube.__all__ if isinstance(getattr(kube, name), type)}
    errors = {name for name in leaves if issubclass(getattr(kube, name), kube.KubeError)} - {"KubeError"}
    assert [name for name in kube.__all__ if name not in errors and f"`{name}`" not in text] == []


def test_importing_reads_no_configuration_and_not_the_large_library() -> None:
    code = "import sys, modeldeployment.kube; print('kubernetes' in sys.modules)"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout == "False\n"
