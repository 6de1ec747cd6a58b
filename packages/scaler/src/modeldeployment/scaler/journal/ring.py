"""The last passes of one scaler, in memory."""

from collections import deque
from collections.abc import Iterator


class Ring:
    """Holds the last lines, encoded; the oldest goes when another one comes."""

    def __init__(self, size: int) -> None:
        self._lines: deque[bytes] = deque(maxlen=size)

    def append(self, line: bytes) -> None:
        """Keep a line."""
        self._lines.append(line)

    def __iter__(self) -> Iterator[bytes]:
        """The lines, oldest first."""
        return iter(tuple(self._lines))

    def __len__(self) -> int:
        return len(self._lines)
