"""Where an engine listens: which ports, under which scheme, and whether Kubernetes can ask it how it is.

Source: facts rendering §7, spec 1 §Operating notes, decisions D34.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from modeldeployment.api.roles import Role
from modeldeployment.render.engine import Engine, ListenFlags
from modeldeployment.render.flags import Given

DEFAULT_PORT: Final = 8000
DEFAULT_PORT_NAME: Final = "http"
TCP: Final = "TCP"


@dataclass(frozen=True, slots=True)
class ContainerPort:
    """One port of the main container."""

    name: str
    number: int
    protocol: str
    declared: bool


@dataclass(frozen=True, slots=True)
class Listener:
    """How a role is reached.

    Callers use `service_port`; Services, probes and routers reach the Pod at the first of `ports`; the engine itself
    listens on `engine_port`. The three are one number unless a role moves the engine with a port flag of its own.
    """

    service_port: int
    ports: tuple[ContainerPort, ...]
    engine_port: int
    scheme: str
    probed: bool
    host_given: bool
    port_given: bool

    @property
    def serving(self) -> ContainerPort:
        """The port requests arrive at."""
        return self.ports[0]


def listener(role: Role, engine: Engine, given: Sequence[Given] | None = None) -> Listener:
    """Read where `role` listens from its declared ports and from the command line its user wrote.

    `given` are the flags found on that line, where somebody has walked it already; at least those of `engine.listen`.
    """
    flags = engine.listen
    if given is None:
        given = tuple(engine.flags.find(role.extra_args if role.managed else role.command, flags.all()))
    own_port = _port(_last(given, flags.port))
    ports = tuple(ContainerPort(p.name, p.port, p.protocol.value, declared=True) for p in role.ports)
    if not ports:
        ports = (ContainerPort(DEFAULT_PORT_NAME, own_port or DEFAULT_PORT, TCP, declared=False),)
    serving = ports[0]
    engine_port = own_port or serving.number
    host_given = any(found.flag == flags.host for found in given)
    return Listener(
        service_port=role.ports[0].port if role.ports else DEFAULT_PORT,
        ports=ports,
        engine_port=engine_port,
        scheme="https" if any(found.flag in (flags.certificate, flags.key) for found in given) else "http",
        probed=role.managed
        and not host_given
        and serving.protocol == TCP
        and engine_port == serving.number
        and _answers_strangers(given, flags),
        host_given=host_given,
        port_given=any(found.flag == flags.port for found in given),
    )


def _answers_strangers(given: Sequence[Given], flags: ListenFlags) -> bool:
    """Whether a caller without a client certificate, as the kubelet is, gets an answer."""
    demanded = [found for found in given if found.flag == flags.client_certificates]
    if not demanded or not any(found.flag in (flags.certificate, flags.key) for found in given):
        return True
    return _integer(demanded[-1].value) in (0, 1)


def _last(given: Sequence[Given], flag: str) -> str | None:
    values = [found.value for found in given if found.flag == flag]
    return values[-1] if values else None


def _port(text: str | None) -> int | None:
    """Read a port number; one the engine would refuse at its start counts as not said."""
    number = _integer(text)
    return number if number is not None and 1 <= number <= 65535 else None


def _integer(text: str | None) -> int | None:
    try:
        return None if text is None else int(text)
    except ValueError:
        return None
