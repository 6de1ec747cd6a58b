"""The queue with a check and without, and when its Workloads reserved, were admitted, and their Pods' gates went."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from modeldeployment.api import kueue
from modeldeployment.kube import AlreadyExists, Client, Conflict, NotFound, PatchType, Reflector, Store, shapes
from modeldeployment.kube.kinds import ADMISSION_CHECKS, CLUSTER_QUEUES
from modeldeployment.kube.kinds import PODS as POD_KIND
from modeldeployment.kube.kinds import WORKLOADS as WORKLOAD_KIND
from modeldeployment.lab.bench.errors import TooSlow
from modeldeployment.lab.bench.worlds import NAMESPACE, World

LOOP_CHECK: Final = "bench-loop"
_CONTROLLER: Final = "lab.modeldeployment.io/loop"
_TRIES: Final = 10
_ACTIVE_SECONDS: Final = 60.0


@contextlib.asynccontextmanager
async def checked(world: World, check: str) -> AsyncIterator[None]:
    """Let the ClusterQueue ask a check, active already or soon, before it admits; none where it is empty.

    Raises TooSlow.
    """
    await _ask(world, [{"name": check}] if check else [])
    try:
        async with asyncio.timeout(_ACTIVE_SECONDS):
            while check and not await _active(world.client, check):  # noqa: ASYNC110 (the server is what is asked)
                await asyncio.sleep(0.1)
        yield
    except TimeoutError as error:
        raise TooSlow(f"check {check} is not active after {_ACTIVE_SECONDS:.0f} s") from error
    finally:
        await _ask(world, [])


async def _ask(world: World, checks: list[dict[str, str]]) -> None:
    body = {"spec": {"admissionChecksStrategy": {"admissionChecks": checks} if checks else None}}
    await world.client.patch(CLUSTER_QUEUES, world.provision.cluster_queue, body, how=PatchType.MERGE)


async def _active(client: Client, check: str) -> bool:
    try:
        seen = await client.get(ADMISSION_CHECKS, check)
    except NotFound:
        return False
    return any(each.type == kueue.QueueCondition.ACTIVE and each.status == "True" for each in seen.status.conditions)


class Followed:
    """First times (`time.perf_counter`) at which Workloads and Pods of the namespace were seen in a state, by UID."""

    def __init__(self) -> None:
        self.reserved: dict[str, float] = {}
        self.answered: dict[str, float] = {}
        self.admitted: dict[str, float] = {}
        self.lifted: dict[str, float] = {}
        self.changed: Final = asyncio.Event()

    async def until(self, ready: Callable[[], bool], seconds: float, what: str) -> None:
        """Wait until something that is looked at after every change. Raises TooSlow."""
        try:
            async with asyncio.timeout(seconds):
                while not ready():
                    self.changed.clear()
                    await self.changed.wait()
        except TimeoutError as error:
            seen = f"{len(self.reserved)} reserved, {len(self.admitted)} admitted, {len(self.lifted)} Pods lifted"
            raise TooSlow(f"{what} took longer than {seconds:.0f} s; {seen}") from error

    def workload(self, _old: shapes.Workload | None, new: shapes.Workload | None) -> None:
        """Take in a change of a Workload."""
        if new is None:
            return
        if is_true(new, kueue.WorkloadCondition.QUOTA_RESERVED):
            self.reserved.setdefault(new.metadata.uid, time.perf_counter())
        checks = new.status.admission_checks
        if checks and all(each.state == kueue.CheckState.READY for each in checks):
            self.answered.setdefault(new.metadata.uid, time.perf_counter())
        if is_true(new, kueue.WorkloadCondition.ADMITTED):
            self.admitted.setdefault(new.metadata.uid, time.perf_counter())
        self.changed.set()

    def pod(self, _old: shapes.Pod | None, new: shapes.Pod | None) -> None:
        """Take in a change of a Pod."""
        if new is not None and not new.spec.scheduling_gates:
            self.lifted.setdefault(new.metadata.uid, time.perf_counter())
        self.changed.set()


@contextlib.asynccontextmanager
async def following(
    world: World, *also: Callable[[shapes.Workload | None, shapes.Workload | None], None]
) -> AsyncIterator[Followed]:
    """Watch Workloads and Pods; `also` is told of every change of a Workload."""
    seen = Followed()
    workloads: Store[shapes.Workload] = Store(on_change=(seen.workload, *also))
    pods: Store[shapes.Pod] = Store(on_change=(seen.pod,))
    tasks = [
        asyncio.create_task(Reflector(world.client, WORKLOAD_KIND, workloads, NAMESPACE).run()),
        asyncio.create_task(Reflector(world.client, POD_KIND, pods, NAMESPACE).run()),
    ]
    try:
        await workloads.wait_synced()
        await pods.wait_synced()
        yield seen
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


class Loop:
    """The least that answers a check: every Pending entry of a reserved Workload becomes Ready, once."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._answered: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self.conflicts = 0

    def change(self, _old: shapes.Workload | None, new: shapes.Workload | None) -> None:
        """Answer a Workload that waits for it."""
        if new is None or new.metadata.uid in self._answered or not is_true(new, "QuotaReserved"):
            return
        if any(each.name == LOOP_CHECK and each.state == "Pending" for each in new.status.admission_checks):
            self._answered.add(new.metadata.uid)
            task = asyncio.create_task(self._answer(new))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _answer(self, workload: shapes.Workload) -> None:
        name = workload.metadata.name
        entry = {"name": LOOP_CHECK, "state": "Ready", "message": "", "lastTransitionTime": stamp()}
        for _ in range(_TRIES):
            body = {
                "apiVersion": kueue.API_VERSION,
                "kind": "Workload",
                "metadata": {
                    "name": name,
                    "namespace": NAMESPACE,
                    "resourceVersion": workload.metadata.resource_version,
                },
                "status": {"admissionChecks": [entry]},
            }
            try:
                await self._client.patch(
                    WORKLOAD_KIND, name, body, NAMESPACE, how=PatchType.APPLY, subresource="status", force=True
                )
            except Conflict:
                self.conflicts += 1
                workload = await self._client.get(WORKLOAD_KIND, name, NAMESPACE)
            else:
                return


async def install_loop_check(client: Client) -> None:
    """Make the loop's check and activate it."""
    body: Mapping[str, Any] = {
        "apiVersion": kueue.API_VERSION,
        "kind": "AdmissionCheck",
        "metadata": {"name": LOOP_CHECK},
        "spec": {"controllerName": _CONTROLLER},
    }
    with contextlib.suppress(AlreadyExists):
        await client.create(ADMISSION_CHECKS, body)
    condition = {"type": "Active", "status": "True", "reason": "Ready", "message": "", "lastTransitionTime": stamp()}
    status = {"status": {"conditions": [condition]}}
    await client.patch(ADMISSION_CHECKS, LOOP_CHECK, status, how=PatchType.MERGE, subresource="status")


def is_true(workload: shapes.Workload, condition: str) -> bool:
    """Whether a condition of a Workload is True."""
    return any(each.type == condition and each.status == "True" for each in workload.status.conditions)


def stamp() -> str:
    """Now, as the API server writes times."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
