"""Entries of an argument list: what one flag takes up, and the patch that takes it away."""

from collections.abc import Iterable, Sequence

from modeldeployment.admission import patching
from modeldeployment.admission.patching import Operation


def extent(arguments: Sequence[str], index: int) -> range:
    """The entries one flag takes up: its own and, unless its value follows an ``=``, those up to the next dash.

    Rendered command lines have no positional arguments behind a flag, so whatever follows one is its value.
    """
    end = index + 1
    if "=" not in arguments[index]:
        while end < len(arguments) and not arguments[end].startswith("-"):
            end += 1
    return range(index, end)


def without(field: str, entries: Iterable[int]) -> tuple[Operation, ...]:
    """The patch that removes entries of the list at `field`, the last one first, so that every index holds."""
    whole = patching.pointer(field)
    return tuple({"op": "remove", "path": f"{whole}/{index}"} for index in sorted(entries, reverse=True))
