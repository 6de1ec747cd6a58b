import asyncio
import os
import signal
import subprocess
import sys
from asyncio.subprocess import PIPE
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]
import pytest
from modeldeployment.admission.webhook.configurations import SHAPES
from modeldeployment.kube import Client, Kind, load
from modeldeployment.kube.kinds import (
    CLUSTER_QUEUES,
    CUSTOM_RESOURCE_DEFINITIONS,
    LEASES,
    NAMESPACES,
    NODES,
    RESOURCE_FLAVORS,
)
from modeldeployment.lab.controlplane import ControlPlane
from modeldeployment.lab.flavors.installing import TOPOLOGIES

PROGRAM = Path(sys.executable).with_name("md-lab")
MARKS = ("✓", "✗")


def demo(*arguments: str, **environ: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [PROGRAM, "demo", *arguments],
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=900,
    )


def test_a_borrowed_cluster_cannot_be_kept(tmp_path: Path) -> None:
    ended = demo("--kubeconfig", str(tmp_path / "none"), KEEP="1")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr == (
        "md-lab: KEEP=1 and --keep are for the demo's own control plane; leave them out, or --kubeconfig\n"
    )


@pytest.mark.lab
@pytest.mark.usefixtures("control_plane")  # skips where its programs are not to be had
def test_the_whole_demo_holds_and_leaves_nothing_running(tmp_path: Path) -> None:
    ended = demo("--name", "demo-test", "--state", str(tmp_path / "lab"), "--nodes", "2", "--patience", "300")
    claims = [line for line in ended.stdout.splitlines() if line.startswith(MARKS)]
    assert (ended.returncode, [line for line in claims if line.startswith("✗")]) == (0, []), ended.stdout
    assert len(claims) == 51
    assert "(MD015)" in ended.stdout
    assert "\x1b" not in ended.stdout
    assert ended.stdout.endswith("everything the demo started has ended\n")
    assert not running(tmp_path)


@pytest.mark.lab
async def test_an_interrupted_demo_leaves_a_borrowed_cluster_as_it_was_and_says_one_line(
    own_control_plane: ControlPlane, tmp_path: Path
) -> None:
    state = tmp_path / "demo"
    command = [str(PROGRAM), "demo", "--kubeconfig", str(own_control_plane.kubeconfig), "--state", str(state)]
    async with Client(load(own_control_plane.kubeconfig)) as client:
        before = await names(client)
        giving = await asyncio.create_subprocess_exec(*command, stdout=PIPE, stderr=PIPE)
        assert giving.stdout is not None
        while not (line := await giving.stdout.readline()).startswith(b"scale 4"):
            assert line, "the story comes to its second step"
        giving.send_signal(signal.SIGINT)
        _, told = await giving.communicate()
        assert (giving.returncode, told) == (
            130,
            b"md-lab demo: interrupted; everything it started has ended\n",
        )
        assert await names(client) == before
    assert not running(state)


async def names(client: Client) -> set[str]:
    """Return what a cluster has of all that a demo could leave behind."""
    kinds: tuple[Kind[Any], ...] = (
        NAMESPACES,
        NODES,
        CUSTOM_RESOURCE_DEFINITIONS,
        CLUSTER_QUEUES,
        RESOURCE_FLAVORS,
        TOPOLOGIES,
        LEASES,
        *(shape.kind for shape in SHAPES),
    )
    return {
        f"{kind}/{each.metadata.namespace}/{each.metadata.name}"
        for kind in kinds
        for each in (await client.list_metadata(kind)).items
        if each.metadata.namespace != "kube-node-lease"
    }


def running(folder: Path) -> list[str]:
    """Return the command lines of processes that name a folder."""
    lines = [" ".join(process.info["cmdline"] or ()) for process in psutil.process_iter(["cmdline"])]
    return [line for line in lines if str(folder) in line]
