"""The people's command line of the end-to-end tests, as a process of its own."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Final

from e2e_board import PATIENCE
from e2e_worlds import JSON, Said, World
from modeldeployment.reconcile import DEPLOYMENTS

PROGRAM: Final = str(Path(sys.executable).with_name("kubectl-md"))


async def kubectl_md(world: World, *arguments: str) -> Said:
    """Run `kubectl md` in the world's namespace, with what the cluster knows."""
    where = ("--cluster", "--kubeconfig", str(world.control_plane.kubeconfig), "--namespace", world.namespace)
    process = await asyncio.create_subprocess_exec(
        PROGRAM, *arguments, *where, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    out, err = await asyncio.wait_for(process.communicate(), PATIENCE)
    return Said(process.returncode or 0, out.decode(), err.decode())


def begin(world: World, *arguments: str) -> "asyncio.Future[asyncio.subprocess.Process]":
    """Start `kubectl md` in the world's namespace."""
    where = ("--kubeconfig", str(world.control_plane.kubeconfig), "--namespace", world.namespace)
    return asyncio.ensure_future(
        asyncio.create_subprocess_exec(
            PROGRAM, *arguments, *where, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
        )
    )


async def ask(world: World, *arguments: str) -> Said:
    """Run `kubectl md` in the world's namespace."""
    process = await begin(world, *arguments)
    out, err = await asyncio.wait_for(process.communicate(), PATIENCE)
    assert b"Traceback" not in err, err.decode()
    return Said(process.returncode or 0, out.decode(), err.decode())


async def stored(world: World, folder: Path, *names: str) -> Path:
    """Write deployments as the API server holds them into a file."""
    bodies = [await world.whole(DEPLOYMENTS, name) for name in names]
    file = folder / "stored.json"
    file.write_text("\n---\n".join(map(json.dumps, bodies)))
    return file


async def foretold(world: World, folder: Path, manifest: JSON) -> dict[str, int]:
    """What `kubectl md diff` says of making the stored deployment this one: the Pods of each role that turn over."""
    old, new = await stored(world, folder, manifest["metadata"]["name"]), folder / "wanted.json"
    new.write_text(json.dumps(manifest))
    said = await kubectl_md(world, "diff", str(old), str(new), "-o", "json")
    assert said.code in (0, 1), said.err
    return {role["name"]: role["podsReplaced"] for role in json.loads(said.out)["roles"]}
