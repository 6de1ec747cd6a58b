"""How a Pod leaves: it stays in service until its requests are done, then the engine is told to stop.

Source: facts shutdown §1, facts rendering §8, decisions D10.
"""

from typing import Final

from modeldeployment.render import data
from modeldeployment.render.compose import Defaulted, Fragment, FromUser
from modeldeployment.render.context import Context
from modeldeployment.render.parts.places import MAIN, SPEC
from modeldeployment.render.parts.serving import METRICS_PATH

DEFAULT_GRACE: Final = 30
SETTLE: Final = 5
"""Seconds at the start in which requests routed just before the delete still arrive."""
INTERVAL: Final = 1
"""Seconds between two reads."""
RESERVE: Final = 5
"""Seconds at the end in which no read starts, so the engine sees its SIGTERM before it is killed."""


def _program() -> str:
    lines = (line.rstrip() for line in data.text("programs/drain_hook.py").splitlines())
    return "\n".join(line for line in lines if line and not line.lstrip().startswith("#"))


PROGRAM: Final = _program()
"""The hook's program without its comments and blank lines; thousands of Pods carry it."""


def drain(context: Context) -> Fragment:
    """Set grace period and preStop hook of a managed role; the hook asks the engine where it really listens."""
    stated, engine, listener = context.role.termination_grace_period_seconds, context.engine, context.listener
    grace = DEFAULT_GRACE if stated is None else stated
    command = [
        "python3",
        "-c",
        PROGRAM,
        str(SETTLE),
        str(INTERVAL),
        str(grace - RESERVE),
        f"{listener.scheme}://127.0.0.1:{listener.engine_port}{METRICS_PATH}",
        " ".join(engine.in_flight.always),
        " ".join(engine.in_flight.split),
    ]
    return {
        (*SPEC, "terminationGracePeriodSeconds"): Defaulted(grace) if stated is None else FromUser(grace),
        (*MAIN, "lifecycle", "preStop", "exec"): {"command": command},
    }
