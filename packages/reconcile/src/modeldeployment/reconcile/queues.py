"""Kueue's queues and checks as the administrator made them: where a LocalQueue leads, and what a ClusterQueue asks.

They are read and never written, but for the one check that is ours (decisions D26).
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from modeldeployment.api import kueue
from modeldeployment.kube import Client, Kind, Reflector, Store, shapes
from modeldeployment.kube.kinds import ADMISSION_CHECKS, CLUSTER_QUEUES, COHORTS, LOCAL_QUEUES
from modeldeployment.reconcile.deciding.seen import Queue

WATCHED: Final[tuple[Kind[Any], ...]] = (LOCAL_QUEUES, CLUSTER_QUEUES, COHORTS, ADMISSION_CHECKS)


class Queues:
    """All queues, cohorts and checks there are; `changed` is called when one leads or asks other than before."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._told = [changed]
        self.local_queues: Store[shapes.LocalQueue] = Store(on_change=(self._local_queue,))
        self.cluster_queues: Store[shapes.ClusterQueue] = Store(on_change=(self._cluster_queue,))
        self.cohorts: Store[shapes.Cohort] = Store(on_change=(self._spec,))
        self.checks: Store[shapes.AdmissionCheck] = Store(on_change=(self._spec,))

    def on_change(self, changed: Callable[[], None]) -> None:
        """Call this function too when one leads or asks other than before."""
        self._told.append(changed)

    def reflectors(self, client: Client) -> tuple[Reflector[Any], ...]:
        """The loops that keep the stores current."""
        return (
            Reflector(client, ADMISSION_CHECKS, self.checks),
            Reflector(client, COHORTS, self.cohorts),
            Reflector(client, CLUSTER_QUEUES, self.cluster_queues),
            Reflector(client, LOCAL_QUEUES, self.local_queues),
        )

    def stores(self) -> Mapping[str, "Store[Any]"]:
        """Every store by the plural of its kind."""
        return MappingProxyType(
            {
                ADMISSION_CHECKS.plural: self.checks,
                COHORTS.plural: self.cohorts,
                CLUSTER_QUEUES.plural: self.cluster_queues,
                LOCAL_QUEUES.plural: self.local_queues,
            }
        )

    def ours(self) -> frozenset[str]:
        """Names of the checks that we answer: whoever made them, they name our controller."""
        return frozenset(
            each.metadata.name for each in self.checks.items() if each.spec.controller_name == kueue.JOINT_CONTROLLER
        )

    def queue(self, namespace: str, local_queue: str) -> Queue:
        """Where a LocalQueue leads."""
        entrance = self.local_queues.get(namespace, local_queue)
        if entrance is None:
            return Queue("", checked=False)
        leads_to = entrance.spec.cluster_queue
        return Queue(leads_to, self._checked(leads_to), missing=self.cluster_queues.get("", leads_to) is None)

    def pool(self, cluster_queue: str) -> str:
        """What the quota of a ClusterQueue is shared in: the root of its cohorts, or the queue itself."""
        queue = self.cluster_queues.get("", cluster_queue)
        above = queue.spec.cohort_name if queue is not None else ""
        if not above:
            return f"{kueue.CLUSTER_QUEUE}/{cluster_queue}"
        seen: set[str] = set()
        while above not in seen and (cohort := self.cohorts.get("", above)) is not None and cohort.spec.parent_name:
            seen.add(above)
            above = cohort.spec.parent_name
        return f"{kueue.COHORT}/{above}"

    def _changed(self) -> None:
        for tell in self._told:
            tell()

    def _checked(self, cluster_queue: str) -> bool:
        queue = self.cluster_queues.get("", cluster_queue)
        asked = queue.spec.admission_checks_strategy.admission_checks if queue is not None else ()
        ours = self.ours()
        return any(each.name in ours for each in asked)

    def _local_queue(self, old: shapes.LocalQueue | None, new: shapes.LocalQueue | None) -> None:
        if old is None or new is None or old.spec != new.spec:
            self._changed()

    def _cluster_queue(self, old: shapes.ClusterQueue | None, new: shapes.ClusterQueue | None) -> None:
        # Its usage moves with every Workload; what leads and what asks does not.
        if old is None or new is None or _standing(old) != _standing(new):
            self._changed()

    def _spec(
        self, old: shapes.Cohort | shapes.AdmissionCheck | None, new: shapes.Cohort | shapes.AdmissionCheck | None
    ) -> None:
        if old is None or new is None or old.spec != new.spec:
            self._changed()


def _standing(queue: shapes.ClusterQueue) -> tuple[object, ...]:
    return queue.spec.cohort_name, queue.spec.admission_checks_strategy
