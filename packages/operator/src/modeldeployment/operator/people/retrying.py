"""Asking for an aborted retirement once more: what speaks against it, and what became of it.

Source: facts reconcile §7 (Retry), facts shutdown §2 (Abort).
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

import msgspec

from modeldeployment.api import RetirementState, keys
from modeldeployment.kube import NotFound
from modeldeployment.kube.kinds import PODS
from modeldeployment.operator.errors import UsageError
from modeldeployment.reconcile import DEPLOYMENTS, Key
from modeldeployment.reconcile.explaining import leaving
from modeldeployment.reconcile.retiring.retrying import Refused

if TYPE_CHECKING:
    from modeldeployment.kube import Client
    from modeldeployment.reconcile.explaining.chains import Explained
    from modeldeployment.reconcile.explaining.picture import Picture
    from modeldeployment.reconcile.retiring.reservation import Reservation

_SEAT: Final = re.compile(r"([^/\s]+)/(0|[1-9][0-9]{0,8})", re.ASCII)
_TOKEN: Final = re.compile(r"[^:\s\x00-\x1f\x7f]{1,63}")
_BREATH: Final = 0.5
"""Seconds between two looks while it is waited for."""


class Outcome(StrEnum):
    """What became of a request to retry."""

    ASKED = "Asked"
    COMPLETED = "Completed"
    ABORTED = "Aborted"
    KEPT = "Kept"
    LOST = "Lost"
    LATE = "Late"


@dataclass(frozen=True, slots=True)
class Request:
    """One request to retry the retirement of a replica that was aborted."""

    role: str
    ordinal: int
    token: str

    @property
    def name(self) -> str:
        """The replica, as people write it."""
        return f"{self.role}/{self.ordinal}"

    @property
    def annotation(self) -> str:
        """What is written on the deployment."""
        return f"{self.role}:{self.ordinal}:{self.token}"


@dataclass(frozen=True, slots=True)
class Ended:
    """How a request ended, and what status says of it."""

    request: Request
    outcome: Outcome
    reason: str = ""

    @property
    def good(self) -> bool:
        """Whether what was asked for has happened, as far as it was waited for."""
        return self.outcome in (Outcome.ASKED, Outcome.COMPLETED)

    def line(self) -> str:
        """One sentence of it."""
        name, because = self.request.name, f": {self.reason}" if self.reason else ""
        match self.outcome:
            case Outcome.ASKED:
                return f"{name}: retry asked for with token {self.request.token}"
            case Outcome.COMPLETED:
                return f"{name} has left"
            case Outcome.ABORTED:
                return f"{name} was aborted again{because}"
            case Outcome.KEPT:
                return f"{name} stays: its retirement was taken back, as the spec declares it"
            case Outcome.LOST:
                return f"{name} was not retried: annotation {keys.RETIREMENT_RETRY} went before it was heeded"
            case _:
                return f"{name} has not left in the time that was given{because}"

    def table(self) -> dict[str, Any]:
        """The same for programs."""
        return {
            "replica": self.request.name,
            "token": self.request.token,
            "outcome": self.outcome.value,
            "reason": self.reason,
        }


def seat(text: str) -> tuple[str, int]:
    """Read `role/ordinal`; raises UsageError."""
    read = _SEAT.fullmatch(text)
    if read is None:
        raise UsageError(f"{text!r} names no replica; write ROLE/ORDINAL, for example server/3")
    return read[1], int(read[2])


def request(replica: str, token: str | None, fresh: Callable[[], str]) -> Request:
    """Read what is asked for; raises UsageError for what names no replica, and for a token that cannot be one."""
    role, ordinal = seat(replica)
    if token is not None and not _TOKEN.fullmatch(token):
        raise UsageError(
            f"--token {token[:80]!r} cannot be used: a token has 1 to 63 characters, none of them a colon or a space; "
            "leave it out for a fresh one"
        )
    return Request(role, ordinal, fresh() if token is None else token)


def refusal(picture: Picture, explained: Explained, asked: Request) -> str:
    """Say why a request would not be heeded, and the way out; empty where it would be."""
    snapshot, mine = picture.snapshot, explained.leaving.operation
    name = snapshot.deployment.metadata.name
    if snapshot.deployment.metadata.deletion_timestamp is not None:
        return f"{name} is being deleted, and all of its Pods with it: there is nothing to retry"
    if picture.blind or not explained.roles:
        return f"{name} cannot be rendered here, so nobody can tell what its spec wants gone; see kubectl md why {name}"
    role, _, number = asked.name.partition("/")
    declared = {each.name: each.declared for each in explained.roles}
    if role not in declared:
        return f"{name} has no role {role!r}; it has {', '.join(declared)}"
    why = leaving.refused(snapshot, explained.roles, asked.annotation)
    if mine is not None and mine.token == asked.token and (mine.role, mine.ordinal) == (asked.role, asked.ordinal):
        return f"token {asked.token!r} was used for {asked.name} already; leave --token out for a fresh one"
    match why:
        case None:
            return ""
        case Refused.NOT_ABORTED:
            assert mine is not None
            until = explained.leaving.until
            ends = f" until {leaving.instant(until)} at the latest" if until is not None else ""
            return (
                f"the retirement of {asked.name} is not aborted: it is {mine.state.value}{ends} and goes on by itself"
            )
        case Refused.NOT_WANTED:
            return (
                f"{name} declares {declared[role]} replicas of role {role}, {asked.name} among them, so it stays; to "
                f"let it leave, set replicas of role {role} to {number}"
            )
        case Refused.GONE:
            return f"no Pod of {asked.name} is left to retire: it was terminated from outside"
        case _:
            return f"no retirement of {asked.name} was aborted: {_instead(mine)}"


def outcome(
    before: Reservation, token: str, now: Reservation | None, standing: Collection[str], *, annotated: bool
) -> Outcome | None:
    """Answer what became of the retry of an operation; None while it is under way.

    `now` is what status holds, `annotated` whether the request is still on the deployment, `standing` are the UIDs of
    Pods that are there and not leaving.
    """
    if now is not None and (now.role, now.ordinal) == (before.role, before.ordinal) and before.members <= now.members:
        if now.token != token:
            return None if annotated else Outcome.LOST
        return Outcome.ABORTED if now.state is RetirementState.ABORTED else None
    return Outcome.KEPT if before.members & frozenset(standing) else Outcome.COMPLETED


async def ask(client: Client, key: Key, uid: str | None, asked: Request) -> None:
    """Write the annotation on the deployment that was looked at, and on no other of its name; raises KubeError."""
    body = {"metadata": {"uid": uid, "annotations": {keys.RETIREMENT_RETRY: asked.annotation}}}
    await client.patch(DEPLOYMENTS, key.name, body, key.namespace)


async def wait(
    client: Client, key: Key, before: Reservation, asked: Request, seconds: float, told: Callable[[str], None]
) -> Ended:
    """Wait until the retry ended, at most so many seconds; `told` is called for every state it comes to."""
    said, reason = "", ""
    try:
        async with asyncio.timeout(seconds):
            while True:
                now, annotated = await _stored(client, key, asked)
                gone = now is None or not before.members <= now.members
                standing = await _standing(client, key) if gone else ()
                reached = outcome(before, asked.token, now, standing, annotated=annotated)
                reason = now.reason if now is not None else ""
                if reached is not None:
                    return Ended(asked, reached, reason if reached is Outcome.ABORTED else "")
                state = now.state.value if now is not None and now.token == asked.token else "not heeded yet"
                if state != said:
                    said = state
                    told(f"{asked.name}: {state}")
                await asyncio.sleep(_BREATH)
    except TimeoutError:
        return Ended(asked, Outcome.LATE, f"{said}; {reason}" if reason else said)


async def _stored(client: Client, key: Key, asked: Request) -> tuple[Reservation | None, bool]:
    try:
        found = await client.get(DEPLOYMENTS, key.name, key.namespace)
    except NotFound as gone:
        raise UsageError(f"ModelDeployment {key} was deleted meanwhile") from gone
    status: dict[str, object] = msgspec.json.decode(found.status or b"{}") or {}
    annotated = found.metadata.annotations.get(keys.RETIREMENT_RETRY) == asked.annotation
    return leaving.operation(status), annotated


async def _standing(client: Client, key: Key) -> tuple[str, ...]:
    listed = await client.list_metadata(PODS, key.namespace, labels=f"{keys.INSTANCE}={key.name}")
    return tuple(each.metadata.uid for each in listed.items if each.metadata.deletion_timestamp is None)


def _instead(mine: Reservation | None) -> str:
    if mine is None:
        return "no retirement is under way or retained"
    name = f"{mine.role}/{mine.ordinal}"
    if mine.state is RetirementState.ABORTED:
        return f"the one that was is of {name}"
    return f"the one under way is of {name}, which is {mine.state.value}"
