"""The endpoint picker of `llm-d-router` and its routing proxy, for tests: found, or built on first use.

Routers run version 0.10.0 of them, whose module is not published with checksums everywhere. So the pinned ones are
older and know only a part of what is rendered; MODELDEPLOYMENT_LAB_PICKER and MODELDEPLOYMENT_LAB_SIDECAR name programs
of the routers' own version, which are given the whole. See facts control-plane §2.4 and §10.
"""

import platform
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import platformdirs

from modeldeployment.lab.errors import ProgramsMissing
from modeldeployment.lab.toolchain import place
from modeldeployment.lab.toolchain.building import Report, build_apart
from modeldeployment.lab.toolchain.recipes import PICKER, PICKER_VERSION

PICKER_VARIABLE: Final = "MODELDEPLOYMENT_LAB_PICKER"
SIDECAR_VARIABLE: Final = "MODELDEPLOYMENT_LAB_SIDECAR"
_OWN_VERSION: Final = "0.10.0"
"""What the variables name: the version that routers run (facts routing §3)."""


@dataclass(frozen=True, slots=True)
class Picker:
    """A picker and its routing proxy, None where nobody named one.

    `pinned` says that they are the lab's own older build and not of the routers' version.
    """

    program: Path
    pinned: bool
    sidecar: Path | None = None

    @property
    def version(self) -> str:
        """The release that both are of."""
        return PICKER_VERSION if self.pinned else _OWN_VERSION


def ensure_picker(environ: Mapping[str, str], report: Report) -> Picker:
    """Return the picker that MODELDEPLOYMENT_LAB_PICKER names, else the pinned one, building it if need be (minutes).

    MODELDEPLOYMENT_LAB_SIDECAR names the routing proxy of a named picker. Raises ProgramsMissing when a variable names
    no file, else any ToolchainError.
    """
    if (program := _named(PICKER_VARIABLE, environ)) is not None:
        return Picker(program, pinned=False, sidecar=_named(SIDECAR_VARIABLE, environ))
    where = place.platform_name(platform.system(), platform.machine())
    key = f"picker{PICKER_VERSION}-{where}-{place.recipe_digest((PICKER,))}"
    folder = platformdirs.user_cache_path("modeldeployment") / "lab" / key
    build_apart(PICKER, folder, environ, report)
    picker, sidecar = PICKER.programs
    return Picker(folder / picker.name, pinned=True, sidecar=folder / sidecar.name)


def _named(variable: str, environ: Mapping[str, str]) -> Path | None:
    if not (ready := environ.get(variable)):
        return None
    program = Path(ready).expanduser().absolute()
    if not program.is_file():
        raise ProgramsMissing(f"{variable}={ready} is not a file; unset it to let the lab build its own")
    return program
