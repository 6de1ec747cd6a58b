"""Building the programs into the user's cache directory: resumable, safe against a second builder, low on memory."""

import errno
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import filelock

from modeldeployment.lab.errors import DiskFull, ToolchainError
from modeldeployment.lab.toolchain import go as golang
from modeldeployment.lab.toolchain import place
from modeldeployment.lab.toolchain.recipes import FAMILIES, KUEUE, KUEUE_DOCUMENTS, Documents, Family, SourceCopy

_OUT_OF_SPACE: Final = (errno.ENOSPC, errno.EDQUOT)


@dataclass(frozen=True, slots=True)
class Waiting:
    """Another process is building the same programs; this one waits for it."""


@dataclass(frozen=True, slots=True)
class Building:
    """A program is being built, or (cached) was there already; weights are seconds on a cold cache."""

    program: str
    done_weight: int
    total_weight: int


@dataclass(frozen=True, slots=True)
class Finished:
    """Every program is in place."""

    folder: Path


Progress = Waiting | Building | Finished
Report = Callable[[Progress], None]


def build(folder: Path, environ: Mapping[str, str], report: Report) -> place.Toolchain:
    """Make `folder` complete and return it; instant if it already is. Raises a ToolchainError.

    Each program is built in a sibling folder and renamed into place, so an interrupted build resumes at the
    program it was at. A second builder waits on the lock and then finds everything done.
    """
    if place.is_complete(folder):
        return place.Toolchain(folder)
    with _said_plainly(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with _locked(folder, report):
            if not place.is_complete(folder):
                _build_missing(folder, environ, report)
    report(Finished(folder))
    return place.Toolchain(folder)


def build_apart(
    family: Family, folder: Path, environ: Mapping[str, str], report: Report, documents: Documents | None = None
) -> None:
    """Put the programs of a family that is no part of the lab into a folder of its own; instant if they are there.

    `documents` are copied beside them. Raises a ToolchainError.
    """
    wanted = [program.name for program in family.programs] + ([documents.folder] if documents else [])
    if all((folder / name).exists() for name in wanted):
        return
    with _said_plainly(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with _locked(folder, report), _working(folder) as work:
            compiler = golang.find(environ, folder.parent)
            _build_families((family,), folder, work, compiler, environ, report)
            if documents is not None:
                _copy_documents(family, documents, folder, work, compiler, environ)
    report(Finished(folder))


@contextmanager
def _said_plainly(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in _OUT_OF_SPACE:
            raise DiskFull(
                f"the disk is full: the programs need about 1 GiB in {folder}; free some space or set XDG_CACHE_HOME "
                "to another disk, then run the same command again (finished programs are kept)"
            ) from error
        raise ToolchainError(
            f"{error.filename or folder} cannot be written ({error.strerror}); "
            "set XDG_CACHE_HOME to a directory that can"
        ) from error


@contextmanager
def _locked(folder: Path, report: Report) -> Iterator[None]:
    lock = filelock.FileLock(folder.with_name(f"{folder.name}.lock"))
    try:
        lock.acquire(blocking=False)
    except filelock.Timeout:
        report(Waiting())
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


@contextmanager
def _working(folder: Path) -> Iterator[Path]:
    work = folder.with_name(f"{folder.name}.work")
    shutil.rmtree(work, ignore_errors=True)
    try:
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _build_missing(folder: Path, environ: Mapping[str, str], report: Report) -> None:
    compiler = golang.find(environ, folder.parent)
    with _working(folder) as work:
        for name in place.spoiled(folder):
            (folder / name).unlink()
        _build_families(FAMILIES, folder, work, compiler, environ, report)
        _copy_documents(KUEUE, KUEUE_DOCUMENTS, folder, work, compiler, environ)
        manifest = work / place.MANIFEST
        manifest.write_text(json.dumps(place.manifest_of(folder, compiler.name), indent=2) + "\n")
        manifest.replace(folder / place.MANIFEST)


def _build_families(
    families: Sequence[Family],
    folder: Path,
    work: Path,
    compiler: golang.Go,
    environ: Mapping[str, str],
    report: Report,
) -> None:
    total = sum(program.weight for family in families for program in family.programs)
    done = 0
    for family in families:
        module: Path | None = None
        for program in family.programs:
            report(Building(program.name, done, total))
            if not (folder / program.name).is_file():
                module = module or _prepare(family, work / "modules" / family.name, compiler, environ)
                product = work / program.name
                flags = ["-p", "2", "-trimpath", f"-tags={','.join(family.tags)}", "-ldflags", program.link_flags]
                compiler.run(["build", *flags, "-o", str(product), program.package], module, environ)
                product.replace(folder / program.name)
            done += program.weight


def _prepare(family: Family, module: Path, compiler: golang.Go, environ: Mapping[str, str]) -> Path:
    module.mkdir(parents=True, exist_ok=True)
    for name, content in family.pins():
        (module / name).write_bytes(content)
    if family.source is not None:
        cached = _download(family.source, module, compiler, environ)
        _copy_source(family.source, cached, module)
        if family.source.replaces:
            compiler.run(["mod", "edit", "-replace", f"{family.source.module}=./src"], module, environ)
    return module


def _download(source: SourceCopy, module: Path, compiler: golang.Go, environ: Mapping[str, str]) -> Path:
    answer = compiler.run(["mod", "download", "-json", f"{source.module}@{source.version}"], module, environ)
    return Path(json.loads(answer)["Dir"])


def _copy_source(source: SourceCopy, cached: Path, module: Path) -> None:
    target = module / "src" if source.replaces else module
    target.mkdir(exist_ok=True)
    for part in source.parts:
        if (cached / part).is_dir():
            _copy_tree(cached / part, target / part)
        else:
            shutil.copyfile(cached / part, target / Path(part).name)
    for change in source.changes:
        file = target / change.file
        file.write_text(change.apply(file.read_text()))


def _copy_tree(origin: Path, target: Path) -> None:
    # The module cache is read-only; the copy must be changeable and removable.
    shutil.copytree(origin, target, copy_function=shutil.copyfile)
    for folder, _, _ in os.walk(target):
        Path(folder).chmod(0o755)


def _copy_documents(
    family: Family, documents: Documents, folder: Path, work: Path, compiler: golang.Go, environ: Mapping[str, str]
) -> None:
    assert family.source is not None
    module = work / "modules" / f"{family.name}-documents"
    module.mkdir(parents=True)
    for name, content in family.pins():
        (module / name).write_bytes(content)
    origin = _download(family.source, module, compiler, environ) / documents.origin
    staging = work / documents.folder
    for part in documents.parts:
        (staging / part).parent.mkdir(parents=True, exist_ok=True)
        if (origin / part).is_dir():
            _copy_tree(origin / part, staging / part)
        else:
            shutil.copyfile(origin / part, staging / part)
    shutil.rmtree(folder / documents.folder, ignore_errors=True)
    staging.rename(folder / documents.folder)
