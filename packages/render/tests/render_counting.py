"""A command line that knows how often it was looked at, so that a walk can be shown to be one walk."""

from collections.abc import Sequence
from typing import overload


class Counted(Sequence[str]):
    """Arguments that count how often one of them is looked at."""

    def __init__(self, arguments: list[str]) -> None:
        self.arguments, self.looks = arguments, 0

    def __len__(self) -> int:
        return len(self.arguments)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        self.looks += 1 if isinstance(index, int) else len(range(*index.indices(len(self))))
        return self.arguments[index]
