import asyncio
import socket
from pathlib import Path

import pytest
from e2e_operators import Operator, Start, run_once
from e2e_worlds import World
from modeldeployment.kube.kinds import LEASES, PODS
from modeldeployment.lab.controlplane import ControlPlane

pytestmark = pytest.mark.lab


async def test_the_endpoints_answer(breakable: World, start_operator: Start) -> None:
    operator = start_operator()
    await operator.leading()
    assert operator.get("/healthz") == (200, "ok\n")
    assert operator.get("/readyz") == (200, "ok\n")
    status, text = operator.get("/metrics")
    assert status == 200
    assert "# TYPE modeldeployment_passes_total counter" in text
    assert operator.metric('modeldeployment_store_objects{kind="instancetypes"}') >= 1
    assert operator.metric("modeldeployment_leader") == 1
    lease = await breakable.client.get(LEASES, "modeldeployment-operator", breakable.namespace)
    assert lease.spec.holder_identity.startswith(f"{socket.gethostname()}_{operator.process.pid}_")


async def test_sigterm_ends_it_in_seconds_with_whole_replicas(breakable: World, start_operator: Start) -> None:
    operator = start_operator()
    await operator.leading()
    await breakable.create("wide", replicas=10, size=2)
    await breakable.board.until(lambda: breakable.board.came(PODS), what="the first Pod is created")
    assert await operator.stop(within=20) == 0
    assert [each["event"] for each in operator.records()].count("stopping") == 1
    created = len((await breakable.client.list(PODS, breakable.namespace)).items)
    await breakable.board.until(lambda: len(breakable.board.all_pods("wide")) == created, what="the board saw all")
    replicas = breakable.board.replicas("wide")
    assert replicas
    assert all(len(members) == 2 for members in replicas.values())
    lease = await breakable.client.get(LEASES, "modeldeployment-operator", breakable.namespace)
    assert lease.spec.holder_identity == ""


async def test_a_port_in_use_is_one_sentence_and_exit_status_one(breakable: World) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        ended = await _run(breakable.control_plane.kubeconfig, "--only=controllers", GPUSTACK_LISTEN=address)
    sentence = (
        f"modeldeployment-operator: cannot listen on {address}: Address already in use; "
        "stop what holds it, or set GPUSTACK_LISTEN\n"
    )
    assert ended == (1, sentence)


async def test_settings_that_cannot_be_used_are_one_sentence_and_exit_status_one(tmp_path: Path) -> None:
    nowhere = tmp_path / "none"
    sentence = (
        "modeldeployment-operator: setting workers is '0': Input should be greater than or equal to 1; "
        "correct it in the environment (GPUSTACK_WORKERS)\n"
    )
    assert await _run(nowhere, GPUSTACK_WORKERS="0") == (1, sentence)
    file = tmp_path / "settings.yaml"
    file.write_text("wokers: 3\n")
    code, said = await _run(nowhere, "--settings", str(file))
    assert code == 1
    assert said.startswith(f"modeldeployment-operator: {file}: there is no setting 'wokers'; the settings are ")
    assert len(said.splitlines()) == 1


async def test_a_kubeconfig_that_is_not_there_is_one_sentence_and_exit_status_one(tmp_path: Path) -> None:
    code, said = await _run(tmp_path / "none")
    assert code == 1
    assert str(tmp_path / "none") in said
    assert len(said.splitlines()) == 1


async def test_without_our_kinds_it_says_how_to_install_them_and_goes_on(
    own_control_plane: ControlPlane, tmp_path: Path
) -> None:
    operator = Operator(own_control_plane.kubeconfig, tmp_path, "operator", {})
    try:
        said = await operator.says("cannot watch", "the cluster does not know")
        assert said["reason"] == (
            "the cluster does not know instancetypes.worker.gpustack.ai, kvcachebackends.worker.gpustack.ai, "
            "kvcachepoolbindings.worker.gpustack.ai, kvcachepools.worker.gpustack.ai, "
            "modelartifacts.worker.gpustack.ai, modeldeployments.worker.gpustack.ai; "
            "install ours with `modeldeployment-operator crds | kubectl apply --server-side -f -`"
        )
        status, text = operator.get("/readyz")
        waiting = (
            "waiting for a full list of modeldeployments, instancetypes, kvcachebackends, kvcachepools, "
            "kvcachepoolbindings, modelartifacts\n"
        )
        assert (status, text) == (503, waiting)
        assert operator.get("/healthz")[0] == 200

        printed = await run_once("crds")
        process = await asyncio.create_subprocess_exec(
            str(own_control_plane.bin / "kubectl"),
            f"--kubeconfig={own_control_plane.kubeconfig}",
            *("apply", "--server-side", "-f", "-"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        out, _ = await process.communicate(printed.stdout.encode())
        assert len(out.decode().splitlines()) == 7
        await operator.ready()
        await operator.says("watching again")
    finally:
        operator.kill()


async def _run(kubeconfig: Path, *arguments: str, **settings: str) -> tuple[int, str]:
    ended = await run_once("run", "--kubeconfig", str(kubeconfig), *arguments, settings=settings)
    return ended.returncode, ended.stderr
