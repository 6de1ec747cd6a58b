"""What the controller records in a fake world, through whatever happens to it, is repeated bit for bit."""

from pathlib import Path
from typing import Any

import pytest
from model_scaling import Scene, commits
from modeldeployment.kube import Uncertain
from modeldeployment.kube.errors import Details
from modeldeployment.lab.model.client import Write
from modeldeployment.operator.people import main
from modeldeployment.scaler.journal import Writer, encode


def lived() -> Scene:
    """A scaler that grows, is edited around, loses an answer, dies, leads again and shrinks."""
    scene = Scene()
    scene.engines.waiting = 30
    scene.scale(behavior={"scaleDown": {"stabilizationWindowSeconds": 30}})
    scene.settle()
    scene.serve()
    scene.later()
    scene.edit({"spec": {"model": {"name": "another"}}})
    scene.later()
    lost = [Uncertain("the answer was lost", Details())]

    def lose(write: Write) -> None:
        if commits(write) and lost:
            raise lost.pop()

    scene.engines.waiting = 60
    scene.client.before = lose
    for _ in range(3):
        scene.later()
        scene.serve()
    scene.start()
    scene.lead()
    scene.engines.waiting = 4
    for _ in range(6):
        scene.later()
        scene.serve()
    return scene


def replayed(capsys: pytest.CaptureFixture[str], journal: Path) -> tuple[Any, str]:
    with pytest.raises(SystemExit) as left:
        main(["replay", str(journal)])
    return left.value.code, capsys.readouterr().out


def test_every_pass_that_a_controller_lived_through_is_repeated_bit_for_bit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scene = lived()
    lines = scene.journal.lines
    counts = [line.plan.vector["server"] for line in lines if line.plan is not None and line.committed]
    assert max(counts) == 8
    assert counts[-1] < 8
    writer = Writer(tmp_path, pytest.fail, size=2**20, count=2)
    writer.start()
    for line in lines:
        writer.append(encode(line))
    writer.close()
    assert replayed(capsys, tmp_path) == (0, f"{len(lines)} passes of 1 scaler: every decision is the same\n")
