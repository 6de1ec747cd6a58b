"""A decision that writes nothing and waits for a change alone: it lasts for as long as what it was made on.

Most changes of Pods that wake a settled deployment are restarts of containers, which are told in events and read by
nothing else.
"""

from dataclasses import dataclass, fields, replace
from operator import attrgetter
from typing import Final

from modeldeployment.reconcile.deciding import announcing
from modeldeployment.reconcile.deciding.seen import Answers, Member, Snapshot
from modeldeployment.reconcile.deciding.steps import Blocked, Decision, Done
from modeldeployment.render import Rendering

_beside_members: Final = attrgetter(*(each.name for each in fields(Snapshot) if each.name != "members"))
_beside_restarts: Final = attrgetter(*(each.name for each in fields(Member) if each.name != "restarts"))


@dataclass(frozen=True, slots=True)
class Lasting:
    """A decision, and what it was made on."""

    snapshot: Snapshot
    decision: Decision

    def on(self, seen: Snapshot) -> Decision | None:
        """Decide on what differs in restarts at most, as `decide` would; None where anything else does."""
        before = self.snapshot.members
        if len(seen.members) != len(before) or _beside_members(seen) != _beside_members(self.snapshot):
            return None
        for old, new in zip(before, seen.members, strict=True):
            if old is not new and _beside_restarts(old) != _beside_restarts(new):
                return None
        others = self.decision.events[len(announcing.departures(before)) :]
        return replace(self.decision, events=(*announcing.departures(seen.members), *others))


def lasting(seen: Snapshot, decision: Decision) -> Lasting | None:
    """Keep a decision that time does not change, of a deployment that stands and was read from the stores alone."""
    stands = isinstance(seen.rendering, Rendering) and seen.deployment.metadata.deletion_timestamp is None
    rests = isinstance(decision.next, Done) or (isinstance(decision.next, Blocked) and decision.next.until is None)
    if not stands or not rests or seen.answers != Answers():
        return None
    if decision.status is not None or decision.retirement is not None:
        return None
    return Lasting(seen, decision)
