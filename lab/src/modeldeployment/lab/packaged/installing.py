"""Installing a program into its own environment: with uv when it is here, else with Python's own venv and pip."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import filelock

from modeldeployment.lab.errors import NotInstallable
from modeldeployment.lab.packaged import place
from modeldeployment.lab.packaged.place import Program
from modeldeployment.lab.packaged.recipes import PROGRAMS, Recipe

_INSTALL_SECONDS: Final = 600
_CHECK_SECONDS: Final = 120
_NOT_INHERITED: Final = frozenset({"VIRTUAL_ENV", "PYTHONPATH", "PYTHONHOME", "PYTHONWARNINGS"})


def install(name: str, environ: Mapping[str, str] | None = None) -> Program:
    """Return a program, installing it first if need be; instant when it is there.

    A second process that installs the same program waits for the first. `environ` is the environment of the
    installers, by default this process's own. Raises NotInstallable with the reason, KeyError for a strange name.
    """
    recipe = PROGRAMS[name]
    environment = place.folder(recipe)
    if not place.is_complete(environment):
        try:
            environment.parent.mkdir(parents=True, exist_ok=True)
            with filelock.FileLock(environment.with_name(f"{environment.name}.lock")):
                if not place.is_complete(environment):
                    _install(recipe, environment, os.environ if environ is None else environ)
        except OSError as error:
            raise NotInstallable(
                f"{recipe.package} {recipe.version} cannot be installed in {environment} ({error}); "
                "set XDG_CACHE_HOME to a directory that can be written and has space"
            ) from error
    return Program(recipe.name, recipe.version, environment)


def _install(recipe: Recipe, environment: Path, environ: Mapping[str, str]) -> None:
    if sys.version_info[:2] > recipe.newest_python:
        newest = ".".join(str(part) for part in recipe.newest_python)
        raise NotInstallable(f"{recipe.package} {recipe.version} has no wheel for a Python newer than {newest}")
    # Scripts of an environment name its path, so it is made where it stays; a manifest written last completes it.
    shutil.rmtree(environment, ignore_errors=True)
    inherited = {name: value for name, value in environ.items() if name not in _NOT_INHERITED}
    pins = environment.with_name(f"{environment.name}.txt")
    pins.write_text(recipe.pins())
    try:
        for command in _installer(environment, pins, environ):
            _run(recipe, "cannot be installed", command, environment.parent, inherited, _INSTALL_SECONDS)
    finally:
        pins.unlink()
    for link, pattern in recipe.links:
        _link(place.packages(environment), link, pattern)
    program, *arguments = recipe.check
    check = [str(environment / "bin" / program), *arguments]
    _run(recipe, "is installed but does not run here", check, environment, inherited, _CHECK_SECONDS)
    place.complete(environment, recipe)


def _installer(environment: Path, pins: Path, environ: Mapping[str, str]) -> list[list[str]]:
    wanted = ["--quiet", "--no-deps", "--only-binary", ":all:", "-r", str(pins)]
    python = str(environment / "bin" / "python")
    # `uv run` names itself to its children in UV; it need not be on PATH.
    if uv := environ.get("UV") or shutil.which("uv", path=environ.get("PATH")):
        return [
            [uv, "venv", "--quiet", "--python", sys.executable, str(environment)],
            [uv, "pip", "install", "--python", python, *wanted],
        ]
    return [
        [sys.executable, "-m", "venv", str(environment)],
        [python, "-m", "pip", "install", "--disable-pip-version-check", "--no-compile", *wanted],
    ]


def _link(packages: Path, link: str, pattern: str) -> None:
    targets = sorted(packages.glob(pattern))
    if not targets:
        raise NotInstallable(f"{pattern} is in none of the packages installed in {packages}")
    for target in targets:
        name = packages / link / target.name if link.endswith("/") else packages / link
        name.symlink_to(target)


def _run(
    recipe: Recipe, failing: str, command: Sequence[str], folder: Path, environ: Mapping[str, str], seconds: float
) -> None:
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=seconds,
        )
        said = "" if done.returncode == 0 else _last_words(done.stderr or done.stdout)
    except subprocess.TimeoutExpired:
        said = f"no end after {seconds:.0f} s"
    if said:
        raise NotInstallable(f"{recipe.package} {recipe.version} {failing}: {said}")


def _last_words(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return "; ".join(line[:300] for line in lines[-2:]) or "it printed nothing"
