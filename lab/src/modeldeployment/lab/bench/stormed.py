"""The operator in a process of its own that writes down how old each version of a Pod was once it was decided on.

Run as `python -m modeldeployment.lab.bench.stormed FILE ARGUMENT…`, the arguments being those of the operator. The file
is written at the end: pairs of 64-bit integers, both in microseconds of the monotonic clock (`stubbing.now`): when a
version came to be, and when the first pass that saw it had decided.
"""

import sys
from array import array
from pathlib import Path
from typing import Any

from modeldeployment.lab.bench import stubbing
from modeldeployment.operator import cli, controlling
from modeldeployment.reconcile import DeploymentController, Key, Watched
from modeldeployment.reconcile.deciding.seen import Snapshot
from modeldeployment.reconcile.deciding.steps import Decision


def observed(decided: "array[int]") -> type[DeploymentController]:
    """The controller, with a note in `decided` at the moment of each decision."""

    class Observed(DeploymentController):
        def __init__(self, client: Any, watched: Watched, *rest: Any, **others: Any) -> None:
            super().__init__(client, watched, *rest, **others)
            self._pods = watched.pods
            self._newest: dict[str, int] = {}

        async def _decided(self, key: Key, snapshot: Snapshot) -> tuple[Snapshot, Decision]:
            uid = snapshot.deployment.metadata.uid or ""
            versions = [int(pod.metadata.resource_version) for pod in self._pods.by_index("owner", uid)]
            made = await super()._decided(key, snapshot)
            newest, at = self._newest.get(uid, 0), stubbing.now()
            for version in versions:
                if version > newest:
                    decided.extend((version, at))
            self._newest[uid] = max([newest, *versions])
            return made

    return Observed


def main() -> None:
    """Run the operator until it is asked to stop, then write the file."""
    file = Path(sys.argv.pop(1))
    decided = array(stubbing.TYPECODE)
    setattr(controlling, DeploymentController.__name__, observed(decided))
    try:
        cli.main()
    finally:
        file.write_bytes(decided.tobytes())


if __name__ == "__main__":
    main()
