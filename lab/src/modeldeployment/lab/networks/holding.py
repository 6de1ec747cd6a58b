"""A network of its own: a user and network namespace, held for as long as it is needed.

In it a program can reach nobody but who was started beside it, nor they it, and every port is free. Run as a program,
in a namespace, this file holds it: it brings loopback up, says so, hands out a socket of the namespace for each byte it
is sent, and ends with its standard input, which ends with whoever started it. Source: facts control-plane §2.3.
"""

import fcntl
import shutil
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

_ENDS_WITH_ITS_PARENT: Final = ("setpriv", "--pdeathsig=KILL")
ALONE: Final = ("unshare", "--map-root-user", "--net", *_ENDS_WITH_ITS_PARENT)
"""Before a command: it runs in a network of its own where even loopback is down, and dies with who started it."""
_ENTER: Final = ("nsenter", "--preserve-credentials", "--user", "--net", "--target")
_UP: Final = b"up"
_LISTENING: Final = "0A"
"""The state of a listening socket in /proc/net/tcp."""
_GET_FLAGS: Final = 0x8913
_SET_FLAGS: Final = 0x8914
_IFREQ: Final = "16sH22x"
_IFF_UP: Final = 1
_BACKLOG: Final = 256


class NoNetwork(OSError):
    """No network of our own could be made here, or it is gone; says why."""


@dataclass(frozen=True, slots=True)
class Network:
    """A network with nothing but loopback, for as long as its holder lives."""

    holder: int
    _asking: socket.socket = field(repr=False)

    def inside(self, *command: str) -> list[str]:
        """Return the command that runs this one in the network; it dies with the thread that starts it."""
        return [*_ENTER, str(self.holder), *_ENDS_WITH_ITS_PARENT, *command]

    def listens(self, port: int) -> bool:
        """Tell whether a program in the network listens on this TCP port, at any address."""
        sockets = [
            line.split()
            for table in ("tcp", "tcp6")
            for line in Path(f"/proc/{self.holder}/net/{table}").read_text(encoding="ascii").splitlines()[1:]
        ]
        return (f"{port:04X}", _LISTENING) in ((fields[1].rpartition(":")[2], fields[3]) for fields in sockets)

    def door(self) -> socket.socket:
        """Return a new TCP socket of the network: what it connects to and where it listens is inside. Raises NoNetwork.

        It does not block.
        """
        try:
            self._asking.send(b"?")
            _, descriptors, _, _ = socket.recv_fds(self._asking, 1, 1)
        except OSError as error:
            raise NoNetwork(f"the network of process {self.holder} is gone ({error})") from error
        if not descriptors:
            raise NoNetwork(f"the network of process {self.holder} is gone")
        made = socket.socket(fileno=descriptors[0])
        made.setblocking(False)
        return made

    def listening(self, port: int) -> socket.socket:
        """Return a socket that listens inside on a port of every address. Raises NoNetwork, or OSError if it is taken.

        The address that somebody dialled is the name of the connection that comes of it.
        """
        made = self.door()
        try:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            made.bind(("", port))
            made.listen(_BACKLOG)
        except OSError:
            made.close()
            raise
        return made


@contextmanager
def alone() -> Iterator[Network]:
    """Make a network and hold it; raise NoNetwork where that is not permitted."""
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with here:
        try:
            holder = subprocess.Popen(
                [*ALONE, sys.executable, "-I", __file__],
                stdin=there.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
            )
        except OSError as error:
            raise NoNetwork(str(error)) from error
        finally:
            there.close()
        with holder:
            assert holder.stderr is not None
            try:
                if here.recv(len(_UP)) != _UP:
                    raise NoNetwork(holder.stderr.read().decode(errors="replace").strip().rpartition("\n")[2])
                yield Network(holder.pid, here)
            finally:
                here.close()  # which ends the holder


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
    with socket.socket(fileno=sys.stdin.fileno()) as asked:
        asked.send(_UP)
        while asked.recv(1):
            with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as made:
                socket.send_fds(asked, [b"!"], [made.fileno()])


if __name__ == "__main__":
    _hold()
