"""Where two plans differ: the first field, in the order in which a plan is written."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from modeldeployment.scaler.planning import coding
from modeldeployment.scaler.planning.checking import shown
from modeldeployment.scaler.planning.outcome import Plan

_ABSENT: Final = msgspec.UNSET


@dataclass(frozen=True, slots=True)
class Difference:
    """One field that differs, and both of its values as JSON; `nothing` where it is not written."""

    field: str
    recorded: str
    repeated: str


def difference(recorded: Plan, repeated: Plan) -> Difference | None:
    """The first field in which two plans differ, bit for bit; None where they are the same."""
    was, now = coding.encode(recorded), coding.encode(repeated)
    if was == now:
        return None
    return next(_differences(msgspec.json.decode(was), msgspec.json.decode(now), ""))


def _differences(was: Any, now: Any, path: str) -> Iterator[Difference]:
    if isinstance(was, dict) and isinstance(now, dict):
        for name in dict.fromkeys((*was, *now)):
            yield from _differences(was.get(name, _ABSENT), now.get(name, _ABSENT), f"{path}.{name}" if path else name)
        if was == now and [*was] != [*now]:
            yield Difference(f"{path} (order)", shown([*was]), shown([*now]))
    elif isinstance(was, list) and isinstance(now, list):
        for index in range(max(len(was), len(now))):
            yield from _differences(_at(was, index), _at(now, index), f"{path}[{index}]")
    elif was is _ABSENT or now is _ABSENT or type(was) is not type(now) or was != now:
        yield Difference(path, _told(was), _told(now))


def _at(values: list[Any], index: int) -> Any:
    return values[index] if index < len(values) else _ABSENT


def _told(value: Any) -> str:
    return "nothing" if value is _ABSENT else shown(value)
