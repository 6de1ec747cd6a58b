"""Where an installed program lies, and what says that it is complete."""

import json
import platform
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import platformdirs

from modeldeployment.lab.packaged.recipes import PROGRAMS, Recipe
from modeldeployment.lab.toolchain.place import platform_name

MANIFEST: Final = "installed.json"


@dataclass(frozen=True, slots=True)
class Program:
    """An installed program: its name, its version, and the environment it has to itself."""

    name: str
    version: str
    environment: Path

    @property
    def python(self) -> Path:
        """The Python of the environment."""
        return self.executable("python")

    @property
    def packages(self) -> Path:
        """The folder of the installed packages."""
        return packages(self.environment)

    def executable(self, name: str) -> Path:
        """Return the path of one command of the environment, such as vllm-router (it may not exist)."""
        return self.environment / "bin" / name


@dataclass(frozen=True, slots=True)
class Missing:
    """The program is not here; `reason` says why in a sentence."""

    reason: str


def folder(recipe: Recipe) -> Path:
    """Return the folder of a program's environment in the user's cache directory (it may not exist yet)."""
    python = f"python{sys.version_info.major}.{sys.version_info.minor}"
    key = f"{recipe.name}-{recipe.version}-{python}-{platform_name(platform.system(), platform.machine())}"
    return platformdirs.user_cache_path("modeldeployment") / "programs" / f"{key}-{recipe.digest()}"


def packages(environment: Path) -> Path:
    """Return the folder of an environment's packages."""
    return environment / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"


def is_complete(environment: Path) -> bool:
    """Tell whether the installation ended well and the Python it was made with is still there."""
    return (environment / MANIFEST).is_file() and (environment / "bin" / "python").is_file()


def complete(environment: Path, recipe: Recipe) -> None:
    """Write down that an environment is complete; the last act of its installation."""
    manifest = environment / f"{MANIFEST}.partial"
    manifest.write_text(json.dumps({"program": recipe.name, "version": recipe.version, "python": sys.version}) + "\n")
    manifest.replace(environment / MANIFEST)


def find(name: str) -> Program | Missing:
    """Return a program that is installed, else why it is not; installs nothing.

    Raises KeyError when PROGRAMS has no such program.
    """
    recipe = PROGRAMS[name]
    environment = folder(recipe)
    if is_complete(environment):
        return Program(recipe.name, recipe.version, environment)
    return Missing(f"{recipe.package} {recipe.version} is not installed in {environment}; run `md-lab build`")
