"""What the operator records of a scaler, asked for, explained and repeated by the people's program."""

import asyncio
import json
from pathlib import Path

import pytest
import yaml
from e2e_board import PATIENCE
from e2e_people import PROGRAM
from e2e_scaling import Scaled
from e2e_scaling import scaled as scaled
from e2e_worlds import Said

pytestmark = pytest.mark.lab


async def program(*arguments: str | Path) -> Said:
    """Run `kubectl md` as a process of its own."""
    process = await asyncio.create_subprocess_exec(
        PROGRAM, *map(str, arguments), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    out, err = await asyncio.wait_for(process.communicate(), PATIENCE)
    return Said(process.returncode or 0, out.decode(), err.decode())


async def test_every_pass_is_on_record_is_explained_and_comes_to_the_same_again(scaled: Scaled, tmp_path: Path) -> None:
    place = tmp_path / "journal"
    operator = await scaled.hooks.called("webhook", "controllers", "scaler", GPUSTACK_SCALER_JOURNAL_DIR=str(place))
    await scaled.deploy(replicas=1)
    scaled.busy(24)
    await scaled.scale()
    await scaled.until(lambda: scaled.replicas > 1, "it grew")
    await scaled.until(lambda: scaled.status().get("lastCommit"), "the commit is told")
    where = ("-n", scaled.world.namespace)

    kept = await program("why", "mds/chat", *where, "--operator", f"http://127.0.0.1:{operator.port}", "-o", "json")
    assert kept.code in (0, 1), kept.err
    assert json.loads(kept.out)["roles"][0]["name"] == "server"

    status = await program("why", "mds/chat", *where, "--kubeconfig", scaled.world.control_plane.kubeconfig)
    assert status.code in (0, 1), status.err
    assert f"decision {scaled.decision()['decisionID']} of term 1" in status.out

    spec = await program(
        "gitops", "chat", "--for", "argocd", *where, "--kubeconfig", scaled.world.control_plane.kubeconfig
    )
    (entry,) = yaml.safe_load(spec.out)["spec"]["ignoreDifferences"]
    assert (entry["name"], entry["namespace"]) == ("chat", scaled.world.namespace)
    assert entry["jsonPointers"][0] == "/spec/roles/0/replicas"

    await scaled.hooks.clear()
    replayed = await program("replay", place, "-o", "json")
    assert replayed.code == 0, replayed.out + replayed.err
    assert json.loads(replayed.out)["passes"] > 1

    first = next(
        line for line in map(json.loads, next(place.iterdir()).read_text().splitlines()) if line.get("committed")
    )
    told = await program("why", "mds/chat", *where, "--journal", place, "--at", first["at"])
    assert told.code in (0, 1), told.err
    assert "  algorithm     1 -> 3: its QueueDepth of 24 over its target of 8 per replica, with 1 ready" in told.out
    document = tmp_path / "line.json"
    document.write_text(json.dumps(first))
    assert json.loads((await program("plan", "--input", document)).out) == first["plan"]
