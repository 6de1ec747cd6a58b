import os
from pathlib import Path

import pytest
from modeldeployment.kube import Client, NotFound, load
from modeldeployment.kube.kinds import NAMESPACES, NODES
from modeldeployment.lab.controlplane import Component, ControlPlane, Phase, status

pytest_plugins = ["pytester"]

INI = """
[pytest]
asyncio_mode = auto
asyncio_default_fixture_loop_scope = function
filterwarnings = error
markers = lab: needs the real control plane of the lab
"""
ASKS = "def test_asks(control_plane): pass"


def run(pytester: pytest.Pytester, test: str, *arguments: str) -> pytest.RunResult:
    pytester.makeini(INI)
    pytester.makepyfile(test)
    return pytester.runpytest_subprocess("-p", "modeldeployment.lab.pytest_plugin", *arguments)


def test_without_programs_a_lab_test_is_skipped_with_the_reason(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MODELDEPLOYMENT_LAB_BIN", "/nowhere")
    monkeypatch.delenv("CI", raising=False)
    result = run(pytester, ASKS, "-rs")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["*the lab's control plane is not to be had: MODELDEPLOYMENT_LAB_BIN=/nowhere is*"])


def test_without_programs_a_lab_test_fails_on_ci(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODELDEPLOYMENT_LAB_BIN", "/nowhere")
    monkeypatch.setenv("CI", "true")
    run(pytester, ASKS).assert_outcomes(errors=1)


SHARES = """
import os, pathlib, pytest

@pytest.mark.parametrize("number", range(4))
async def test_shares(control_plane, namespace, number):
    print("namespace", namespace)
    pathlib.Path(os.environ["SEEN"], namespace).write_text(f"{control_plane.pids['kube-apiserver']}")
    assert number != 3, "this one shows its namespace"
"""


@pytest.mark.lab
def test_workers_share_one_control_plane_which_ends_with_the_run_and_a_failure_shows_its_namespace(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, control_plane: ControlPlane
) -> None:
    monkeypatch.setenv("SEEN", str(tmp_path))
    monkeypatch.setenv("MODELDEPLOYMENT_LAB_BIN", str(control_plane.bin))
    result = run(pytester, SHARES, "-n", "2")
    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines(["*- namespace shares-3-gw*-* -*", "no Pods and no Workloads"])
    seen = {file.name: int(file.read_text()) for file in tmp_path.iterdir()}
    assert len(seen) == 4
    (api_server,) = set(seen.values())
    with pytest.raises(ProcessLookupError):
        os.kill(api_server, 0)


@pytest.mark.lab
async def test_a_control_plane_of_ones_own_can_be_broken(
    own_control_plane: ControlPlane, control_plane: ControlPlane
) -> None:
    own_control_plane.kill(Component.KUEUE)
    assert status(own_control_plane.state).phase is Phase.DEGRADED
    assert status(control_plane.state).phase is Phase.READY
    async with Client(load(own_control_plane.kubeconfig)) as client:
        assert (await client.list(NODES)).items == ()


@pytest.mark.lab
async def test_a_namespace_is_fresh_and_named_after_its_test(kube_client: Client, namespace: str) -> None:
    assert namespace.startswith("a-namespace-is-fresh")
    assert (await kube_client.get(NAMESPACES, namespace)).metadata.deletion_timestamp is None
    with pytest.raises(NotFound):
        await kube_client.get(NAMESPACES, f"{namespace}-other")
