"""What status says of the parallelism one role declares: its degrees, its modes, and where they were read.

Sources: facts status §5, facts rendering §9.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from modeldeployment.api.conditions import Reason
from modeldeployment.render import degrees
from modeldeployment.render.degrees import Degrees, Unreadable
from modeldeployment.render.engine import Engine
from modeldeployment.render.parallelism import Degree, DegreeTable, LoadBalance

if TYPE_CHECKING:
    from modeldeployment.api.roles import Role

_SHOWN: Final = 64
"""Characters of a value that a reason repeats."""


def parallelism(role: Role, engine: Engine) -> dict[str, object]:
    """Answer `status.roles[].parallelism` of one role, in the JSON of `api.rolestatus.Parallelism`.

    A degree that the role leaves out is left out, so an explicit 1 and an explicit local 0 can be told from silence.
    What cannot be read declares nothing, and the reason names flag and value.
    """
    if not role.managed:
        return _unknown(Reason.UNMANAGED)
    env = {variable.name: variable.value for variable in role.env}
    found = degrees.read(engine, role.extra_args, env)
    if isinstance(found, Unreadable):
        return _unknown(_reason(found))
    modes = engine.degrees.modes
    return {
        "declared": {str(degree): value for degree, value in _declared(engine.degrees, found, env).items()},
        **({"modes": {modes[flag]: on for flag, on in found.modes.items()}} if found.modes else {}),
        "loadBalance": str(found.load_balance),
        "source": _source(found),
    }


def _declared(table: DegreeTable, found: Degrees, env: Mapping[str, str]) -> Mapping[Degree, int]:
    """Add the data degree of the engine's variable where the engine looks at it."""
    if table.variable not in env or not degrees.asks_variable(found.declared):
        return found.declared
    return {**found.declared, Degree.DATA: found.data_parallel}


def _source(found: Degrees) -> dict[str, object]:
    if found.load_balance is not LoadBalance.UNKNOWN:
        return {"kind": "ExtraArgs", "complete": True}
    why = f"{' and '.join(found.balancing)} describe different shapes of load balancing"
    return {"kind": "ExtraArgs", "complete": False, "unreadableReason": why}


def _unknown(why: str) -> dict[str, object]:
    return {
        "declared": {},
        "loadBalance": str(LoadBalance.UNKNOWN),
        "source": {"kind": "Unknown", "complete": False, "unreadableReason": str(why)},
    }


def _reason(found: Unreadable) -> str:
    if not found.value:
        return f"{found.flag} {found.why}"
    cropped = found.value if len(found.value) <= _SHOWN else f"{found.value[: _SHOWN - 1]}…"
    return f"{found.flag} {cropped!r} {found.why}"
