"""The operator in a process of its own that writes down what each pass over a deployment with a retirement costs.

Run as `python -m modeldeployment.lab.bench.retired FILE ARGUMENT…`, the arguments being those of the operator. The file
is written at the end: 64-bit integers, the microseconds of processor time of each such pass, in order.
"""

import sys
import time
from array import array
from pathlib import Path
from typing import Any

from modeldeployment.lab.bench import stubbing
from modeldeployment.operator import cli, controlling
from modeldeployment.reconcile import DeploymentController, Key, Watched
from modeldeployment.reconcile.deciding import retirement
from modeldeployment.reconcile.observing import table


def observed(spent: "array[int]") -> type[DeploymentController]:
    """The controller, with a note in `spent` at the end of each pass."""

    class Observed(DeploymentController):
        def __init__(self, client: Any, watched: Watched, *rest: Any, **others: Any) -> None:
            super().__init__(client, watched, *rest, **others)
            self._deployed = watched.deployments

        async def reconcile(self, key: Key) -> float | None:
            stored = self._deployed.get(key.namespace, key.name)
            kept = retirement.stored(table(stored.status)) if stored is not None else None
            began = time.process_time_ns()
            try:
                return await super().reconcile(key)
            finally:
                if kept is not None:
                    spent.append((time.process_time_ns() - began) // 1000)

    return Observed


def main() -> None:
    """Run the operator until it is asked to stop, then write the file."""
    file = Path(sys.argv.pop(1))
    spent = array(stubbing.TYPECODE)
    setattr(controlling, DeploymentController.__name__, observed(spent))
    try:
        cli.main()
    finally:
        file.write_bytes(spent.tobytes())


if __name__ == "__main__":
    main()
