"""Kueue's scheduler: who gets quota next, who must give it back for that, and what queues say of themselves.

Sources: facts kueue §5, §7, §8.
"""

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from modeldeployment.api import kueue
from modeldeployment.api.kueue import EvictionReason, StopPolicy, WorkloadCondition
from modeldeployment.lab.model import conditions, nodes
from modeldeployment.lab.model.clock import seconds_of
from modeldeployment.lab.model.kueue import charging, words, workloads
from modeldeployment.lab.model.kueue.charging import Ledger
from modeldeployment.lab.model.kueue.topology import assign
from modeldeployment.lab.model.moves import Move, Pace
from modeldeployment.lab.model.resources import JSON
from modeldeployment.lab.model.server import Server

RESERVES = 0.1
COUNTS = 0.2


@dataclass(frozen=True, slots=True)
class _Refusal:
    message: str
    shared: bool = False
    """Whether quota is what is missing, so that others could give way."""


def checks_of(queue: JSON, flavors: Sequence[str] = ()) -> list[str]:
    """The checks that a ClusterQueue asks; those of single flavors only where one of them was given."""
    rules = (queue["spec"].get("admissionChecksStrategy") or {}).get("admissionChecks") or ()
    return [each["name"] for each in rules if not each.get("onFlavors") or set(each["onFlavors"]) & set(flavors)]


def queue_of(server: Server, workload: JSON) -> JSON | None:
    """The ClusterQueue that a Workload is in, or would enter."""
    given = ((workload.get("status") or {}).get("admission") or {}).get("clusterQueue")
    if given:
        return server.find("clusterqueues", given)
    entrance = server.find("localqueues", workload["spec"]["queueName"], workload["metadata"]["namespace"])
    return server.find("clusterqueues", entrance["spec"]["clusterQueue"]) if entrance is not None else None


