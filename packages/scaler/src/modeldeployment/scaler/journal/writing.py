"""Lines into files, beside the passes: nothing here makes a pass wait, and nothing here ends one.

A thread of its own writes; what it cannot keep up with, or has no room for, is dropped and said once.
"""

import contextlib
import os
import queue
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final

from modeldeployment.scaler.journal import files

WAITING: Final = 1024
"""Lines that may wait for the disk; one more is dropped."""

_CLOSING_SECONDS: Final = 5.0


class Writer:
    """Appends lines to numbered files of a directory; the oldest file goes when there would be too many.

    `tell` hears one sentence when lines begin to be dropped, and one when they are written again; it is called from the
    writer's own thread. A start always begins a new file, so no two processes write into one.
    """

    def __init__(self, directory: Path, tell: Callable[[str], None], *, size: int, count: int) -> None:
        """`size` is bytes of one file at most, but for a longer single line; `count` is files at most."""
        self._directory = directory
        self._tell = tell
        self._size = size
        self._count = count
        self._lines: queue.Queue[bytes | None] = queue.Queue(WAITING)
        self._descriptor: int | None = None
        self._written = 0
        self._dropped = 0
        self._refused = 0
        self._refusing = threading.Lock()
        self._thread = threading.Thread(target=self._run, name="scaler-journal", daemon=True)

    def start(self) -> None:
        """Begin to write."""
        self._thread.start()

    def append(self, line: bytes) -> None:
        """Hand a line over; drops it where too many wait already."""
        try:
            self._lines.put_nowait(line)
        except queue.Full:
            with self._refusing:
                self._refused += 1

    def close(self) -> None:
        """Write what waits and end; gives up on a disk that does not answer."""
        with contextlib.suppress(queue.Full):
            self._lines.put(None, timeout=_CLOSING_SECONDS)
        self._thread.join(_CLOSING_SECONDS)

    def _run(self) -> None:
        while (line := self._lines.get()) is not None:
            self._keep(line)
        self._end_file()

    def _keep(self, line: bytes) -> None:
        with self._refusing:
            refused, self._refused = self._refused, 0
        if refused:
            self._drop(refused, "it is slower than the passes")
        try:
            self._write(line + b"\n")
        except OSError as error:
            self._drop(1, error.strerror or str(error))
            return
        if self._dropped and self._lines.empty():
            self._tell(f"{self._directory}: passes are recorded again; {self._dropped} were not")
            self._dropped = 0

    def _drop(self, lines: int, why: str) -> None:
        if not self._dropped:
            self._tell(f"{self._directory}: {why}; passes are not recorded until it takes them")
        self._dropped += lines

    def _write(self, line: bytes) -> None:
        if self._descriptor is None or (self._written and self._written + len(line) > self._size):
            self._end_file()
            self._descriptor = files.begin(self._directory, self._count)
            self._written = 0
        done = 0
        try:
            while done < len(line):
                done += os.write(self._descriptor, line[done:])
        except OSError:
            # Half a line would make the next one unreadable; taking it back needs no room.
            try:
                os.ftruncate(self._descriptor, self._written)
            except OSError:
                self._end_file()
            raise
        self._written += len(line)

    def _end_file(self) -> None:
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            with contextlib.suppress(OSError):
                os.close(descriptor)
