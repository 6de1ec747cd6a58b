"""What the tests of `kubectl md` share: the program run in this process, and files for it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from modeldeployment.admission.examples import CLUSTER, DEPLOYMENT, Change, changed
from modeldeployment.operator.people import main

DOCUMENTS: Final = Path(__file__).parent / "documents"
"""The fragments of the specification, as they stand there."""


@dataclass(frozen=True, slots=True)
class Said:
    """Exit status and both streams of one run."""

    status: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        """Standard output, line by line."""
        return self.out.splitlines()

    @property
    def objects(self) -> list[dict[str, Any]]:
        """The objects of a `-o json`."""
        objects: list[dict[str, Any]] = json.loads(self.out)["objects"]
        return objects


def run(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> Said:
    """Run `kubectl md` with these arguments."""
    with pytest.raises(SystemExit) as left:
        main([str(argument) for argument in arguments])
    written = capsys.readouterr()
    assert "Traceback" not in written.err
    return Said(int(left.value.code or 0), written.out, written.err)


def written(path: Path, *bodies: Mapping[str, Any]) -> Path:
    """Write objects into one file, as a stream of documents."""
    path.write_text(yaml.safe_dump_all(bodies, sort_keys=False), encoding="utf-8")
    return path


def deployment(path: Path, changes: Change | None = None) -> Path:
    """Write the deployment of admission's examples, changed, into a file."""
    return written(path, changed(DEPLOYMENT, changes or {}))


def cluster(path: Path) -> Path:
    """Write everything the examples' cluster holds, besides the deployments and the scaler, into a file."""
    return written(path, *(each for each in CLUSTER if not each["kind"].startswith("ModelDeployment")))
