"""Processor seconds of every process that takes part."""

import os
from collections.abc import Mapping
from types import TracebackType
from typing import Final, Self

from modeldeployment.lab.bench.figures import differences
from modeldeployment.lab.controlplane import processes

DRIVER: Final = "driver"


class Account:
    """Reads processor seconds at the start and at the end of a `with`; `used` holds the differences by process."""

    def __init__(self, pids: Mapping[str, int]) -> None:
        self._pids = {**pids, DRIVER: os.getpid()}
        self._before: dict[str, float] = {}
        self.used: dict[str, float] = {}

    def __enter__(self) -> Self:
        self._before = self._read()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.used = differences(self._before, self._read())

    def _read(self) -> dict[str, float]:
        return {name: processes.usage(pid)[1] for name, pid in self._pids.items()}


def told(used: Mapping[str, float]) -> str:
    """The seconds in words, the largest first, nothing below a tenth."""
    shown = sorted(((seconds, name) for name, seconds in used.items() if seconds >= 0.1), reverse=True)
    return ", ".join(f"{name} {seconds:.1f}" for seconds, name in shown) or "none"