class Queues:
    """One decision at a time for each ClusterQueue; Workloads of the same second go as `seed` has it."""

    def __init__(self, server: Server, seed: int | None) -> None:
        self._server = server
        self._seed = seed
        self._pace = Pace(server.clock)

    def moves(self) -> Iterator[Move]:
        """Reservations, preemptions, refusals, and what queues say."""
        self._pace.round()
        waiting: dict[str, list[JSON]] = {}
        for workload in self._server.items("workloads"):
            queue = queue_of(self._server, workload) if workloads.queueable(workload) else None
            if queue is not None:
                waiting.setdefault(queue["metadata"]["name"], []).append(workload)
        everybody = charging.ledgers(self._server) if waiting else {}
        for name, heads in waiting.items():
            yield from self._cycle(self._server.get("clusterqueues", name), sorted(heads, key=self._order), everybody)
        for queue in self._server.items("clusterqueues"):
            yield from self._says(queue)

    def _order(self, workload: JSON) -> tuple[float, float, float]:
        """Priority, then age in whole seconds; a Workload whose check said Retry goes behind its peers."""
        since = workload["metadata"]["creationTimestamp"]
        gone = conditions.of(workload, WorkloadCondition.EVICTED)
        if gone.get("reason") == EvictionReason.ADMISSION_CHECK:
            since = gone["lastTransitionTime"]
        uid = workload["metadata"]["uid"]
        tie = zlib.crc32(f"{self._seed}/{uid}".encode()) if self._seed is not None else 0
        return -workload["spec"].get("priority", 0), seconds_of(since), tie

    def _cycle(self, queue: JSON, heads: Sequence[JSON], everybody: Mapping[str, Ledger]) -> Iterator[Move]:
        closed = _inactive(self._server, queue)
        for head in heads:
            fitted = _Refusal(closed) if closed else self._fit(queue, head, everybody)
            meta = head["metadata"]
            if not isinstance(fitted, _Refusal):
                yield self._reserve(queue, head, fitted)
                return
            if fitted.shared and (victims := self._victims(queue, head, everybody)):
                yield Move(
                    self._pace.at(("preempt", meta["uid"]), RESERVES),
                    words.KUEUE,
                    f"preempts for {meta['name']}",
                    partial(self._preempt, victims, head),
                )
                return
            reason = "Inadmissible" if closed else "Pending"
            said = conditions.of(head, WorkloadCondition.QUOTA_RESERVED)
            if (said.get("reason"), said.get("message")) != (reason, fitted.message):
                yield Move(
                    self._pace.at(("refuse", meta["uid"], fitted.message), RESERVES),
                    words.KUEUE,
                    f"refuses {meta['name']}",
                    partial(self._refuse, head, reason, fitted.message),
                )
            if queue["spec"].get("queueingStrategy") == "StrictFIFO":
                return

    def _reserve(self, queue: JSON, head: JSON, admission: JSON) -> Move:
        flavors = [flavor for each in admission["podSetAssignments"] for flavor in each["flavors"].values()]
        checks = checks_of(queue, flavors)

        def run() -> None:
            workloads.write(self._server, head, workloads.reserve(admission, checks, self._server.clock.stamp()))

        meta = head["metadata"]
        return Move(self._pace.at(("reserve", meta["uid"]), RESERVES), words.KUEUE, f"reserves for {meta['name']}", run)

    def _refuse(self, head: JSON, reason: str, message: str) -> None:
        now = self._server.clock.stamp()
        change = workloads.condition(WorkloadCondition.QUOTA_RESERVED, False, reason, message, now)
        workloads.write(self._server, head, change)

    # --- fitting ---

    def _fit(self, queue: JSON, head: JSON, everybody: Mapping[str, Ledger]) -> JSON | _Refusal:
        """The reservation that a Workload can have now: of each group of resources the first flavor that fits."""
        ledger = everybody[queue["metadata"]["name"]]
        cost = charging.cost(head)
        pod_set = head["spec"]["podSets"][0]
        flavors: dict[str, str] = {}
        assignment: JSON = {}
        for group in queue["spec"].get("resourceGroups") or ():
            asked = {name: cost[name] for name in group["coveredResources"] if cost.get(name)}
            if not asked:
                continue
            refusal = _Refusal("no flavor")
            for flavor in (each["name"] for each in group["flavors"]):
                found = self._server.find("resourceflavors", flavor)
                short = [name for name in asked if not charging.fits(ledger, everybody, (flavor, name), asked[name])]
                if short or found is None:
                    refusal = _Refusal(_short(pod_set["name"], short[:1], flavor), shared=True)
                    continue
                topology = assign(self._server, found, head)
                if topology is None:
                    refusal = _Refusal(_nowhere(pod_set, found))
                    continue
                flavors |= dict.fromkeys(asked, flavor)
                assignment |= topology
                break
            else:
                return refusal
        assigned: JSON = {
            "name": pod_set["name"],
            "flavors": flavors,
            "resourceUsage": {name: _amount(cost[name]) for name in flavors},
            "count": pod_set["count"],
        }
        if assignment:
            assigned["topologyAssignment"] = assignment
        return {"clusterQueue": queue["metadata"]["name"], "podSetAssignments": [assigned]}

    # --- preempting ---

    def _victims(self, queue: JSON, head: JSON, everybody: Mapping[str, Ledger]) -> list[tuple[JSON, str]]:
        """Those that must go for a Workload to fit, lowest priority first; none where that does not do.

        Among equals whoever got its quota last goes first. In the end each that is not needed after all is spared.
        """
        rules = queue["spec"].get("preemption") or {}
        if not rules or any(
            workloads.evicted(each) and workloads.reserved(each) for each in self._server.items("workloads")
        ):
            return []
        ours = everybody[queue["metadata"]["name"]]
        candidates = [
            (each, reason)
            for each in self._server.items("workloads")
            if workloads.reserved(each) and (reason := self._reason(rules, ours, head, each, everybody))
        ]
        candidates.sort(
            key=lambda each: (each[1] != "InCohortReclamation", each[0]["spec"].get("priority", 0), -_since(each[0]))
        )
        trial = charging.ledgers(self._server)

        def charge(victim: JSON, sign: int) -> bool:
            """Take a victim's quota away or give it back; whether the Workload then finds enough."""
            charging.charge(trial[victim["status"]["admission"]["clusterQueue"]], charging.usage(victim), sign)
            fitted = self._fit(queue, head, trial)
            return not (isinstance(fitted, _Refusal) and fitted.shared)

        enough = next((count for count, (victim, _) in enumerate(candidates, 1) if charge(victim, -1)), 0)
        chosen = candidates[:enough]
        for spared in chosen[-2::-1]:
            if charge(spared[0], 1):
                chosen.remove(spared)
            else:
                charge(spared[0], -1)
        return chosen

    def _reason(self, rules: JSON, ours: Ledger, head: JSON, other: JSON, everybody: Mapping[str, Ledger]) -> str:
        """Why a Workload may be preempted for another; empty where it may not."""
        theirs = everybody[other["status"]["admission"]["clusterQueue"]]
        mine, yours = head["spec"].get("priority", 0), other["spec"].get("priority", 0)
        if theirs is ours:
            rule = rules.get("withinClusterQueue", "Never")
            newer = mine == yours and _age(other) > _age(head)
            allowed = (rule != "Never" and yours < mine) or (rule == "LowerOrNewerEqualPriority" and newer)
            return "InClusterQueue" if allowed else ""
        if not ours.cohort or theirs.cohort != ours.cohort:
            return ""
        rule = rules.get("reclaimWithinCohort", "Never")
        borrows = any(used > theirs.nominal.get(cell, 0) for cell, used in theirs.used.items())
        allowed = borrows and (rule == "Any" or (rule == "LowerPriority" and yours < mine))
        return "InCohortReclamation" if allowed else ""

    def _preempt(self, victims: Sequence[tuple[JSON, str]], head: JSON) -> None:
        for victim, reason in victims:
            message = f"Preempted to accommodate a workload (UID: {head['metadata']['uid']})"
            now = self._server.clock.stamp()
            workloads.write(self._server, victim, workloads.evict(EvictionReason.PREEMPTED, message, now, reason))

    # --- telling ---

    def _says(self, queue: JSON) -> Iterator[Move]:
        status = _standing(self._server, queue)
        held = {key: value for key, value in (queue.get("status") or {}).items() if key != "conditions"}
        closed = _inactive(self._server, queue)
        said = conditions.of(queue, kueue.QueueCondition.ACTIVE)
        meta = queue["metadata"]
        if held != status or said.get("message", "") != (closed or "Can admit new workloads"):
            yield Move(
                self._pace.at(("says", meta["uid"], repr(status), closed), COUNTS),
                words.KUEUE,
                f"counts {meta['name']}",
                lambda: self._say(meta["name"], status, closed),
            )

    def _say(self, name: str, status: JSON, closed: str) -> None:
        now = self._server.clock.stamp()

        def change(held: JSON) -> JSON:
            old = {"conditions": (held.get("status") or {}).get("conditions") or []}
            new = conditions.put(
                old,
                kueue.QueueCondition.ACTIVE,
                not closed,
                "AdmissionCheckInactive" if closed else "Ready",
                closed or "Can admit new workloads",
                now,
            )
            return {**held, "status": {**status, **new}}

        self._server.update("clusterqueues", name, "", change, by=words.KUEUE, subresource="status")


