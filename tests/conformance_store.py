"""A Mooncake master, a member that gives it memory, and clients set up from rendered Pods.

The transfer engine of the member and of every client listens on all addresses whatever it is told, so all of them run
in one network of their own, where there is nothing but loopback and every port is theirs.
"""

import json
import random
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import conformance_client
import pytest
from modeldeployment.api import keys
from modeldeployment.lab.controlplane import processes
from modeldeployment.lab.networks import Network, alone
from modeldeployment.lab.packaged import Program
from modeldeployment.render import RoleRendering, Seat, Store, render
from render_worlds import deployment, facts, joined, role

MASTER: Final = "127.0.0.1"
TENANT: Final = "team-a-shared"
NOT_REGISTERED: Final = -1701
"""What a master that keeps a ledger answers to a tenant it does not know."""
_RPC: Final = 20_001
_METRICS: Final = 20_002
_MEMBER: Final = 20_003
_READY_SECONDS: Final = 30.0
_CLIENT_SECONDS: Final = 60.0
_SEGMENT: Final = "64 MB"
_GRANT: Final = 32 * 2**20


@dataclass(frozen=True)
class Client:
    """What one client did: the configuration its engine's reader made, and what the store answered."""

    read: dict[str, Any]
    results: list[Any]


@dataclass(frozen=True)
class StoreWorld:
    """A running store and how to reach it."""

    address: str
    mooncake: Program
    folder: Path
    network: Network

    def pod(self, engine: str, *, tenant: str = TENANT) -> dict[str, Any]:
        """Render a Server of an engine attached to this store."""
        store = Store(self.address, ("tcp",), tenant, "bfloat16", 16)
        declared = deployment(role(), engine=engine, spec=joined(cache=True))
        rendering: RoleRendering = render(declared, facts(store=store)).roles[0]
        return rendering.template.pod(Seat(0, 0))

    def use(self, engine: Program, pod: dict[str, Any], asked: Sequence[tuple[str, str | None]]) -> Client:
        """Run a client with what the Pod says, at an address of its own, and close it."""
        local = f"127.0.1.{random.randrange(2, 250)}"
        (main,) = pod["spec"]["containers"]
        given = {each["name"]: each.get("value", local) for each in main["env"]}
        document = pod["metadata"]["annotations"].get(keys.CLIENT_CONFIG)
        if document is not None:
            mounted = self.folder / f"client-{random.randrange(2**32)}.json"
            mounted.write_text(document)
            given["MOONCAKE_CONFIG_PATH"] = str(mounted)
        client = (str(self.mooncake.python), conformance_client.__file__, engine.name, str(engine.packages))
        done = subprocess.run(
            self.network.inside(*client),
            input=json.dumps(list(asked)),
            env={"PATH": "/usr/bin:/bin", "HOME": str(self.folder), "LOCAL": local, **given},
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=_CLIENT_SECONDS,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        answered = json.loads(done.stdout.splitlines()[-1])
        return Client(answered["read"], answered["results"])


@contextmanager
def running(mooncake: Program, folder: Path, *, ledger: bool) -> Iterator[StoreWorld]:
    """Run a master and one member; with a ledger the master knows one tenant."""
    quota: tuple[str, ...] = ()
    if ledger:
        policy = folder / "tenants.yaml"
        policy.write_text(f"version: 1\ntenants:\n- name: {TENANT}\n  quota: {_GRANT}\n")
        quota = ("--enable_multi_tenants=true", f"--tenant_quota_connector_uri={policy}")
    address = f"{MASTER}:{_RPC}"
    master = (f"--rpc_address={MASTER}", f"--rpc_port={_RPC}", f"--metrics_host={MASTER}", f"--metrics_port={_METRICS}")
    gives = (
        f"--host={MASTER}",
        f"--port={_MEMBER}",
        f"--global_segment_size={_SEGMENT}",
        "--protocol=tcp",
        "--metadata_server=P2PHANDSHAKE",
        f"--master_server_address={address}",
    )
    started: list[subprocess.Popen[bytes]] = []
    with alone() as network:
        try:
            for name, arguments, port in (
                ("mooncake_master", master + quota, _METRICS),
                ("mooncake_client", gives, _MEMBER),
            ):
                command, log = network.inside(str(mooncake.executable(name)), *arguments), folder / f"{name}.log"
                started.append(processes.start(command, {"HOME": str(folder)}, folder, log))
                _await(started[-1], network, port, log)
            yield StoreWorld(address, mooncake, folder, network)
        finally:
            processes.stop(started, 5.0)


def _await(process: subprocess.Popen[bytes], network: Network, port: int, log: Path) -> None:
    deadline = time.monotonic() + _READY_SECONDS
    while not network.listens(port):
        if process.poll() is not None or time.monotonic() > deadline:
            pytest.fail(f"{log.stem} did not come up: {log.read_text(errors='replace')[-2000:]}")
        time.sleep(0.05)
