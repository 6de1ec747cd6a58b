"""The real control plane: what ready means, what a dead component and a dead supervisor leave behind."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import pytest
from modeldeployment import lab
from modeldeployment.lab.controlplane import Component, ComponentPhase, ControlPlane, Phase
from modeldeployment.lab.errors import AlreadyUp, ComponentFailed, NotUp, ToolchainError

pytestmark = pytest.mark.lab


@pytest.fixture(scope="module")
def own_state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The state directory of a control plane that the tests here may disturb."""
    state = tmp_path_factory.mktemp("own") / "lab"
    yield state
    lab.down(state)


@pytest.fixture
def bare(own_state: Path) -> ControlPlane:
    """A control plane without Kueue, ready; started anew after a test that ended it."""
    try:
        return lab.attach(own_state)
    except NotUp:
        options = lab.Options(name="own", state=own_state, kueue=False, lifeline=os.getpid())
    try:
        return lab.up(options, lab.programs())
    except ToolchainError as error:
        pytest.skip(str(error))


def kubectl(control_plane: ControlPlane, *arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
    command = [str(control_plane.bin / "kubectl"), f"--kubeconfig={control_plane.kubeconfig}", *arguments]
    return subprocess.run(command, input=given, capture_output=True, text=True, check=False)


def eventually(holds: Callable[[], bool]) -> bool:
    """Ask again for up to 20 seconds."""
    deadline = time.monotonic() + 20
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.05)
    return holds()


def is_running(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def test_ready_means_that_kueues_webhooks_are_called(control_plane: ControlPlane) -> None:
    flavor = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor", "metadata": {"name": "asked"}}
    made = kubectl(control_plane, "create", "--dry-run=server", "-o", "json", "-f", "-", given=json.dumps(flavor))
    assert json.loads(made.stdout)["metadata"]["finalizers"] == ["kueue.x-k8s.io/resource-in-use"]


def test_a_second_start_of_the_same_state_says_it_is_up(control_plane: ControlPlane) -> None:
    with pytest.raises(AlreadyUp, match=r"is already up \(Ready\) with state .*; use it, or stop it"):
        lab.up(lab.Options(state=control_plane.state), lab.programs())
    assert lab.attach(control_plane.state).pids == control_plane.pids


def test_a_dead_component_is_reported_with_the_end_of_its_log_and_comes_back(bare: ControlPlane) -> None:
    with pytest.raises(ComponentFailed, match=r"(?s)kwok exited with status 1; .*\n  \| .*flag: --frobnicate"):
        bare.restart(Component.KWOK, ["--frobnicate"])
    seen = lab.status(bare.state)
    assert seen.phase is Phase.DEGRADED
    assert seen.failure == f"kwok exited with status 1; see {bare.log('kwok')}"
    [kwok] = [part for part in seen.components if part.name is Component.KWOK]
    assert kwok.phase is ComponentPhase.DIED
    assert "--frobnicate" in kwok.log_tail[-1]
    assert kubectl(bare, "get", "--raw=/readyz").stdout == "ok"
    bare.restart(Component.KWOK)
    assert lab.status(bare.state).phase is Phase.READY


def test_a_compacted_revision_expires_once_the_api_server_has_been_restarted(bare: ControlPlane) -> None:
    revision = bare.compact()
    bare.restart(Component.API_SERVER)
    path = f"/api/v1/namespaces?resourceVersion={revision - 1}&resourceVersionMatch=Exact"
    assert "(Expired)" in kubectl(bare, "get", f"--raw={path}").stderr


def test_killing_the_supervisor_leaves_no_process_behind(bare: ControlPlane) -> None:
    os.kill(lab.status(bare.state).supervisor, signal.SIGKILL)
    assert eventually(lambda: not any(is_running(pid) for pid in bare.pids.values()))
    assert len(bare.pids) == 5
    assert lab.status(bare.state).phase is Phase.LOST
