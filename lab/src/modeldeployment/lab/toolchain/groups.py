"""LeaderWorkerSet, the controller of groups that benchmarks measure beside the operator: built on first use.

It is built unchanged out of its Go module, in about 80 seconds, and is no part of the control plane (facts
peers-measured, method).
"""

import platform
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from modeldeployment.lab.toolchain import place
from modeldeployment.lab.toolchain.building import Report, build_apart
from modeldeployment.lab.toolchain.recipes import GROUPS, GROUPS_DOCUMENTS, GROUPS_VERSION


@dataclass(frozen=True, slots=True)
class GroupController:
    """The program, and the folder with `crd/bases` and `webhook/manifests.yaml` of its release."""

    program: Path
    documents: Path


def groups_folder() -> Path:
    """Where it is built; the folder may not exist yet."""
    where = place.platform_name(platform.system(), platform.machine())
    key = f"lws{GROUPS_VERSION}-{where}-{place.recipe_digest((GROUPS,))}"
    return platformdirs.user_cache_path("modeldeployment") / "lab" / key


def ensure_groups(environ: Mapping[str, str], report: Report) -> GroupController:
    """Return LeaderWorkerSet, building it if need be; raises a ToolchainError."""
    folder = groups_folder()
    build_apart(GROUPS, folder, environ, report, GROUPS_DOCUMENTS)
    (program,) = GROUPS.programs
    return GroupController(folder / program.name, folder / GROUPS_DOCUMENTS.folder)
