"""Commands to the supervisor: one JSON line asked, one answered, over loopback TCP with the record's token."""

import json
import socket
from dataclasses import asdict, dataclass
from enum import StrEnum

from modeldeployment.lab.controlplane.layout import Layout
from modeldeployment.lab.controlplane.options import HOST
from modeldeployment.lab.controlplane.record import Record
from modeldeployment.lab.errors import ComponentFailed, ControlPlaneError, SupervisorLost, tail


class Verb(StrEnum):
    """What can be done to a component."""

    RESTART = "restart"
    KILL = "kill"
    PAUSE = "pause"
    RESUME = "resume"


@dataclass(frozen=True, slots=True)
class Command:
    """One thing to do to one component; `extra_args` only matter to a restart."""

    verb: Verb
    component: str
    extra_args: tuple[str, ...] = ()


def send(record: Record, command: Command) -> None:
    """Have the supervisor carry out a command and wait for it; raise ControlPlaneError with its refusal."""
    assert record.ports is not None
    line = json.dumps(asdict(command) | {"token": record.token}).encode() + b"\n"
    seconds = record.options.ready_seconds + 10
    try:
        with socket.create_connection((HOST, record.ports.control), timeout=seconds) as connection:
            connection.sendall(line)
            answer = json.loads(connection.makefile("rb").readline())
    except (OSError, ValueError) as error:
        raise SupervisorLost(
            f"the supervisor of {record.options.folder} does not answer ({error}); end it with `md-lab down`"
        ) from error
    if "culprit" in answer:
        log = Layout(record.options.folder).log(answer["culprit"])
        raise ComponentFailed(answer["culprit"], answer["error"], log, tail(log))
    if "error" in answer:
        raise ControlPlaneError(answer["error"])
