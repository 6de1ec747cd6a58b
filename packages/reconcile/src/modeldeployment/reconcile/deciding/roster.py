"""Members and Workloads of a pass, found by UID: what is asked of a few of a thousand is not looked for among all."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property

from modeldeployment.reconcile.deciding.seen import Member, Workload


@dataclass(frozen=True)
class Roster:
    """All members and Workloads of a deployment in the order in which they were read; no two share a UID."""

    members: tuple[Member, ...]
    workloads: tuple[Workload, ...] = ()

    def among(self, uids: Collection[str]) -> tuple[Member, ...]:
        """Those with these UIDs, in the order of all."""
        places = self._places
        return tuple(self.members[place] for place in sorted(places[uid] for uid in uids if uid in places))

    def stays(self, uids: Collection[str]) -> bool:
        """Whether any of these UIDs is that of a member without a deletion timestamp."""
        return any(not each.leaving for each in self.among(uids))

    def workload(self, uid: str) -> Workload | None:
        """The Workload with this UID."""
        return self._workloads.get(uid)

    @cached_property
    def leaving(self) -> frozenset[str]:
        """The UIDs of those with a deletion timestamp."""
        return frozenset(each.uid for each in self.members if each.leaving)

    @cached_property
    def left(self) -> tuple[Workload, ...]:
        """The Workloads that own a member with a deletion timestamp."""
        leaving = self.leaving
        return tuple(each for each in self.workloads if not leaving.isdisjoint(each.owners)) if leaving else ()

    @cached_property
    def noted(self) -> tuple[Member, ...]:
        """Those that are on their way out, were evicted or restarted: of others no event tells."""
        return tuple(each for each in self.members if each.leaving or each.evicted or each.restarts)

    @cached_property
    def _places(self) -> Mapping[str, int]:
        return {each.uid: place for place, each in enumerate(self.members)}

    @cached_property
    def _workloads(self) -> Mapping[str, Workload]:
        return {each.uid: each for each in self.workloads}
