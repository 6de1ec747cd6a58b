import asyncio
import json
from pathlib import Path

import pytest
from modeldeployment.lab.controlplane import ControlPlane
from modeldeployment.lab.fleets.applying import Standing
from modeldeployment.lab.fleets.cli import app, table
from modeldeployment.lab.fleets.fleet import Fleet
from typer.testing import CliRunner

NOBODY = {
    "apiVersion": "v1",
    "kind": "Config",
    "current-context": "nobody",
    "clusters": [{"name": "nobody", "cluster": {"server": "http://127.0.0.1:9"}}],
    "users": [{"name": "nobody", "user": {"token": "none"}}],
    "contexts": [{"name": "nobody", "context": {"cluster": "nobody", "user": "nobody"}}],
}
A10G = ["--maker", "nvidia", "--model", "a10g"]


def said(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, list(arguments), env={"COLUMNS": "200"})
    return result.exit_code, result.output or str(result.exception)


def test_an_unknown_maker_is_told_with_the_nine_there_are() -> None:
    code, output = said("add", "--maker", "nvida", "--nodes", "1")
    assert code == 1
    assert output == (
        "maker 'nvida' is unknown; the makers are amd, ascend, cambricon, hygon, iluvatar, metax, mthreads, "
        "nvidia, thead, and generic has no cards"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--nodes", "0"], "nodes is 0; a fleet takes 1 to 5000"),
        (["--nodes", "1", "--cards", "0"], "cards is 0; a fleet takes 1 to 16"),
        (
            ["--nodes", "1", "--partition", "3g.40gb"],
            "partition '3g.40gb' is not PROFILE=COUNT:MEMORY_MIB; write for example 3g.40gb=2:40960",
        ),
        (["--nodes", "1", "--label", "team"], "label 'team' is not KEY=VALUE"),
    ],
)
def test_a_value_out_of_range_is_one_sentence(arguments: list[str], message: str) -> None:
    assert said("add", *A10G, *arguments) == (1, message)


def test_a_lab_that_is_not_up_is_told_with_the_way_out() -> None:
    code, output = said("list", "--name", "nobody-started-this")
    assert code == 1
    assert output == ("no control plane 'nobody-started-this' is up; start one with md-lab up, or pass --kubeconfig")


def test_a_cluster_that_does_not_answer_is_told_by_its_address(tmp_path: Path) -> None:
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(json.dumps(NOBODY))
    code, output = said("list", "--kubeconfig", str(kubeconfig))
    assert code == 1
    assert f"the cluster of {kubeconfig} cannot be used: GET /api/v1/nodes: no answer from http" in output


def test_fleets_are_listed_as_a_table() -> None:
    east = Standing(Fleet(maker="nvidia", model="h20", nodes=50, name="east", rdma=2, zones=("z1", "z2")), ready=49)
    assert table([east]) == (
        "FLEET  INSTANCE TYPE                    NODES  READY  CARDS  RDMA  EFA  ZONES\n"
        "east   gpustack-nvidia-h20-linux-amd64  50     49     400    100   0    z1,z2"
    )
    assert table([]).startswith("no fleets; add one with")


@pytest.mark.lab
async def test_a_fleet_is_added_listed_opened_and_removed_by_hand(control_plane: ControlPlane, namespace: str) -> None:
    there = ("--kubeconfig", str(control_plane.kubeconfig))
    fleet = f"{namespace}-cli"
    own_type = ("--instance-type", f"{namespace}-type")

    async def lab(*arguments: str) -> tuple[int, str]:
        return await asyncio.to_thread(said, *arguments, *there)

    added = await lab("add", fleet, *A10G, "--nodes", "2", "--zone", "z1,z2", "--namespace", namespace, *own_type)
    assert added == (
        0,
        f"fleet {fleet}: 2 nodes Ready with 16 cards\ninstanceType {namespace}-type is open to {namespace}\n",
    )
    code, listed = await lab("list")
    assert code == 0
    assert [line.split()[1:5] for line in listed.splitlines() if line.startswith(fleet)] == [
        [f"{namespace}-type", "2", "2", "16"]
    ]
    code, refused = await lab("add", fleet, *A10G, "--nodes", "2", "--label", "a b=c", *own_type)
    assert code == 1
    assert "refused this: 422 Invalid: Node" in refused
    assert await lab("remove", fleet) == (0, f"fleet {fleet}: 2 nodes removed\n")
    code, gone = await lab("remove", fleet)
    assert code == 1
    assert gone.startswith(f"no node belongs to a fleet '{fleet}'; fleets here: ")
