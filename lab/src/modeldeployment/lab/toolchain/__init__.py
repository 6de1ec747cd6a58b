"""The programs of the control plane: what they are (recipes), where they lie (place), how they are built.

`ensure` is the front door: a folder of ready programs named by MODELDEPLOYMENT_LAB_BIN, or the user's cache,
built on first use. See facts control-plane §1 and §2.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from modeldeployment.lab.errors import ProgramsMissing
from modeldeployment.lab.toolchain import place
from modeldeployment.lab.toolchain.building import Building, Finished, Progress, Report, Waiting, build
from modeldeployment.lab.toolchain.place import Toolchain

BIN_VARIABLE: Final = "MODELDEPLOYMENT_LAB_BIN"

__all__ = ["BIN_VARIABLE", "Building", "Finished", "Progress", "Report", "Toolchain", "Waiting", "ensure"]


def ensure(environ: Mapping[str, str], report: Report) -> Toolchain:
    """Return the programs, building them if need be; `report` is told of progress.

    Raises ProgramsMissing when MODELDEPLOYMENT_LAB_BIN names an incomplete folder, else any ToolchainError.
    """
    if ready := environ.get(BIN_VARIABLE):
        folder = Path(ready).expanduser().absolute()
        if not folder.is_dir():
            raise ProgramsMissing(f"{BIN_VARIABLE}={ready} is not a directory; unset it to let the lab build its own")
        if lacking := place.missing(folder):
            raise ProgramsMissing(
                f"{BIN_VARIABLE}={ready} lacks {', '.join(lacking)}; add them, or unset it to let the lab build its own"
            )
        return Toolchain(folder)
    return build(place.cache_folder(), environ, report)
