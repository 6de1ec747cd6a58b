"""How SGLang's gateway (`sglang-router` 0.3.x) is shown to have let go of a member. Source: facts routers-measured §7.

It calls both halves of a pair together, so nothing follows a removal.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from modeldeployment.router.withdrawal import removing
from modeldeployment.router.withdrawal.asking import Heard, State, Step, Subject

_CONTROL: Final = "--control-plane-api-keys"
_EVERYWHERE: Final = "--api-key"
_ROLE: Final = 2


def withdraw(state: State | None, heard: Sequence[Heard], subject: Subject, now: datetime) -> Step:
    """Say what follows, on the way to a router that sends the member nothing more. The label is off already."""
    return removing.withdraw(removing.GATEWAY, state, heard, subject, now)


def restore(state: State | None, heard: Sequence[Heard], subject: Subject, now: datetime) -> Step:
    """Say what follows, on the way to a router that sends it requests again: it is told to, over its API."""
    return removing.restore(removing.GATEWAY, state, heard, subject, now)


def admin_key(arguments: Sequence[str]) -> str | None:
    """Answer the key that opens the worker API of a gateway with these arguments; None where there is none to read.

    A key of the control plane in the role `admin` goes before the one that guards everything. One that names a variable
    of the container says nothing here.
    """
    control, everywhere = _given(arguments, _CONTROL), _given(arguments, _EVERYWHERE)
    admins = (each.split(":", 3) for each in control)
    keys = [parts[3] for parts in admins if len(parts) > _ROLE + 1 and parts[_ROLE] == "admin"]
    for key in (*keys, *reversed(everywhere)):
        if key and key.isascii() and key.isprintable() and "$(" not in key:
            return key
    return None


def _given(arguments: Sequence[str], flag: str) -> list[str]:
    """Every value of a flag, written behind `=` or as the words up to the next flag."""
    values: list[str] = []
    taking = False
    for argument in arguments:
        name, equals, value = argument.partition("=")
        if argument.startswith("--"):
            taking = name == flag and not equals
            if name == flag and equals:
                values.append(value)
        elif taking:
            values.append(argument)
    return values
