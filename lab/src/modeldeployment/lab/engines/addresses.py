"""Pod addresses of the lab, and the sockets that listen there.

Source: facts control-plane §3: Pods of the lab live in 127.1.0.0/16, which the kernel answers for without any set-up.
"""

import errno
import ipaddress
import random
import resource
import socket
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Final

from modeldeployment.lab.engines.errors import AddressRefused, AddressTaken, TooManySockets

POD_NETWORK: Final = ipaddress.IPv4Network("127.1.0.0/16")
"""Where Pods of the lab live."""
_UPPER_HALF: Final = POD_NETWORK.num_addresses // 2
_SPARE_FILES: Final = 512
_BACKLOG: Final = 256


def candidates(seed: int) -> Iterator[str]:
    """Yield addresses of the network's upper half in a random order that starts anywhere.

    kwok deals out addresses from the bottom, so these rarely meet a Pod that it plays.
    """
    hosts = range(_UPPER_HALF, POD_NETWORK.num_addresses - 1)
    first = random.Random(seed).randrange(len(hosts))
    for step in range(len(hosts)):
        yield str(POD_NETWORK[hosts[(first + step) % len(hosts)]])


def listen(address: str, ports: Sequence[int]) -> tuple[socket.socket, ...]:
    """Open listening sockets at one Pod address, on all ports or on none.

    Raises AddressRefused for an address that is none of the lab's, AddressTaken where somebody listens, TooManySockets.
    """
    if not _is_pod_address(address):
        message = f"address {address!r} is no Pod address of the lab; choose one inside {POD_NETWORK}"
        raise AddressRefused(message)
    _allow_files(len(ports))
    with ExitStack() as opened:
        sockets = tuple(opened.enter_context(_listen(address, port)) for port in ports)
        opened.pop_all()
    return sockets


def _is_pod_address(address: str) -> bool:
    try:
        return ipaddress.IPv4Address(address) in POD_NETWORK
    except ipaddress.AddressValueError:
        return False


def _listen(address: str, port: int) -> socket.socket:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((address, port))
        listening.listen(_BACKLOG)
        listening.setblocking(False)
    except OSError as error:
        listening.close()
        if error.errno == errno.EADDRINUSE:
            message = f"{address}:{port} is in use by another program; end that one, or choose another address"
            raise AddressTaken(message) from error
        raise
    except BaseException:
        listening.close()
        raise
    return listening


def _allow_files(more: int) -> None:
    """Raise the limit of open files as far as the system lets us, once few are left."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == hard or soft == resource.RLIM_INFINITY:
        return
    probe = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    used = probe.fileno()  # the kernel lends the lowest free number, so this is about how many are open
    probe.close()
    if used + more + _SPARE_FILES < soft:
        return
    wanted = max(soft * 2, used + more + 2 * _SPARE_FILES)
    if hard != resource.RLIM_INFINITY and wanted > hard:
        wanted = hard
    if used + more >= wanted:
        message = f"{used} sockets are open and this process may have {hard}; raise its limit of open files (ulimit -n)"
        raise TooManySockets(message)
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
