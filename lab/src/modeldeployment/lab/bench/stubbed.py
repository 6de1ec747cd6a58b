"""The operator on a stub of an API server: where it runs, and how deployments come to rest there."""

import asyncio
import contextlib
import gc
import json
import ssl
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from modeldeployment.api import keys
from modeldeployment.lab.bench import manifests, stubbing
from modeldeployment.lab.bench.errors import TooSlow
from modeldeployment.lab.bench.pretending import INSTANCE_TYPE, PODS, Pretence
from modeldeployment.lab.bench.stubbing import Stub
from modeldeployment.lab.bench.worlds import DEPLOYMENTS, NAMESPACE
from modeldeployment.lab.controlplane import certificates

_QUIET: Final = 3_000_000
_SETTLE_SECONDS: Final = 300.0
_DEPLOYED: Final = f"/apis/{keys.API_VERSION}/{DEPLOYMENTS.plural}"


@dataclass(frozen=True, slots=True)
class Ground:
    """Where the operator runs."""

    folder: Path
    operator_kubeconfig: Path


@contextlib.asynccontextmanager
async def ground(stub: Stub) -> AsyncIterator[Ground]:
    """Serve a stub with certificates of its own while open."""
    with tempfile.TemporaryDirectory(prefix="md-stub-", ignore_cleanup_errors=True) as temporary:
        folder = Path(temporary)
        authority = certificates.Authority(certificates.now())
        authority.pair.write(folder / "ca.crt", folder / "ca.key")
        authority.server("stub", ("127.0.0.1",)).write(folder / "tls.crt", folder / "tls.key")
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(folder / "tls.crt", folder / "tls.key")
        async with stubbing.serving(stub, tls) as url:
            kubeconfig = folder / "kubeconfig"
            document = {
                "current-context": "stub",
                "clusters": [
                    {"name": "stub", "cluster": {"server": url, "certificate-authority": str(folder / "ca.crt")}}
                ],
                "users": [{"name": "stub", "user": {"token": "any"}}],
                "contexts": [{"name": "stub", "context": {"cluster": "stub", "user": "stub"}}],
            }
            kubeconfig.write_text(json.dumps(document))
            yield Ground(folder, kubeconfig)


async def settle(pretence: Pretence, names: Sequence[str], roles: Sequence[str], replicas: int) -> None:
    """Make deployments of these roles and wait until their Pods are there and nothing is written. Raises TooSlow."""
    for number, name in enumerate(names):
        body = manifests.deployment(name, NAMESPACE, INSTANCE_TYPE, replicas=replicas, roles=roles)
        body["metadata"]["uid"] = f"5f7c1f2e-0000-4000-8000-{number:012d}"
        pretence.stub.put(_DEPLOYED, body)
        await asyncio.sleep(0)
    wanted = len(names) * len(roles) * replicas
    try:
        async with asyncio.timeout(_SETTLE_SECONDS):
            while len(pretence.stub.objects(PODS)) < wanted:  # noqa: ASYNC110 (a look now and then is cheaper)
                await asyncio.sleep(0.1)
    except TimeoutError as error:
        made = len(pretence.stub.objects(PODS))
        raise TooSlow(f"{made} of {wanted} Pods were made on the stub within {_SETTLE_SECONDS:.0f} s") from error
    await until_quiet(pretence.stub)


async def until_quiet(stub: Stub) -> None:
    """Wait until nothing has been written for a while. Raises TooSlow."""
    try:
        async with asyncio.timeout(_SETTLE_SECONDS):
            while stubbing.now() - stub.written_at < _QUIET:  # noqa: ASYNC110 (silence has no event)
                await asyncio.sleep(0.1)
    except TimeoutError as error:
        raise TooSlow(f"the operator still writes after {_SETTLE_SECONDS:.0f} s: {stub.requests}") from error


@contextlib.contextmanager
def no_garbage() -> Iterator[None]:
    """Look for no garbage in this process, whose seconds of that would be the age of everything sent meanwhile."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
