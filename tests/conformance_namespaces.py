"""Networks of their own, for programs that listen on every address whatever they are told.

In a user and network namespace such a program can reach nobody but who was started beside it, nor they it, and every
port is free. Run as a program, in a namespace, this file holds it: it brings loopback up, says so, and ends with its
standard input, which ends with whoever started it.
"""

import fcntl
import shutil
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_ENDS_WITH_ITS_PARENT: Final = ("setpriv", "--pdeathsig=KILL")
ALONE: Final = ("unshare", "--map-root-user", "--net", *_ENDS_WITH_ITS_PARENT)
"""Before a command: it runs in a network of its own where even loopback is down, and dies with who started it."""
_ENTER: Final = ("nsenter", "--preserve-credentials", "--user", "--net", "--target")
_UP: Final = "up"
_LISTENING: Final = "0A"
"""The state of a listening socket in /proc/net/tcp."""
_GET_FLAGS: Final = 0x8913
_SET_FLAGS: Final = 0x8914
_IFREQ: Final = "16sH22x"
_IFF_UP: Final = 1


class NoNetwork(Exception):
    """No network of our own could be made here; says why."""


@dataclass(frozen=True, slots=True)
class Network:
    """A network with nothing but loopback, for as long as its holder lives."""

    holder: int

    def inside(self, *command: str) -> list[str]:
        """Return the command that runs this one in the network; it dies with the thread that starts it."""
        return [*_ENTER, str(self.holder), *_ENDS_WITH_ITS_PARENT, *command]

    def listens(self, port: int) -> bool:
        """Tell whether a program in the network listens on this TCP port of IPv4, at any address."""
        _, *sockets = Path(f"/proc/{self.holder}/net/tcp").read_text(encoding="ascii").splitlines()
        states = ((fields[1].split(":")[1], fields[3]) for fields in map(str.split, sockets))
        return (f"{port:04X}", _LISTENING) in states


@contextmanager
def alone() -> Iterator[Network]:
    """Make a network and hold it; raise NoNetwork where that is not permitted."""
    with subprocess.Popen(
        [*ALONE, sys.executable, "-I", __file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdout is not None
        assert holder.stderr is not None
        if holder.stdout.readline().strip() != _UP:
            raise NoNetwork(holder.stderr.read().strip().rpartition("\n")[2])
        yield Network(holder.pid)


def lonely() -> str:
    """Say why no program can be given a network of its own here; empty where one can."""
    for needed in (ALONE[0], _ENTER[0], _ENDS_WITH_ITS_PARENT[0]):
        if shutil.which(needed) is None:
            return f"there is no {needed} program, and what is tried would listen on every address of this machine"
    try:
        with alone() as network:
            tried = subprocess.run(network.inside("true"), capture_output=True, text=True, check=False)
    except NoNetwork as refused:
        return f"no network namespace of our own: {refused}"
    return "" if tried.returncode == 0 else f"no way into a network namespace of our own: {tried.stderr.strip()}"


def _hold() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        answered = fcntl.ioctl(any_socket, _GET_FLAGS, struct.pack(_IFREQ, b"lo", 0))
        name, flags = struct.unpack(_IFREQ, answered)
        fcntl.ioctl(any_socket, _SET_FLAGS, struct.pack(_IFREQ, name, flags | _IFF_UP))
    sys.stdout.write(f"{_UP}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    _hold()
