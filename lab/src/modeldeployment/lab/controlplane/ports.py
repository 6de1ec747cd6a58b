"""Free loopback ports, from below the range the kernel lends to outgoing connections."""

import contextlib
import random
import socket
from typing import Final

from modeldeployment.lab.controlplane.options import HOST, Ports
from modeldeployment.lab.errors import PortTaken

_RANGE: Final = range(20_000, 32_000)


def is_free(port: int) -> bool:
    """Tell whether nothing listens on this loopback port right now."""
    with contextlib.closing(socket.socket(socket.AF_INET, socket.SOCK_STREAM)) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def choose(api_port: int = 0, *, seed: int | None = None) -> Ports:
    """Pick a free port for every use; raise PortTaken if the API server's wanted port is in use.

    The start is random, so control planes started at the same moment rarely meet; one that does starts over.
    """
    if api_port and not is_free(api_port):
        raise PortTaken(f"port {api_port} is in use on {HOST}; choose another one, or leave it out", port=api_port)
    candidates = iter(random.Random(seed).sample(_RANGE, 2_000))
    chosen: dict[str, int] = {"api_server": api_port} if api_port else {}
    for name in Ports.names():
        if name not in chosen:
            chosen[name] = next(port for port in candidates if port not in chosen.values() and is_free(port))
    return Ports.of(chosen)