def _standing(server: Server, queue: JSON) -> JSON:
    """What a ClusterQueue says of its usage and its Workloads."""
    name = queue["metadata"]["name"]
    inside = [
        each for each in server.items("workloads") if (found := queue_of(server, each)) is not None and found is queue
    ]
    holding = [each for each in inside if workloads.reserved(each)]

    def flavors(held: Sequence[JSON]) -> list[JSON]:
        ledger = Ledger(name, "")
        for each in held:
            charging.charge(ledger, charging.usage(each))
        return [
            {
                "name": flavor["name"],
                "resources": [_used(ledger, flavor["name"], resource) for resource in flavor["resources"]],
            }
            for group in queue["spec"].get("resourceGroups") or ()
            for flavor in group["flavors"]
        ]

    return {
        "flavorsReservation": flavors(holding),
        "flavorsUsage": flavors([each for each in holding if workloads.admitted(each)]),
        "pendingWorkloads": sum(not workloads.reserved(each) and workloads.active(each) for each in inside),
        "reservingWorkloads": len(holding),
        "admittedWorkloads": sum(map(workloads.admitted, holding)),
    }


def _used(ledger: Ledger, flavor: str, resource: JSON) -> JSON:
    total = ledger.used.get((flavor, resource["name"]), 0)
    borrowed = max(0, total - nodes.milli(resource.get("nominalQuota", 0)))
    return {"name": resource["name"], "total": _amount(total), "borrowed": _amount(borrowed)}


def _inactive(server: Server, queue: JSON) -> str:
    """Why a ClusterQueue admits nobody; empty where it does."""
    name = queue["metadata"]["name"]
    if queue["spec"].get("stopPolicy", StopPolicy.NONE) != StopPolicy.NONE:
        return f"ClusterQueue {name} is stopped"
    for check in ((queue["spec"].get("admissionChecksStrategy") or {}).get("admissionChecks")) or ():
        found = server.find("admissionchecks", check["name"])
        if found is None or not conditions.true(found, kueue.QueueCondition.ACTIVE):
            return f"ClusterQueue {name} is inactive: admission check {check['name']} is missing or inactive"
    return ""


def _short(pod_set: str, names: Sequence[str], flavor: str) -> str:
    missing = names[0] if names else "anything"
    return (
        f"couldn't assign flavors to pod set {pod_set}: insufficient unused quota for {missing} in flavor {flavor}, "
        "more needed"
    )


def _nowhere(pod_set: JSON, flavor: JSON) -> str:
    return (
        f"couldn't assign flavors to pod set {pod_set['name']}: topology \"{flavor['spec']['topologyName']}\" doesn't "
        f"allow to fit any of {pod_set['count']} pod(s)"
    )


def _amount(milli: int) -> str:
    return str(milli // 1000) if milli % 1000 == 0 else f"{milli}m"


def _since(workload: JSON) -> float:
    """Since when it holds its quota."""
    return seconds_of(conditions.of(workload, WorkloadCondition.QUOTA_RESERVED)["lastTransitionTime"])


def _age(workload: JSON) -> float:
    """When it was created; later is newer."""
    return seconds_of(workload["metadata"]["creationTimestamp"])
