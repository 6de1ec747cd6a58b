"""Where built programs lie: the cache key, the folder, and the manifest that says they are complete."""

import hashlib
import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import platformdirs

from modeldeployment.lab.toolchain.recipes import (
    ETCD_VERSION,
    FAMILIES,
    KUBERNETES_VERSION,
    KUEUE_CONFIG,
    KUEUE_VERSION,
    KWOK_VERSION,
    PROGRAMS,
    Family,
)

MANIFEST: Final = "manifest.json"

_ARCHITECTURES: Final = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}


@dataclass(frozen=True, slots=True)
class Toolchain:
    """A folder with every program of the lab and Kueue's manifests beside them."""

    bin: Path

    @property
    def kueue_config(self) -> Path:
        """The folder holding crd/bases and webhook/manifests.yaml of Kueue."""
        return self.bin / KUEUE_CONFIG

    def program(self, name: str) -> Path:
        """Return the path of one program, such as kubectl."""
        return self.bin / name


def recipe_digest(families: Sequence[Family] = FAMILIES) -> str:
    """Return 12 hex digits over everything that decides what the programs contain, pins included."""
    digest = hashlib.sha256()
    for family in families:
        digest.update(repr((family.name, family.programs, family.source, *family.tags)).encode())
        for name, content in family.pins():
            digest.update(f"{name} {len(content)}\n".encode())
            digest.update(content)
    return digest.hexdigest()[:12]


def platform_name(system: str, machine: str) -> str:
    """Return Go's name of a platform, e.g. linux-amd64; an unknown machine keeps its own name."""
    return f"{system.lower()}-{_ARCHITECTURES.get(machine.lower(), machine.lower())}"


def cache_key(digest: str, platform_: str) -> str:
    """Return the folder name: versions a person can read, platform, digest of the recipes."""
    versions = f"kubernetes{KUBERNETES_VERSION}-kueue{KUEUE_VERSION}-kwok{KWOK_VERSION}-etcd{ETCD_VERSION}"
    return f"{versions}-{platform_}-{digest}"


def cache_folder() -> Path:
    """Return the folder of this recipe's programs in the user's cache directory (it may not exist yet)."""
    key = cache_key(recipe_digest(), platform_name(platform.system(), platform.machine()))
    return platformdirs.user_cache_path("modeldeployment") / "lab" / key


def missing(folder: Path) -> tuple[str, ...]:
    """Return what a folder of ready programs lacks, programs first; empty means complete."""
    lacking = [name for name in PROGRAMS if not (folder / name).is_file()]
    if not (folder / KUEUE_CONFIG / "crd" / "bases").is_dir():
        lacking.append(f"{KUEUE_CONFIG}/crd/bases")
    if not (folder / KUEUE_CONFIG / "webhook" / "manifests.yaml").is_file():
        lacking.append(f"{KUEUE_CONFIG}/webhook/manifests.yaml")
    return tuple(lacking)


def is_complete(folder: Path) -> bool:
    """Tell whether the manifest is there and every file it lists has the size it says."""
    return set(_listed(folder)) == set(PROGRAMS) and not missing(folder) and not spoiled(folder)


def spoiled(folder: Path) -> tuple[str, ...]:
    """Return the programs whose size is not the manifest's: somebody changed them after they were built."""
    return tuple(
        name
        for name, size in _listed(folder).items()
        if (folder / name).is_file() and (folder / name).stat().st_size != size
    )


def _listed(folder: Path) -> Mapping[str, int]:
    try:
        manifest = json.loads((folder / MANIFEST).read_text())
        return {name: entry["bytes"] for name, entry in manifest["programs"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def manifest_of(folder: Path, go_version: str) -> dict[str, object]:
    """Describe finished programs: size and SHA-256 of each, the Go that built them, the recipe's digest."""
    programs = {}
    for name in PROGRAMS:
        with (folder / name).open("rb") as file:
            programs[name] = {
                "bytes": (folder / name).stat().st_size,
                "sha256": hashlib.file_digest(file, "sha256").hexdigest(),
            }
    return {"recipe": recipe_digest(), "go": go_version, "programs": programs}
