"""A Mooncake master, a member that gives it memory, and clients set up from rendered Pods; all on loopback."""

import json
import random
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import conformance_client
import pytest
from modeldeployment.api import keys
from modeldeployment.lab.controlplane import ports, processes
from modeldeployment.lab.packaged import Program
from modeldeployment.render import RoleRendering, Seat, Store, render
from render_worlds import deployment, facts, joined, role

MASTER: Final = "127.0.0.1"
TENANT: Final = "team-a-shared"
NOT_REGISTERED: Final = -1701
"""What a master that keeps a ledger answers to a tenant it does not know."""
_PORTS: Final = range(20_000, 32_000)
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
        done = subprocess.run(
            [self.mooncake.python, conformance_client.__file__, engine.name, str(engine.packages)],
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
    rpc, metrics, member = _free(3)
    quota: tuple[str, ...] = ()
    if ledger:
        policy = folder / "tenants.yaml"
        policy.write_text(f"version: 1\ntenants:\n- name: {TENANT}\n  quota: {_GRANT}\n")
        quota = ("--enable_multi_tenants=true", f"--tenant_quota_connector_uri={policy}")
    address = f"{MASTER}:{rpc}"
    master = (f"--rpc_address={MASTER}", f"--rpc_port={rpc}", f"--metrics_host={MASTER}", f"--metrics_port={metrics}")
    gives = (
        f"--host={MASTER}",
        f"--port={member}",
        f"--global_segment_size={_SEGMENT}",
        "--protocol=tcp",
        "--metadata_server=P2PHANDSHAKE",
        f"--master_server_address={address}",
    )
    started: list[subprocess.Popen[bytes]] = []
    try:
        for program, arguments, port in (
            ("mooncake_master", master + quota, metrics),
            ("mooncake_client", gives, member),
        ):
            command = [str(mooncake.executable(program)), *arguments]
            started.append(_started(command, {"HOME": str(folder)}, folder, folder / f"{program}.log", port))
        yield StoreWorld(address, mooncake, folder)
    finally:
        processes.stop(started, 5.0)


def _free(count: int) -> list[int]:
    candidates = random.sample(_PORTS, 1_000)
    return [port for port in candidates if ports.is_free(port)][:count]


def _started(
    command: list[str], environment: Mapping[str, str], folder: Path, log: Path, port: int
) -> subprocess.Popen[bytes]:
    process = processes.start(command, environment, folder, log)
    deadline = time.monotonic() + _READY_SECONDS
    while ports.is_free(port):
        if process.poll() is not None or time.monotonic() > deadline:
            processes.stop([process], 5.0)
            pytest.fail(f"{command[0]} did not come up: {log.read_text(errors='replace')[-2000:]}")
        time.sleep(0.05)
    return process
