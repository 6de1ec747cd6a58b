"""The last passes of one scaler, in memory."""

import zlib
from collections import deque
from collections.abc import Iterator
from typing import Final

_FASTEST: Final = 1


class Ring:
    """Holds the last lines, encoded; the oldest goes when another one comes.

    Lines say much the same again and again: packed they take a fifth, for a tenth of a millisecond each.
    """

    def __init__(self, size: int) -> None:
        self._lines: deque[bytes] = deque(maxlen=size)

    def append(self, line: bytes) -> None:
        """Keep a line."""
        if self._lines.maxlen:
            self._lines.append(zlib.compress(line, _FASTEST))

    def __iter__(self) -> Iterator[bytes]:
        """The lines, oldest first."""
        return iter([zlib.decompress(each) for each in tuple(self._lines)])

    def __len__(self) -> int:
        return len(self._lines)
