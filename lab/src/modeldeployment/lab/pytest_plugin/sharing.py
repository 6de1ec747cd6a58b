"""One control plane for a whole run of pytest, shared by the processes of pytest-xdist."""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NoReturn

import filelock
import pytest

from modeldeployment.lab.controlplane import ControlPlane, Options, attach, down, up
from modeldeployment.lab.errors import NotUp, ToolchainError
from modeldeployment.lab.toolchain import Progress, Toolchain, ensure

CONTROLLER: Final = "modeldeployment_lab_controller"
"""What a worker is told: the process id of the run."""
FOLDER: Final = "modeldeployment_lab_folder"
"""What a worker tells: the folder of the run's control plane."""
STARTED: Final = pytest.StashKey[Path]()
"""The folder of the run's control plane, once somebody asked for it."""

_CI: Final = "CI"
_UNAVAILABLE: Final = "unavailable"


def worker_name(config: pytest.Config) -> str:
    """Return the name of this worker of pytest-xdist, or `main` without workers."""
    return str(_worker_input(config).get("workerid", "main"))


def control_plane(config: pytest.Config, temporary: Path) -> ControlPlane:
    """Return the run's control plane, starting it in `temporary` (or beside it, with workers) if nobody has.

    Skips the test where the programs cannot be had, and fails it if the variable CI is `true`.
    """
    worker = _worker_input(config)
    folder = (temporary.parent if worker else temporary) / "lab"
    folder.mkdir(exist_ok=True)
    config.stash[STARTED] = folder
    if worker:
        config.workeroutput[FOLDER] = str(folder)  # type: ignore[attr-defined]
    lifeline = int(worker.get(CONTROLLER, os.getpid()))
    unavailable = folder / _UNAVAILABLE
    with filelock.FileLock(folder / "lock"):
        if unavailable.exists():
            _do_without(unavailable.read_text())
        try:
            return attach(_state(folder))
        except NotUp:
            pass
        try:
            return up(Options(name="pytest", state=_state(folder), lifeline=lifeline), _toolchain())
        except ToolchainError as error:
            unavailable.write_text(str(error))
            _do_without(str(error))


@contextmanager
def private_control_plane(state: Path) -> Iterator[ControlPlane]:
    """Give a control plane that nobody else uses, ended after use or with this process; skips like `control_plane`."""
    try:
        toolchain = _toolchain()
    except ToolchainError as error:
        _do_without(str(error))
    try:
        yield up(Options(name="pytest-private", state=state, lifeline=os.getpid()), toolchain)
    finally:
        down(state)


def finish(config: pytest.Config) -> None:
    """Stop the run's control plane if it was started; does nothing in a worker of pytest-xdist."""
    folder = config.stash.get(STARTED, None)
    if folder is not None and not _worker_input(config):
        down(_state(folder))


def _state(folder: Path) -> Path:
    return folder / "state"


def _toolchain() -> Toolchain:
    return ensure(os.environ, _report)


def _report(progress: Progress) -> None:
    # The real stderr: pytest has taken the other one, and a first build takes minutes.
    print(f"lab: {progress}", file=sys.__stderr__, flush=True)


def _do_without(reason: str) -> NoReturn:
    sentence = f"the lab's control plane is not to be had: {reason}"
    if os.environ.get(_CI) == "true":
        pytest.fail(sentence, pytrace=False)
    pytest.skip(sentence)


def _worker_input(config: pytest.Config) -> Mapping[str, Any]:
    return getattr(config, "workerinput", {})
