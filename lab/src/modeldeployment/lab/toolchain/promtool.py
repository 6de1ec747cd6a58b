"""Prometheus' own checker of expositions, for the tests of the series we publish: found, or built on first use.

It is built unchanged out of its Go module, which takes minutes, and is no part of the lab.
"""

import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import platformdirs

from modeldeployment.lab.errors import ProgramsMissing
from modeldeployment.lab.toolchain import place
from modeldeployment.lab.toolchain.building import Report, build_apart
from modeldeployment.lab.toolchain.recipes import PROMTOOL, PROMTOOL_VERSION

PROMTOOL_VARIABLE: Final = "MODELDEPLOYMENT_LAB_PROMTOOL"


def ensure_promtool(environ: Mapping[str, str], report: Report) -> Path:
    """Return the promtool that MODELDEPLOYMENT_LAB_PROMTOOL names, else the pinned one, building it if need be.

    Raises ProgramsMissing when the variable names no file, else any ToolchainError.
    """
    if ready := environ.get(PROMTOOL_VARIABLE):
        program = Path(ready).expanduser().absolute()
        if not program.is_file():
            raise ProgramsMissing(f"{PROMTOOL_VARIABLE}={ready} is not a file; unset it to let the lab build its own")
        return program
    where = place.platform_name(platform.system(), platform.machine())
    key = f"promtool{PROMTOOL_VERSION}-{where}-{place.recipe_digest((PROMTOOL,))}"
    folder = platformdirs.user_cache_path("modeldeployment") / "lab" / key
    build_apart(PROMTOOL, folder, environ, report)
    (program_,) = PROMTOOL.programs
    return folder / program_.name
