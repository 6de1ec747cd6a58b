"""The endpoint picker of `llm-d-router`, for tests of the document it is given: found, or built on first use.

Routers run version 0.10.0 of it, whose module is not published with checksums everywhere. So the pinned one is older
and knows only a part of the document; MODELDEPLOYMENT_LAB_PICKER names a program of the routers' own version, which is
given the whole. See facts control-plane §2.4 and §10.
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


@dataclass(frozen=True, slots=True)
class Picker:
    """A picker program; `pinned` says that it is the lab's own older build and not one of the routers' version."""

    program: Path
    pinned: bool


def ensure_picker(environ: Mapping[str, str], report: Report) -> Picker:
    """Return the picker that MODELDEPLOYMENT_LAB_PICKER names, else the pinned one, building it if need be (minutes).

    Raises ProgramsMissing when the variable names no file, else any ToolchainError.
    """
    if ready := environ.get(PICKER_VARIABLE):
        program = Path(ready).expanduser().absolute()
        if not program.is_file():
            raise ProgramsMissing(f"{PICKER_VARIABLE}={ready} is not a file; unset it to let the lab build its own")
        return Picker(program, pinned=False)
    where = place.platform_name(platform.system(), platform.machine())
    key = f"picker{PICKER_VERSION}-{where}-{place.recipe_digest((PICKER,))}"
    folder = platformdirs.user_cache_path("modeldeployment") / "lab" / key
    build_apart(PICKER, folder, environ, report)
    (program_,) = PICKER.programs
    return Picker(folder / program_.name, pinned=True)
