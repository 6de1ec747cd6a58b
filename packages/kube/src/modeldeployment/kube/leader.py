"""Makes sure that of several equal processes one works, by a Lease.

The kubernetes package has an elector too. It is not used: it needs the generated client with a second connection pool
and credential, it never releases a Lease (so a clean restart waits out the whole lease time), its renewal has no time
limit (a hanging request outlives the deadline it is meant to keep), and it writes local time as if it were UTC.
"""

import asyncio
import contextlib
import logging
import time
import zlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from modeldeployment.kube import errors, requests
from modeldeployment.kube.client import Client
from modeldeployment.kube.grants import Grant
from modeldeployment.kube.kinds import LEASES
from modeldeployment.kube.shapes import Lease, LeaseSpec, ObjectMeta

_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Timing:
    """How long a Lease is worth and how it is kept, in seconds.

    A holder renews every `renew`, gives up `deadline` after the last success, and others take over `lease` after the
    last renewal they saw; `lease` must exceed `deadline`, and the difference is what clocks of different speed and a
    stop of the work may take.
    """

    lease: float = 15.0
    deadline: float = 10.0
    renew: float = 2.0


def grants(name: str) -> tuple[Grant, ...]:
    """What an Elector for the Lease of that name asks of the API server."""
    return (
        Grant(LEASES, ("create",), "take the Lease for the first time", own_namespace=True),
        Grant(LEASES, ("get", "watch", "patch"), "hold the Lease or wait for it", own_namespace=True, names=(name,)),
    )


def free_at(spec: LeaseSpec, identity: str, seen_at: float, timing: Timing) -> float:
    """Tell from when on a Lease may be taken; minus infinity when nobody, or we ourselves, hold it.

    It counts by our own clock alone (seconds): `seen_at` is when this version of the Lease was first seen.
    """
    if spec.holder_identity in ("", identity):
        return float("-inf")
    return seen_at + max(float(spec.lease_duration_seconds), timing.lease)


@dataclass(frozen=True, slots=True)
class Finished:
    """The work came to its own end; the Lease was released."""


@dataclass(frozen=True, slots=True)
class Lost:
    """The Lease could not be kept, and the work was cancelled; the process should end."""

    reason: str


Outcome: TypeAlias = Finished | Lost

_ABSENT: Final = Lease(metadata=ObjectMeta())


