"""A network of its own keeps what listens in it to itself, and leaves nothing behind."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from modeldeployment.lab.controlplane import processes
from modeldeployment.lab.networks import Network, alone, lonely

PORT = 20_001
LISTEN = f"import socket, time; s = socket.create_server(('127.0.0.1', {PORT})); time.sleep(600)"
MEET = f"import socket; socket.create_connection(('127.0.0.1', {PORT})).close()"
HOLD = """
import subprocess, sys
from modeldeployment.lab.networks import alone
with alone() as network:
    inside = subprocess.Popen(network.inside("sleep", "600"))
    print(network.holder, inside.pid, flush=True)
    inside.wait()
"""


@pytest.fixture(autouse=True)
def permitted() -> None:
    if why := lonely():
        pytest.skip(why)


def _until(reached: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30.0
    while not reached():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@contextmanager
def _listener(network: Network) -> Iterator[None]:
    listening = subprocess.Popen(network.inside(sys.executable, "-c", LISTEN))
    try:
        _until(lambda: network.listens(PORT))
        yield
    finally:
        processes.stop([listening], 5.0)


def test_two_networks_each_have_the_same_port_and_this_machine_has_neither() -> None:
    with alone() as one, alone() as other:
        assert not one.listens(PORT)
        with _listener(one), _listener(other):
            for each in (one, other):
                subprocess.run(each.inside(sys.executable, "-c", MEET), check=True)
        assert not one.listens(PORT)
        links = {Path(f"/proc/{pid}/ns/net").readlink() for pid in ("self", one.holder, other.holder)}
    assert len(links) == 3


def test_a_killed_maker_leaves_neither_the_holder_nor_what_runs_inside() -> None:
    with subprocess.Popen([sys.executable, "-c", HOLD], stdout=subprocess.PIPE, text=True) as maker:
        assert maker.stdout is not None
        left = [int(pid) for pid in maker.stdout.readline().split()]
        assert len(left) == 2
        _until(lambda: processes.command_line(left[1])[:1] == ("sleep",))
        maker.kill()
    _until(lambda: not any(processes.command_line(pid) for pid in left))
