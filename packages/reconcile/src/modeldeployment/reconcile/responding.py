"""Carries out what set admission decided, against the API server: entries of checks, and whether a Workload is active.

Every write names the version that it was decided on. A Workload that moved on in between is left as it is, and the
pass is taken again.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Final, TypeVar

from modeldeployment.api import kueue
from modeldeployment.kube import Client, Conflict, Grant, KubeError, NotFound, PatchType
from modeldeployment.kube.kinds import WORKLOADS
from modeldeployment.reconcile.abreast import abreast
from modeldeployment.reconcile.sets.seen import Entry, Workload
from modeldeployment.reconcile.sets.verdicts import Activate, Answer, Move, Shelve

GRANTS: Final = (
    Grant(WORKLOADS, ("patch",), "answer the check that holds a set together", "status"),
    Grant(WORKLOADS, ("patch",), "take Workloads of a set out of the queue, and let them queue again"),
)

_METADATA: Final = WORKLOADS.partial()
_STAMP: Final = "%Y-%m-%dT%H:%M:%SZ"
_ZERO: Final = "0001-01-01T00:00:00Z"

Item = TypeVar("Item")
Wrote = Callable[[str, str], None]
"""Told the UID and the new version of each Workload that was written."""
Done = Callable[[Move], None]
"""Told each move that was carried out to its end."""


async def carry_out(client: Client, namespace: str, moves: Iterable[Move], wrote: Wrote, done: Done) -> bool:
    """Carry moves out side by side; says whether any of them came too late and must be decided again.

    Why a Workload is taken out of the queue is written for all of them before the first is. What fails stops
    nothing else; the first KubeError is raised when everything was tried.
    """
    late = False
    flips: list[tuple[Shelve | Activate, str]] = []

    async def say(move: Answer | Shelve) -> None:
        nonlocal late
        version = move.workload.version
        if not (isinstance(move, Shelve) and move.said):
            try:
                version = await _say(client, namespace, move.workload, move.entries)
            except NotFound:
                return
            except Conflict:
                late = True
                return
            wrote(move.workload.uid, version)
        if isinstance(move, Shelve):
            flips.append((move, version))
        else:
            done(move)

    async def flip(what: tuple[Shelve | Activate, str]) -> None:
        nonlocal late
        move, version = what
        body = {"metadata": {"resourceVersion": version}, "spec": {"active": isinstance(move, Activate)}}
        try:
            flipped = await client.patch(_METADATA, move.workload.name, body, namespace)
        except NotFound:
            return
        except Conflict:
            late = True
            return
        wrote(move.workload.uid, flipped.metadata.resource_version)
        done(move)

    said: list[Answer | Shelve] = []
    for move in moves:
        if isinstance(move, Activate):
            flips.append((move, move.workload.version))
        else:
            said.append(move)
    failures = await _all(said, say)
    failures += await _all(flips, flip)
    if failures:
        raise failures[0]
    return late


async def _say(client: Client, namespace: str, workload: Workload, entries: tuple[Entry, ...]) -> str:
    body = {
        "apiVersion": WORKLOADS.api_version,
        "kind": WORKLOADS.kind,
        "metadata": {"name": workload.name, "namespace": namespace, "resourceVersion": workload.version},
        "status": {"admissionChecks": [_entry(each) for each in entries]},
    }
    said = await client.patch(
        _METADATA,
        workload.name,
        body,
        namespace,
        how=PatchType.APPLY,
        subresource="status",
        force=True,
        manager=kueue.JOINT_CONTROLLER,
    )
    return said.metadata.resource_version


def _entry(entry: Entry) -> dict[str, str]:
    return {
        "name": entry.name,
        "state": entry.state,
        "message": entry.message,
        # One that was right but for its time is written with the others, and no time reads as nothing elapsed.
        "lastTransitionTime": entry.since.strftime(_STAMP) if entry.since is not None else _ZERO,
    }


async def _all(items: Sequence[Item], work: Callable[[Item], Awaitable[None]]) -> list[KubeError]:
    """Try every item; what failed of them."""
    failures: list[KubeError] = []

    async def tried(item: Item) -> None:
        try:
            await work(item)
        except KubeError as failure:
            failures.append(failure)

    await abreast(items, tried)
    return failures