class Elector:
    """Waits for a Lease, does the work while it holds it, and hands it over.

    `identity` must be unique for each process. `leading` is a fence: it turns False by the clock alone, no later than
    `deadline` after the last renewal that is known to have succeeded, also when nothing else gets to run.
    """

    def __init__(
        self, client: Client, name: str, namespace: str, identity: str, *, timing: Timing | None = None
    ) -> None:
        self._client = client
        self._name = name
        self._namespace = namespace
        self._identity = identity
        self._timing = timing or Timing()
        self._valid_until = float("-inf")

    @property
    def leading(self) -> bool:
        """Whether we hold the Lease at this moment."""
        return asyncio.get_running_loop().time() < self._valid_until

    async def run(
        self, work: Callable[[], Awaitable[None]], on_lost: Callable[[str], None] = lambda _: None
    ) -> Outcome:
        """Wait for the Lease, do the work, and say how it ended.

        When the Lease is lost, `on_lost` is called with the reason, then the work is cancelled and awaited. When this
        call is cancelled, the work is cancelled and awaited and the Lease released, so that the next holder need not
        wait.
        """
        held = await self._acquire()
        _log.info("leading", extra=self._said(f"as {self._identity}"))
        working = asyncio.ensure_future(work())
        keeping = asyncio.create_task(self._keep(held), name=f"lease/{self._name}")
        try:
            await asyncio.wait({working, keeping}, return_when=asyncio.FIRST_COMPLETED)
            if not working.done():
                reason = keeping.result()
                _log.error("lease lost", extra=self._said(reason))
                on_lost(reason)
                return Lost(reason)
            working.result()
            return Finished()
        finally:
            await _stopped(working)
            await _stopped(keeping)
            if self.leading:
                await self._release()

    def _said(self, reason: str) -> dict[str, str]:
        return {"object": f"leases/{self._namespace}/{self._name}", "reason": (reason or "unsaid").splitlines()[0]}

    # --- holding ---

    async def _keep(self, held: Lease) -> str:
        """Renew until that fails for too long; the answer is the reason."""
        loop = asyncio.get_running_loop()
        trouble = ""
        while True:
            await asyncio.sleep(min(self._timing.renew, max(0.0, self._valid_until - loop.time())))
            if not self.leading:
                return trouble or "the event loop was held up for longer than the deadline"
            try:
                async with asyncio.timeout_at(self._try_until()):
                    held = await self._write(held, LeaseSpec(holder_identity=self._identity))
            except errors.Conflict:
                try:
                    async with asyncio.timeout_at(self._try_until()):
                        held = await self._client.get(LEASES, self._name, self._namespace)
                except (errors.KubeError, TimeoutError) as error:
                    trouble = str(error) or "no answer in time"
                    continue
                if held.spec.holder_identity != self._identity:
                    self._valid_until = float("-inf")
                    return f"held by {held.spec.holder_identity or 'nobody'}"
            except (errors.KubeError, TimeoutError) as error:
                trouble = str(error) or "no answer in time"

    def _try_until(self) -> float:
        # One hanging connection must leave time for another try.
        return min(self._valid_until, asyncio.get_running_loop().time() + self._timing.deadline / 3)

    async def _write(self, seen: Lease, wanted: LeaseSpec) -> Lease:
        """Write holder and times over the version seen; on success we lead from the moment before the write."""
        now = requests.micro_time(time.time())
        before = asyncio.get_running_loop().time()
        ours = seen.spec.holder_identity == wanted.holder_identity
        spec: dict[str, Any] = {
            "holderIdentity": wanted.holder_identity,
            "leaseDurationSeconds": max(1, round(self._timing.lease)) if wanted.holder_identity else 1,
            "acquireTime": (seen.spec.acquire_time if ours else "") or now,
            "renewTime": now,
            "leaseTransitions": seen.spec.lease_transitions + (0 if ours or not wanted.holder_identity else 1),
        }
        metadata = {"name": self._name, "namespace": self._namespace}
        body: dict[str, Any] = {
            "apiVersion": LEASES.api_version,
            "kind": LEASES.kind,
            "metadata": metadata,
            "spec": spec,
        }
        if seen.metadata.resource_version:
            # A merge keeps labels and annotations of others; the version makes it a comparison with what we saw.
            metadata["resourceVersion"] = seen.metadata.resource_version
            written = await self._client.patch(LEASES, self._name, body, self._namespace)
        else:
            written = await self._client.create(LEASES, body, self._namespace)
        self._valid_until = before + self._timing.deadline if wanted.holder_identity else float("-inf")
        return written

    async def _release(self) -> None:
        """Hand the Lease back; a renewal that was cut short may still be committed, so a Conflict is tried again."""
        with contextlib.suppress(errors.KubeError, TimeoutError):
            async with asyncio.timeout_at(self._valid_until):
                while self.leading:
                    seen = await self._client.get(LEASES, self._name, self._namespace)
                    if seen.spec.holder_identity != self._identity:
                        break
                    with contextlib.suppress(errors.Conflict):
                        await self._write(seen, LeaseSpec())
        self._valid_until = float("-inf")

    # --- waiting ---

    async def _acquire(self) -> Lease:
        loop = asyncio.get_running_loop()
        version, seen_at, attempt = "", loop.time(), 0
        while True:
            try:
                lease = await self._read()
                if lease.metadata.resource_version != version:
                    version, seen_at = lease.metadata.resource_version, loop.time()
                until = free_at(lease.spec, self._identity, seen_at, self._timing)
                if loop.time() >= until:
                    async with asyncio.timeout(self._timing.deadline):
                        return await self._write(lease, LeaseSpec(holder_identity=self._identity))
                await self._changed(version, until)
                attempt = 0
            except (errors.KubeError, TimeoutError) as error:
                # A Conflict or AlreadyExists is a race lost, an Uncertain perhaps one won: reading again tells.
                attempt += 1
                _log.info("lease not taken", extra=self._said(str(error)))
                await asyncio.sleep(
                    requests.backoff(attempt, zlib.crc32(self._identity.encode()), most=self._timing.renew)
                )

    async def _read(self) -> Lease:
        async with asyncio.timeout(self._timing.deadline):
            try:
                return await self._client.get(LEASES, self._name, self._namespace)
            except errors.NotFound:
                return _ABSENT

    async def _changed(self, version: str, until: float) -> None:
        """Wait until the Lease is overdue or has another version, whichever is first."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout_at(until):
                watch = self._client.watch(
                    LEASES, self._namespace, fields=f"metadata.name={self._name}", resource_version=version
                )
                async with contextlib.aclosing(watch) as events:
                    async for _ in events:
                        return
                await asyncio.sleep(self._timing.renew)  # a watch that says nothing must not be asked in a circle


async def _stopped(task: asyncio.Future[Any]) -> None:
    task.cancel()
    await asyncio.wait({task})
    if not task.cancelled() and (error := task.exception()) is not None:
        _log.warning("stopped with an error", extra={"reason": repr(error)})
