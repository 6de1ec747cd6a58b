"""What the last release left is adopted by this one: nobody turns over but whom the renderings of both foretell."""

import asyncio
import io
import json
import os
import subprocess
import sys
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest
from e2e_board import Board, uids
from e2e_operators import Operator, Start
from e2e_people import kubectl_md, stored
from e2e_routed import create, pair, router_pods, served, whole
from e2e_standing import Seat, crowded, standing, stayed
from e2e_worlds import JSON, World
from modeldeployment.api import keys
from modeldeployment.kube.kinds import PODS, WORKLOADS
from modeldeployment.reconcile import OwnedKind

pytestmark = pytest.mark.lab

LAST_RELEASE: Final = "84bdf79"
"""The last release of the previous stage."""

ROOT: Final = Path(__file__).parents[2]
NAMES: Final = ("chat", "wide", "qwen")


@pytest.fixture(scope="session")
def last_release(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the import path of the last release's packages, out of this clone's history."""
    archive = subprocess.run(
        ["git", "-C", str(ROOT), "archive", LAST_RELEASE, "packages"], capture_output=True, check=False
    )
    if archive.returncode:
        pytest.skip(f"the history of this clone lacks {LAST_RELEASE}, the last release: {archive.stderr.decode()}")
    folder = tmp_path_factory.mktemp("last-release")
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as packed:
        packed.extractall(folder)  # our own history; `filter` is younger than Python 3.11.2
    return os.pathsep.join(str(each / "src") for each in sorted((folder / "packages").iterdir()))


async def test_what_the_last_release_wrote_is_adopted_and_only_what_is_foretold_turns_over(
    breakable: World, start_operator: Start, last_release: str, tmp_path: Path
) -> None:
    await _is_old(last_release, tmp_path)
    old = start_operator(PYTHONPATH=last_release)
    await breakable.create("chat", replicas=2)
    await breakable.create("wide", replicas=1, size=2)
    await create(breakable, pair(breakable))
    for name in ("chat", "wide"):
        await breakable.settled(name)
    await served(breakable)
    assert await old.stop() == 0
    board = breakable.board
    before, routers = {name: standing(board, name) for name in NAMES}, uids(router_pods(breakable))
    template = (await whole(breakable, OwnedKind.DEPLOYMENT))["spec"]["template"]
    foretold = await _rendered(breakable, tmp_path)
    keeping = {name: _kept(board, name, foretold) for name in NAMES}
    crowds = {name: board.follow(lambda name=name: crowded(board, name)) for name in NAMES}  # type: ignore[misc]
    seen = len(board.came(PODS)), len(board.came(WORKLOADS))

    new = start_operator()
    await _looked_through(new)
    await breakable.create("fresh", replicas=1)
    for name in ("chat", "wide", "fresh"):
        await breakable.settled(name)
    await served(breakable)
    await new.until(lambda: new.metric("modeldeployment_passes_busy") == 0, "the passes are over")

    assert {name: stayed(before[name], standing(board, name)) for name in NAMES} == keeping
    turned = sum(len(before[name]) - len(keeping[name]) for name in NAMES)
    router = foretold["Deployment", "qwen-router"]["spec"]["template"]["metadata"]["annotations"]
    restarted = router[keys.ROUTER_CONFIG_HASH] != template["metadata"]["annotations"][keys.ROUTER_CONFIG_HASH]
    assert (uids(router_pods(breakable)) == routers) == (not restarted)
    came = [pod for pod in board.came(PODS)[seen[0] :] if keys.ROUTER not in pod.metadata.labels]
    assert len(came) == turned + 1  # and the fresh one
    if not turned:
        assert len(board.came(WORKLOADS)) == seen[1] + 1
    assert {name: max(crowd) for name, crowd in crowds.items()} == dict.fromkeys(NAMES, 1)
    kinds = {name: _condition_kinds(board, name) for name in (*NAMES, "fresh")}
    assert kinds == dict.fromkeys(kinds, kinds["fresh"])


async def _is_old(path: str, folder: Path) -> None:
    """Make sure that the import path leads to the last release and not to the present one."""
    asked = "import modeldeployment.operator, modeldeployment.reconcile.deciding as each; print(each.__file__)"
    ended = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-c", asked],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "last-release" in ended.stdout


async def _looked_through(operator: Operator) -> None:
    """Wait until an operator that leads has taken a pass over each of the three deployments."""
    await operator.leading()
    await operator.until(lambda: operator.metric("modeldeployment_passes_total") >= len(NAMES), "all were looked at")


async def _rendered(world: World, folder: Path) -> dict[tuple[str, str | Seat], JSON]:
    """What this release renders for what is stored: Pods by deployment and seat, other objects by kind and name."""
    said = await kubectl_md(world, "render", "-f", str(await stored(world, folder, *NAMES)), "-o", "json")
    assert said.code == 0, said.err
    found: dict[tuple[str, str | Seat], JSON] = {}
    for line in said.out.splitlines():
        body: JSON = json.loads(line)
        labels = body["metadata"].get("labels", {})
        if body["kind"] == "Pod":
            number, member = int(labels[keys.ORDINAL]), int(labels.get(keys.MEMBER_INDEX, "0"))
            found[labels[keys.INSTANCE], (labels[keys.COMPONENT], number, member)] = body
        else:
            found[body["kind"], body["metadata"]["name"]] = body
    return found


def _kept(board: Board, name: str, rendered: Mapping[tuple[str, str | Seat], JSON]) -> set[Seat]:
    """The seats of a deployment whose Pods already are what this release renders; a replica turns over whole."""
    held = {}
    for role, number, member in standing(board, name):
        pod = board.replicas(name, role)[number][member]
        wanted = rendered[name, (role, number, member)]["metadata"]["annotations"][keys.FINGERPRINT]
        held[role, number, member] = pod.metadata.annotations[keys.FINGERPRINT] == wanted
    return {
        (role, number, member)
        for role, number, member in held
        if all(same for (other, place, _), same in held.items() if (other, place) == (role, number))
    }


def _condition_kinds(board: Board, name: str) -> set[str]:
    return {each["type"] for each in board.status(name)["conditions"]}
