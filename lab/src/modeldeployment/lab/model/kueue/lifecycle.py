"""Kueue's Workload controller: checks asked for and answered, switches obeyed (facts kueue §5, §6)."""

from collections.abc import Iterator

from modeldeployment.api.kueue import CheckState, EvictionReason, StopPolicy, WorkloadCondition
from modeldeployment.lab.model import conditions
from modeldeployment.lab.model.clock import seconds_of
from modeldeployment.lab.model.kueue import words, workloads
from modeldeployment.lab.model.kueue.queues import checks_of, queue_of
from modeldeployment.lab.model.kueue.workloads import Change
from modeldeployment.lab.model.moves import Move, Pace
from modeldeployment.lab.model.resources import JSON
from modeldeployment.lab.model.server import Server

ACTS = 0.03


class Lifecycle:
    """What follows from a Workload by itself."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._pace = Pace(server.clock)

    def moves(self) -> Iterator[Move]:
        """At most one move for each Workload."""
        self._pace.round()
        for workload in self._server.items("workloads"):
            meta = workload["metadata"]
            if "deletionTimestamp" in meta or conditions.true(workload, WorkloadCondition.FINISHED):
                continue
            yield from self._next(workload)

    def _next(self, workload: JSON) -> Iterator[Move]:
        status = workload.get("status") or {}
        queue = queue_of(self._server, workload)
        entries = status.get("admissionChecks") or []
        states = {each["state"] for each in entries}
        now = self._server.clock.stamp
        if queue is not None and not workloads.admitted(workload):
            flavors = [flavor for each in workloads.assignments(workload) for flavor in each["flavors"].values()]
            asked = checks_of(queue, flavors)
            if {each["name"] for each in entries} != set(asked):
                yield self._write(workload, "asks checks", lambda: workloads.ask(asked, now()))
                return
        if CheckState.REJECTED in states and workloads.active(workload):
            yield self._move(workload, "deactivates", lambda: self._deactivate(workload))
        elif not workloads.reserved(workload) or workloads.evicted(workload):
            return
        elif not workloads.active(workload):
            reason = EvictionReason.DEACTIVATED.value
            if CheckState.REJECTED in states:
                reason += "DueToAdmissionCheck"
            yield self._evict(workload, reason, "The workload is deactivated")
        elif queue is not None and _stopped(queue, admitted=workloads.admitted(workload)):
            yield self._evict(workload, EvictionReason.CLUSTER_QUEUE_STOPPED, "The ClusterQueue is stopped")
        elif CheckState.RETRY in states:
            yield self._evict(
                workload, EvictionReason.ADMISSION_CHECK, "At least one admission check says Retry", _retry_at(entries)
            )
        elif not workloads.admitted(workload) and states <= {CheckState.READY}:
            yield self._write(workload, "admits", lambda: workloads.admit(now()))

    def _evict(self, workload: JSON, reason: str, message: str, at: float = 0.0) -> Move:
        move = self._write(
            workload, f"evicts ({reason})", lambda: workloads.evict(reason, message, self._server.clock.stamp())
        )
        return Move(max(move.at, at), move.who, move.what, move.run)

    def _deactivate(self, workload: JSON) -> None:
        meta = workload["metadata"]
        patch = {"metadata": {"uid": meta["uid"]}, "spec": {"active": False}}
        self._server.merge("workloads", meta["name"], meta["namespace"], patch, by=words.KUEUE)

    def _write(self, workload: JSON, what: str, change: object) -> Move:
        def run() -> None:
            made: Change = change()  # type: ignore[operator]
            workloads.write(self._server, workload, made)

        return self._move(workload, what, run)

    def _move(self, workload: JSON, what: str, run: object) -> Move:
        meta = workload["metadata"]
        at = self._pace.at((meta["uid"], what), ACTS)
        return Move(at, words.KUEUE, f"{what} {meta['name']}", run)  # type: ignore[arg-type]


def _stopped(queue: JSON, *, admitted: bool) -> bool:
    """Whether a queue's policy takes quota back: both holds from mere reservations, one of them from all."""
    policy = queue["spec"].get("stopPolicy", StopPolicy.NONE)
    return policy == StopPolicy.HOLD_AND_DRAIN or (policy == StopPolicy.HOLD and not admitted)


def _retry_at(entries: list[JSON]) -> float:
    """When a Retry takes effect: a delayed one keeps its reservation until then (facts control-plane §8)."""
    return max(
        (
            seconds_of(each["lastTransitionTime"]) + each["requeueAfterSeconds"]
            for each in entries
            if each["state"] == CheckState.RETRY and each.get("requeueAfterSeconds")
        ),
        default=0.0,
    )
