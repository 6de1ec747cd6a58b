"""Groups of plain Pods: composed, started, repaired, stopped (facts kueue §4)."""

from collections.abc import Iterator, Sequence
from functools import partial

from modeldeployment.api import keys, kueue
from modeldeployment.api.kueue import WorkloadCondition
from modeldeployment.lab.model import conditions
from modeldeployment.lab.model.clock import seconds_of
from modeldeployment.lab.model.kueue import words, workloads
from modeldeployment.lab.model.kueue.topology import hosts
from modeldeployment.lab.model.moves import Move, Pace
from modeldeployment.lab.model.resources import JSON
from modeldeployment.lab.model.server import Server

COMPOSES = 0.05
ACTS = 0.05
UNGATES_TOPOLOGY = 1.0
"""Seconds by which the second gate comes off later, where nodes were assigned (facts control-plane §8)."""


class Groups:
    """Kueue's Pod controller."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._pace = Pace(server.clock)
        self._leaving: dict[str, frozenset[str]] = {}

    def moves(self) -> Iterator[Move]:
        """What it does next about each group."""
        self._pace.round()
        groups: dict[tuple[str, str], list[JSON]] = {}
        for pod in self._server.items("pods"):
            labels = pod["metadata"].get("labels") or {}
            if labels.get(kueue.MANAGED) == keys.TRUE and (name := labels.get(keys.GROUP_NAME)):
                groups.setdefault((pod["metadata"]["namespace"], name), []).append(pod)
        for workload in self._server.items("workloads"):
            meta = workload["metadata"]
            members = groups.pop((meta["namespace"], meta["name"]), [])
            if "deletionTimestamp" in meta:
                yield from self._dissolve(workload, members)
            elif members:
                yield from self._keep(workload, members)
            elif words.IN_USE in (meta.get("finalizers") or ()):
                yield self._move(
                    ("finalize", meta["uid"]), f"finalizes {meta['name']}", partial(self._let_go, workload)
                )
        for (_, name), members in groups.items():
            yield from self._compose(name, members)

    # --- no Workload ---

    def _compose(self, name: str, members: Sequence[JSON]) -> Iterator[Move]:
        live = [pod for pod in members if is_active(pod)]
        for pod in members:
            if not is_active(pod) and _held(pod):
                yield self._released(pod)
        unowned = [pod for pod in live if not _gated(pod) and "deletionTimestamp" not in pod["metadata"]]
        if unowned:
            for pod in unowned:
                yield self._stopped(pod, "NoMatchingWorkload")
            return
        total = _total(members)
        if len(live) > total:
            yield self._excess(live)
        elif len(live) == total and not any(self._runs(pod) for pod in members):
            yield self._move(
                ("compose", live[0]["metadata"]["uid"]), f"composes {name}", lambda: self._made(live), COMPOSES
            )

    def _made(self, live: Sequence[JSON]) -> None:
        self._server.create("workloads", workloads.composed(live, len(live), self._priority(live[0])), by=words.KUEUE)

    def _priority(self, pod: JSON) -> int:
        name = (pod["metadata"].get("labels") or {}).get(words.PRIORITY_CLASS)
        found = self._server.find("workloadpriorityclasses", name) if name else None
        return int(found["value"]) if found is not None else int(pod["spec"].get("priority") or 0)

    # --- a Workload that stands ---

    def _keep(self, workload: JSON, members: Sequence[JSON]) -> Iterator[Move]:
        pod_set = workload["spec"]["podSets"][0]
        count, uid = pod_set["count"], workload["metadata"]["uid"]
        live = [pod for pod in members if is_active(pod)]
        dead = [pod for pod in members if not is_active(pod)]
        if any(_role(pod) != pod_set["name"] for pod in live):
            yield self._move(
                ("unfit", uid), f"drops unfit {workload['metadata']['name']}", lambda: self._drop(workload)
            )
            return
        if len(live) > count:
            yield self._excess(live)
            return
        owners = {each["uid"] for each in workload["metadata"].get("ownerReferences") or ()}
        if strangers := [pod for pod in live if pod["metadata"]["uid"] not in owners]:
            yield self._move(
                ("adopt", uid), f"adopts into {workload['metadata']['name']}", lambda: self._adopt(workload, strangers)
            )
        held = sorted((pod for pod in dead if _held(pod)), key=_died)
        for pod in held[: max(0, len(dead) + len(live) - count)]:
            yield self._released(pod)
        waits = conditions.true(workload, WorkloadCondition.WAITING_FOR_REPLACEMENT_PODS)
        if (len(live) < count) is not waits:
            yield self._move(
                ("waits", uid, waits),
                f"misses in {workload['metadata']['name']}",
                lambda: self._missing(workload, not waits),
            )
        yield from self._run(workload, members, live)

    def _run(self, workload: JSON, members: Sequence[JSON], live: Sequence[JSON]) -> Iterator[Move]:
        staying = [pod for pod in live if "deletionTimestamp" not in pod["metadata"]]
        started = [pod for pod in staying if not _gated(pod)]
        if workloads.evicted(workload) and workloads.reserved(workload):
            reason = conditions.of(workload, WorkloadCondition.EVICTED)["reason"]
            for pod in started:
                yield self._stopped(pod, f"WorkloadEvictedDueTo{reason}")
            if not started and not any(self._runs(pod) for pod in members):
                uid = workload["metadata"]["uid"]
                yield self._move(
                    ("release", uid),
                    f"releases quota of {workload['metadata']['name']}",
                    lambda: workloads.write(self._server, workload, workloads.release(self._server.clock.stamp())),
                )
        elif workloads.admitted(workload):
            for pod in staying:
                yield from self._started(workload, pod)
        else:
            for pod in started:
                yield self._stopped(pod, "NotAdmitted")

    def _started(self, workload: JSON, pod: JSON) -> Iterator[Move]:
        gates, uid = _gates(pod), pod["metadata"]["uid"]
        name = pod["metadata"]["name"]
        if kueue.ADMISSION_GATE in gates:
            yield self._move(("start", uid), f"starts {name}", lambda: self._ungate(workload, pod))
        elif kueue.TOPOLOGY_GATE in gates:
            yield self._move(("place", uid), f"places {name}", lambda: self._place(workload, pod), UNGATES_TOPOLOGY)

    def _ungate(self, workload: JSON, pod: JSON) -> None:
        assigned = workloads.assignments(workload)[0]
        flavor = next(iter(assigned["flavors"].values()), "")
        found = self._server.find("resourceflavors", flavor)
        selector = dict(found["spec"].get("nodeLabels") or {}) if found is not None else {}
        gone = {kueue.ADMISSION_GATE} if hosts(assigned) else {kueue.ADMISSION_GATE, kueue.TOPOLOGY_GATE}
        labels = {
            words.POD_SET: assigned["name"],
            words.LOCAL_QUEUE: workload["spec"]["queueName"],
            words.CLUSTER_QUEUE: workload["status"]["admission"]["clusterQueue"],
        }
        notes = {words.WORKLOAD: workload["metadata"]["name"]}
        self._patch(pod, gone, selector, {"labels": labels, "annotations": notes})

    def _place(self, workload: JSON, pod: JSON) -> None:
        """Pin a member to a node that was assigned and that no other member took."""
        wanted = list(hosts(workloads.assignments(workload)[0]))
        group = pod["metadata"]["labels"][keys.GROUP_NAME]
        for other in self._server.items("pods", pod["metadata"]["namespace"]):
            if (other["metadata"].get("labels") or {}).get(keys.GROUP_NAME) == group and is_active(other):
                taken = (other["spec"].get("nodeSelector") or {}).get(keys.HOSTNAME)
                if taken in wanted:
                    wanted.remove(taken)
        selector = {keys.HOSTNAME: wanted[0]} if wanted else {}
        self._patch(pod, {kueue.TOPOLOGY_GATE}, selector, {})

    def _patch(self, pod: JSON, gone: set[str], selector: JSON, metadata: JSON) -> None:
        gates = [each for each in pod["spec"].get("schedulingGates") or () if each["name"] not in gone]
        meta = pod["metadata"]
        patch = {
            "metadata": {"uid": meta["uid"], **metadata},
            "spec": {"schedulingGates": gates or None, "nodeSelector": selector},
        }
        self._server.merge("pods", meta["name"], meta["namespace"], patch, by=words.KUEUE)

    def _adopt(self, workload: JSON, strangers: Sequence[JSON]) -> None:
        meta = workload["metadata"]
        owners = [*(meta.get("ownerReferences") or ()), *(workloads.owner(pod) for pod in strangers)]
        patch = {"metadata": {"uid": meta["uid"], "ownerReferences": owners}}
        self._server.merge("workloads", meta["name"], meta["namespace"], patch, by=words.KUEUE)

    def _missing(self, workload: JSON, missing: bool) -> None:
        now = self._server.clock.stamp()
        kind = WorkloadCondition.WAITING_FOR_REPLACEMENT_PODS
        message = "some pods have failed and wait to be replaced" if missing else "all pods are there"
        reason = "PodsFailed" if missing else "PodsReplaced"
        workloads.write(self._server, workload, workloads.condition(kind, missing, reason, message, now))

    # --- a Workload that goes ---

    def _dissolve(self, workload: JSON, members: Sequence[JSON]) -> Iterator[Move]:
        """Stop and let go of the members that were there when it was seen to go; a newcomer is not touched by that."""
        meta = workload["metadata"]
        uids = self._leaving.setdefault(meta["uid"], frozenset(pod["metadata"]["uid"] for pod in members))
        ours = [pod for pod in members if pod["metadata"]["uid"] in uids]
        for pod in ours:
            if "deletionTimestamp" not in pod["metadata"]:
                yield self._stopped(pod, "WorkloadDeleted")
            elif _held(pod):
                yield self._released(pod)
        left = any(_held(pod) or "deletionTimestamp" not in pod["metadata"] for pod in ours)
        if not left and words.IN_USE in (meta.get("finalizers") or ()):
            yield self._move(("finalize", meta["uid"]), f"finalizes {meta['name']}", partial(self._let_go, workload))

    def _let_go(self, workload: JSON) -> None:
        meta = workload["metadata"]
        left = [each for each in meta.get("finalizers") or () if each != words.IN_USE]
        patch = {"metadata": {"uid": meta["uid"], "finalizers": left}}
        self._server.merge("workloads", meta["name"], meta["namespace"], patch, by=words.KUEUE)

    def _drop(self, workload: JSON) -> None:
        meta = workload["metadata"]
        self._server.delete("workloads", meta["name"], meta["namespace"], by=words.KUEUE, uid=meta["uid"])

    # --- members ---

    def _excess(self, live: Sequence[JSON]) -> Move:
        """Take one away: first without finalizer, then gated, then the newest."""
        victim = max(
            live, key=lambda pod: (not _held(pod), _gated(pod), int(pod["metadata"]["uid"].rpartition("-")[2]))
        )
        uid = victim["metadata"]["uid"]
        return self._move(("excess", uid), f"takes excess {victim['metadata']['name']}", lambda: self._cut(victim))

    def _cut(self, pod: JSON) -> None:
        self._unhold(pod)
        meta = pod["metadata"]
        self._server.delete("pods", meta["name"], meta["namespace"], by=words.KUEUE, uid=meta["uid"])

    def _stopped(self, pod: JSON, reason: str) -> Move:
        return self._move(
            ("stop", pod["metadata"]["uid"]), f"stops {pod['metadata']['name']}", lambda: self._stop(pod, reason)
        )

    def _stop(self, pod: JSON, reason: str) -> None:
        meta = pod["metadata"]
        now = self._server.clock.stamp()
        status = conditions.put(pod["status"], words.TERMINATION_TARGET, True, reason, "", now)
        self._server.update(
            "pods",
            meta["name"],
            meta["namespace"],
            lambda held: {**held, "status": status},
            by=words.KUEUE,
            subresource="status",
        )
        self._server.delete("pods", meta["name"], meta["namespace"], by=words.KUEUE, uid=meta["uid"])

    def _released(self, pod: JSON) -> Move:
        return self._move(
            ("free", pod["metadata"]["uid"]), f"frees {pod['metadata']['name']}", lambda: self._unhold(pod)
        )

    def _unhold(self, pod: JSON) -> None:
        meta = pod["metadata"]
        left = [each for each in meta.get("finalizers") or () if each != kueue.MANAGED]
        patch = {"metadata": {"uid": meta["uid"], "finalizers": left}}
        self._server.merge("pods", meta["name"], meta["namespace"], patch, by=words.KUEUE)

    def _runs(self, pod: JSON) -> bool:
        """Whether a member is running and inside its grace period, which an eviction waits out."""
        if pod["status"]["phase"] != "Running":
            return False
        until = pod["metadata"].get("deletionTimestamp")
        return until is None or seconds_of(until) > self._server.clock.seconds

    def _move(self, what: object, said: str, run: object, delay: float = ACTS) -> Move:
        return Move(self._pace.at(what, delay), words.KUEUE, said, run)  # type: ignore[arg-type]


def is_active(pod: JSON) -> bool:
    """Whether a member counts: it has not failed, and was not deleted before it had a node."""
    gone = "deletionTimestamp" in pod["metadata"] and not pod["spec"].get("nodeName")
    return pod["status"]["phase"] != "Failed" and not gone


def _held(pod: JSON) -> bool:
    return kueue.MANAGED in (pod["metadata"].get("finalizers") or ())


def _gates(pod: JSON) -> set[str]:
    return {each["name"] for each in pod["spec"].get("schedulingGates") or ()}


def _gated(pod: JSON) -> bool:
    return kueue.ADMISSION_GATE in _gates(pod)


def _role(pod: JSON) -> str:
    return str((pod["metadata"].get("annotations") or {}).get(keys.ROLE_HASH, "main")).lower()


def _total(members: Sequence[JSON]) -> int:
    return int(members[0]["metadata"]["annotations"][keys.GROUP_TOTAL])


def _died(pod: JSON) -> str:
    return str(pod["metadata"].get("deletionTimestamp", ""))
