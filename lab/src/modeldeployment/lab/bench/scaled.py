"""The operator in a process of its own that writes down when each scaler has planned on a new sample.

Run as `python -m modeldeployment.lab.bench.scaled FILE ARGUMENT…`, the arguments being those of the operator. The file
is written at the end: pairs of 64-bit integers, the number that a scaler's name ends with, and when, in microseconds of
the monotonic clock (`stubbing.now`).
"""

import sys
from array import array
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from modeldeployment.lab.bench import stubbing
from modeldeployment.operator import cli, scaling
from modeldeployment.scaler import ScalerController
from modeldeployment.scaler.journal import Line

DIGITS: Final = 4
"""Of the number at the end of a name."""


class Noting:
    """A journal that notes when a pass on a new sample is handed to it, and hands everything on."""

    def __init__(self, journal: Any, planned: "array[int]") -> None:
        self._journal = journal
        self._planned = planned
        self._newest: dict[str, datetime] = {}

    def append(self, line: Line) -> None:
        """Note a pass, once a sample."""
        newest = max((each.at for each in line.reading.roles.values() if each.at is not None), default=None)
        if newest is not None and self._newest.get(line.name) != newest:
            self._newest[line.name] = newest
            self._planned.extend((int(line.name[-DIGITS:]), stubbing.now()))
        self._journal.append(line)

    def forget(self, namespace: str, name: str) -> None:
        """Let a scaler go."""
        self._journal.forget(namespace, name)


def observed(planned: "array[int]") -> type[ScalerController]:
    """The controller, with a note in `planned` at the end of each pass that planned."""

    class Observed(ScalerController):
        def __init__(self, client: Any, watched: Any, recorder: Any, sampler: Any, journal: Any, *rest: Any) -> None:
            super().__init__(client, watched, recorder, sampler, Noting(journal, planned), *rest)

    return Observed


def main() -> None:
    """Run the operator until it is asked to stop, then write the file."""
    file = Path(sys.argv.pop(1))
    planned = array(stubbing.TYPECODE)
    setattr(scaling, ScalerController.__name__, observed(planned))
    try:
        cli.main()
    finally:
        file.write_bytes(planned.tobytes())


if __name__ == "__main__":
    main()
