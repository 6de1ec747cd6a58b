"""Where an engine listens: which ports, under which scheme, and whether Kubernetes can ask it how it is.

Source: facts rendering §7 and §8, spec 1 §Operating notes, decisions D34.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from modeldeployment.api.conditions import RefusalReason
from modeldeployment.render.engine import Engine, ListenFlags
from modeldeployment.render.errors import RenderRefusal
from modeldeployment.render.flags import Given

if TYPE_CHECKING:
    from modeldeployment.api.roles import Role

DEFAULT_PORT: Final = 8000
DEFAULT_PORT_NAME: Final = "http"
TCP: Final = "TCP"
LAST_PORT: Final = 65535
PROXIED_PORT: Final = 8200
"""Where an engine behind the routing proxy listens, or at the next number that the role does not declare."""
PROXIED_PORT_NAME: Final = "model-server"


@dataclass(frozen=True, slots=True)
class ContainerPort:
    """One port of a container."""

    name: str
    number: int
    protocol: str
    declared: bool


@dataclass(frozen=True, slots=True)
class Listener:
    """How a role is reached.

    Callers use `service_port`; Services, probes and routers reach the Pod at the first of `ports`; the engine itself
    listens on `engine_port`, under `scheme`. The three are one number unless a role moves the engine with a port flag
    of its own, or the routing proxy has taken the first port (`proxied`).
    """

    service_port: int
    ports: tuple[ContainerPort, ...]
    engine_port: int
    scheme: str
    probed: bool
    host_given: bool
    port_given: bool
    proxied: bool = False

    @property
    def serving(self) -> ContainerPort:
        """The port requests arrive at."""
        return self.ports[0]

    @property
    def serving_scheme(self) -> str:
        """The scheme requests arrive under; the routing proxy speaks plain HTTP before any engine."""
        return "http" if self.proxied else self.scheme

    @property
    def engine_ports(self) -> tuple[ContainerPort, ...]:
        """The ports of the engine's container: the role's, with the first one moved where the proxy has taken it."""
        if not self.proxied:
            return self.ports
        return (ContainerPort(PROXIED_PORT_NAME, self.engine_port, TCP, declared=False), *self.ports[1:])


def listener(role: Role, engine: Engine, given: Sequence[Given] | None = None, *, proxied: bool = False) -> Listener:
    """Read where `role` listens from its declared ports and from the command line its user wrote.

    `given` are the flags found on that line, where somebody has walked it already; at least those of `engine.listen`.
    `proxied` says whether the routing proxy stands before the engine (`Joins.proxied`).
    Raises RenderRefusal, and only for a proxied role, where its own port is no port or is taken.
    """
    flags = engine.listen
    if given is None:
        given = tuple(engine.flags.find(role.extra_args if role.managed else role.command, flags.all()))
    own_port = _port(_last(given, flags.port))
    host_given = any(found.flag == flags.host for found in given)
    port_given = any(found.flag == flags.port for found in given)
    ports = tuple(ContainerPort(p.name, p.port, p.protocol.value, declared=True) for p in role.ports)
    if not ports:
        number = DEFAULT_PORT if proxied else own_port or DEFAULT_PORT
        ports = (ContainerPort(DEFAULT_PORT_NAME, number, TCP, declared=False),)
    serving = ports[0]
    engine_port = own_port or serving.number
    if proxied:
        engine_port = _behind_proxy(role, flags.port, (_last(given, flags.port) or "") if port_given else None, ports)
    return Listener(
        service_port=role.ports[0].port if role.ports else DEFAULT_PORT,
        ports=ports,
        engine_port=engine_port,
        scheme="https" if any(found.flag in (flags.certificate, flags.key) for found in given) else "http",
        probed=proxied
        or (
            role.managed
            and not host_given
            and serving.protocol == TCP
            and engine_port == serving.number
            and _answers_strangers(given, flags)
        ),
        host_given=host_given,
        port_given=port_given,
        proxied=proxied,
    )


def _behind_proxy(role: Role, flag: str, said: str | None, ports: Sequence[ContainerPort]) -> int:
    """Answer where an engine listens whose serving port the proxy has taken.

    `said` is what the role's own flag says, empty for a flag without a value; None for none.
    Raises RenderRefusal where it says no port, or one that is taken.
    """
    taken = {port.number for port in ports}
    if said is None:
        return next(number for number in range(PROXIED_PORT, LAST_PORT + 1) if number not in taken)
    number, where = _port(said), f"spec.roles[{role.name}].extraArgs"
    if number is None:
        message = (
            f"{where}: {flag} is {said!r}, which is no port from 1 to {LAST_PORT}, and the routing proxy before the "
            f"engine must know where it listens; write a port, or leave {flag} out"
        )
    elif number in taken:
        message = (
            f"{where}: {flag} {number} is taken: the role is reached at {number} or declares it in ports, and the "
            f"routing proxy stands before the engine; leave {flag} out, or write a port the role does not declare"
        )
    else:
        return number
    raise RenderRefusal(RefusalReason.PORT_CONFLICT, role.name, message)


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
    return number if number is not None and 1 <= number <= LAST_PORT else None


def _integer(text: str | None) -> int | None:
    try:
        return None if text is None else int(text)
    except ValueError:
        return None
