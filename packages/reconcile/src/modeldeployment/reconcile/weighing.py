"""What routers and engines have said, weighed into evidence: pure.

Nothing counts that is not about every router process and every member that answers. Source: facts shutdown §2,
routers-measured §7, decisions D6 to D10.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from modeldeployment.reconcile.inflight import Busy, Idle, Reading, Unknown
from modeldeployment.reconcile.retiring.evidence import Evidence, Leg
from modeldeployment.router import withdrawal
from modeldeployment.router.withdrawal import Verdict

STILL: Final = timedelta(seconds=2)
"""How long an engine must read idle, unbroken, beside routers that send it nothing."""


@dataclass(frozen=True, slots=True)
class Engine:
    """What one member said last: its Pod, the reading, and from when to when every reading was idle."""

    name: str
    reading: Reading
    since: datetime | None = None
    last: datetime | None = None

    def then(self, reading: Reading, began: datetime, ended: datetime) -> "Engine":
        """Take in a further reading and the times between which it was made; another than idle breaks the idleness."""
        if not isinstance(reading, Idle):
            return Engine(self.name, reading)
        return Engine(self.name, reading, self.since or ended, began)

    @property
    def still(self) -> bool:
        """Whether it has been read idle at both ends of the time that idleness has to stand, and between."""
        return self.since is not None and self.last is not None and self.last - self.since >= STILL


@dataclass(frozen=True, slots=True)
class Asked:
    """What the processes of a router have said.

    `steps` are those of each process, in order; `hopeless` are sentences on processes that can prove nothing. `closed`
    says that the processes were listed once more after all of this, and were the same. `missing` says why they could
    not be listed.
    """

    steps: Sequence[withdrawal.Step] = ()
    hopeless: Sequence[str] = ()
    closed: bool = False
    missing: str = ""


def let_go(asked: Asked) -> Leg:
    """Weigh whether every router process has let go of the members, or has taken them back."""
    if asked.hopeless:
        return Leg(Verdict.IMPOSSIBLE, asked.hopeless[0])
    if asked.missing:
        return Leg(Verdict.WAITING, asked.missing)
    for verdict in (Verdict.IMPOSSIBLE, Verdict.WAITING):
        waits = [each for each in asked.steps if each.verdict is verdict]
        if waits:
            times = [each.until for each in waits]
            until = max((each for each in times if each is not None), default=None)
            return Leg(verdict, waits[0].reason, None if None in times else until)
    if not asked.closed:
        return Leg(Verdict.WAITING, "looking once more whether these are all of the router's Pods")
    return Leg(Verdict.PROVEN, asked.steps[0].reason if asked.steps else "no router Pod runs")


def empty(engines: Collection[Engine], asked: Asked) -> Leg:
    """Weigh whether nothing is under way at the members any more."""
    for each in engines:
        match each.reading:
            case Unknown(reason=reason):
                return Leg(Verdict.WAITING, f"Pod {each.name} does not tell its requests: {reason}")
            case Busy(requests=count):
                return Leg(Verdict.WAITING, f"Pod {each.name} has {count} request{'s' if count > 1 else ''}")
            case _:
                pass
    loud = next((each for each in asked.steps if each.quiet is False), None)
    if loud is not None:
        return Leg(Verdict.WAITING, f"{loud.reason}, and what it has sent is still under way")
    since = idle_since(engines)
    if since is None:
        return Leg(Verdict.WAITING, "no engine has been read yet")
    if not all(each.still for each in engines):
        reason = f"idle, which has to stand for {STILL.total_seconds():.0f} s"
        return Leg(Verdict.WAITING, reason, since + STILL)
    return Leg(Verdict.PROVEN, "every member that answers is idle")


def idle_since(engines: Collection[Engine]) -> datetime | None:
    """Answer since when all members have been idle; None where one is not, or none was read."""
    since = [each.since for each in engines]
    return None if None in since else max((each for each in since if each is not None), default=None)


def in_flight(engines: Collection[Engine]) -> int | None:
    """Add up the requests of all members; None where one does not tell."""
    if any(isinstance(each.reading, Unknown) for each in engines):
        return None
    return sum(each.reading.requests for each in engines if isinstance(each.reading, Busy))


def unlisted(listed: Mapping[str, str], since: datetime | None, settle: timedelta, now: datetime) -> Leg:
    """Weigh whether no Service sends the members anything; `listed` names a slice for each one that is still in it.

    `since` is when none was listed any more, and the settle is for connections that were made before (decisions D7).
    """
    for name, where in sorted(listed.items()):
        return Leg(Verdict.WAITING, f"EndpointSlice {where} still lists Pod {name}")
    if since is None:
        return Leg(Verdict.WAITING, "no EndpointSlice has been read yet")
    if now < since + settle:
        reason = f"no EndpointSlice lists it; what was sent before arrives within {settle.total_seconds():.0f} s"
        return Leg(Verdict.WAITING, reason, since + settle)
    return Leg(Verdict.PROVEN, "no EndpointSlice lists it")


def material(before: Evidence | None, after: Evidence) -> bool:
    """Whether a pass may decide otherwise for what has changed."""
    return before is None or _gist(before) != _gist(after)


def _gist(evidence: Evidence) -> tuple[object, ...]:
    restored = evidence.restored.verdict if evidence.restored is not None else None
    legs = (evidence.withdrawal, evidence.idle)
    return (
        evidence.members,
        restored,
        tuple(each.verdict for each in legs),
        tuple(each.reason for each in legs if each.verdict is Verdict.IMPOSSIBLE),
    )
