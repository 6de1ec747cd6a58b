"""What `kubectl md render` prints is what the controller created."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from e2e_operators import environment
from e2e_worlds import World
from modeldeployment.api import keys
from modeldeployment.reconcile import DEPLOYMENTS

pytestmark = pytest.mark.lab


def part(printed: Any, live: Any) -> bool:
    """Whether everything printed is in the live object as it is; the API server adds, and takes nothing away."""
    if isinstance(printed, dict):
        return isinstance(live, dict) and all(key in live and part(value, live[key]) for key, value in printed.items())
    if isinstance(printed, list) and isinstance(live, list):
        return len(printed) <= len(live) and all(map(part, printed, live))
    return bool(printed == live)


async def test_every_object_that_is_printed_was_created_so(world: World, tmp_path: Path) -> None:
    roles = [world.role(kind.lower(), kind=kind, image="lab/one", size=2) for kind in ("Prefill", "Decode")]
    manifest = world.manifest("paired", roles=roles)
    manifest["spec"]["router"] = {"name": "vllm-router"}
    assert (await world.apply(manifest)).code == 0
    await world.settled("paired")

    file = tmp_path / "stored.json"
    file.write_text(json.dumps(await world.whole(DEPLOYMENTS, "paired")))
    printed = await rendered(world, file)
    assert [each["kind"] for each in printed].count("Pod") == 4
    for each in printed:
        name = each["metadata"]["name"]
        said = await world.kubectl("get", f"{each['kind']}.{_group(each)}", name, "-o", "json")
        live = json.loads(said.out)
        # Kueue takes the gate away that it sets; whether a member answers is a matter of now.
        assert part(each, live), (each, live)
        assert live["metadata"]["labels"].get(keys.ELIGIBLE) == each["metadata"]["labels"].get(keys.ELIGIBLE)


def _group(body: dict[str, Any]) -> str:
    group, _, version = body["apiVersion"].rpartition("/")
    return f"{version}.{group}"


async def rendered(world: World, file: Path) -> list[dict[str, Any]]:
    """What the program prints for a file, with the cluster's facts."""
    program = str(Path(sys.executable).with_name("kubectl-md"))
    process = await asyncio.create_subprocess_exec(
        *(program, "render", "-f", str(file), "-o", "json"),
        *("--cluster", "--kubeconfig", str(world.control_plane.kubeconfig)),
        env=environment({}),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    return [json.loads(line) for line in out.splitlines()]
