# ruff: noqa: E501 (quoted source stands in one line)
"""Bugs of decisions: who leaves, who comes, what is kept."""

from typing import Final

from modeldeployment.lab.crashes.bugs.bug import Bug, bug

DECIDING: Final[tuple[Bug, ...]] = (
    bug(
        "create-before-finalizer",
        "replicas are created before the deployment carries the finalizer",
        "operators that leak objects when their owner is deleted during the first pass",
        (
            "deciding/passing.py",
            "        *_finalizer(snapshot),\n        *attaching.claim(snapshot),\n",
            "        *attaching.claim(snapshot),\n",
        ),
        (
            "deciding/passing.py",
            "        *routed.kept.steps,\n    ]\n",
            "        *routed.kept.steps,\n        *_finalizer(snapshot),\n    ]\n",
        ),
    ),
    bug(
        "create-beside-leaving",
        "a replica is created although the API server lists a Pod of its group",
        "StatefulSet identity before at-most-one semantics; Kueue deletes the newcomer as excess",
        ("deciding/passing.py", "                if templates[name].group(ordinal) not in taken\n", ""),
    ),
    bug(
        "gate-read-from-cache",
        "whether a slot is free is read from the store and not from the API server",
        "kubernetes/kubernetes: StatefulSet and Job duplicates from stale informers",
        (
            "deciding/passing.py",
            "taken = snapshot.answers.groups[name]",
            "taken = frozenset(each.group for each in snapshot.members)",
        ),
        (
            "expecting.py",
            "        if not wanted:\n            self._wanted.pop(key, None)\n        return not wanted\n",
            "        return True\n",
        ),
    ),
    bug(
        "leaving-is-gone",
        "a slot whose Pods are leaving counts as empty, and nobody asks the API server",
        "controllers that filter out terminating Pods and create successors beside them",
        ("deciding/passing.py", "                if templates[name].group(ordinal) not in taken\n", ""),
        (
            "deciding/slots.py",
            "    if not leaving:\n        return SlotState.EMPTY\n",
            "    if not leaving or all(each.leaving for each in leaving):\n        return SlotState.EMPTY\n",
        ),
    ),
    bug(
        "workload-with-others",
        "a Workload is deleted although it still owns another live Pod",
        "deleting a shared owner: Kueue then stops every member that is left",
        (
            "deciding/departing.py",
            "if workload is not None and not workload.leaving and not workload.owners & live:",
            "if workload is not None and not workload.leaving:",
        ),
        ("deciding/departing.py", " and not roster.stays(workload.owners)\n    ]", "\n    ]"),
    ),
    bug(
        "workload-first",
        "a departing replica's Workload is deleted before its Pods",
        "ordering of deletes: members are stopped by Kueue instead of drained",
        (
            "deciding/departing.py",
            "        steps += [DeletePod(member.name, member.uid) for member in departure.members]\n        live -=",
            "        live -=",
        ),
        (
            "deciding/departing.py",
            "            steps.append(DeleteWorkload(workload.name, workload.uid))\n",
            (
                "            steps.append(DeleteWorkload(workload.name, workload.uid))\n"
                "        steps += [DeletePod(member.name, member.uid) for member in departure.members]\n"
            ),
        ),
    ),
    bug(
        "stranded-for-ever",
        "the Workload of a replica whose Pods are leaving is not released",
        "Kueue serving groups: a deleted Pod stays for as long as its Workload stands",
        ("deciding/passing.py", "        *departing.stranded(roster),\n", ""),
    ),
    bug(
        "lowest-first",
        "a scale-down lets the lowest ordinal go first",
        "sorting victims ascending",
        ("deciding/turnover.py", "for slot in reversed(role.retirable):", "for slot in role.retirable:"),
    ),
    bug(
        "one-too-many",
        "the replica at the declared count stays",
        "off by one between ordinals and counts",
        (
            "deciding/slots.py",
            "for slot in self.occupied if slot.ordinal >= declared",
            "for slot in self.occupied if slot.ordinal > declared",
        ),
    ),
    bug(
        "only-the-leader-leaves",
        "of a wide replica that leaves only the leader is deleted",
        "LeaderWorkerSet before groups were deleted whole",
        (
            "deciding/turnover.py",
            "return Departure(cause, (*slot.live, *doubles), slot.workload)",
            "return Departure(cause, (*slot.live[:1], *doubles), slot.workload)",
        ),
    ),
    bug(
        "topped-up",
        "an incomplete replica is left as it is",
        "groups that wait for ever for a member that Kueue will not take in",
        (
            "deciding/turnover.py",
            "if slot.state in (SlotState.INCOMPLETE, SlotState.TERMINAL)",
            "if slot.state is SlotState.TERMINAL",
        ),
    ),
    bug(
        "ended-for-good",
        "a replica whose Pod has ended is left as it is",
        "ReplicaSets count Failed Pods out; controllers that forget to end up without replicas",
        (
            "deciding/turnover.py",
            "if slot.state in (SlotState.INCOMPLETE, SlotState.TERMINAL)",
            "if slot.state is SlotState.INCOMPLETE",
        ),
    ),
    bug(
        "orphans-stay",
        "a Pod whose ordinal cannot be read is left as it is",
        "Pods that lost their labels serve on, uncounted",
        (
            "deciding/turnover.py",
            "    if role.orphans:\n        return Departure(Cause.BROKEN",
            "    if role.orphans and role.role is None:\n        return Departure(Cause.BROKEN",
        ),
        (
            "deciding/turnover.py",
            "    candidates = [*_last_first(role.orphans), *_last_first(doubles)]",
            "    candidates = [*_last_first(doubles)]",
        ),
    ),
    bug(
        "unguarded",
        "a rollout does not ask whether every replica is admitted",
        "rolling updates on a full quota: the whole role ends up pending",
        ("deciding/turnover.py", "    if len(admitted) != role.declared:\n", "    if len(admitted) > role.declared:\n"),
    ),
    bug(
        "impatient",
        "a rollout does not wait until those that came are ready",
        "maxUnavailable ignored: a bad image takes every replica",
        ("deciding/turnover.py", "        return AwaitingReadiness()\n", "        pass\n"),
    ),
    bug(
        "all-at-once",
        "a rollout lets every outdated replica go in one pass",
        "OnDelete by accident",
        (
            "deciding/turnover.py",
            "return Leave((_whole(Cause.ROLLOUT, role, outdated[-1]),))",
            "return Leave(tuple(_whole(Cause.ROLLOUT, role, each) for each in outdated))",
        ),
    ),
    bug(
        "rolls-lowest-first",
        "a rollout begins with the lowest ordinal",
        "StatefulSets roll from the highest: partitions rely on it",
        (
            "deciding/turnover.py",
            "return Leave((_whole(Cause.ROLLOUT, role, outdated[-1]),))",
            "return Leave((_whole(Cause.ROLLOUT, role, outdated[0]),))",
        ),
    ),
    bug(
        "rolls-while-short",
        "a role that lacks replicas rolls instead of growing",
        "rollouts that start before the count has healed",
        (
            "deciding/turnover.py",
            "    if empty:\n",
            "    if empty and not any(slot.state is SlotState.OUTDATED for slot in role.kept()):\n",
        ),
        ("deciding/turnover.py", "    if missing:\n        return Vacating()\n", ""),
        ("deciding/turnover.py", "    if len(admitted) != role.declared:\n", "    if len(admitted) > role.declared:\n"),
    ),
    bug(
        "rolls-without-its-store",
        "a lost cache lets replicas turn over that were attached to it",
        "controllers that treat an unreadable dependency as an empty one",
        ("deciding/turnover.py", "    if hold is not Hold.NOTHING:\n", "    if hold is Hold.WEIGHTS:\n"),
    ),
    bug(
        "never-outdated",
        "a replica that differs from its render is taken for one that does not",
        "hash annotations compared with themselves",
        (
            "deciding/slots.py",
            "    return member.fingerprint == role.template.fingerprint(Seat(ordinal, member.index))",
            "    return bool(member.fingerprint)",
        ),
    ),
    bug(
        "finalizer-for-the-living",
        "the finalizer goes as soon as no Pod is live",
        "finalizers dropped while Pods still drain",
        ("deciding/teardown.py", "    if snapshot.members:\n", "    if live:\n"),
        (
            "deciding/teardown.py",
            "    if snapshot.answers.pods_left:\n",
            "    if snapshot.answers.pods_left and live:\n",
        ),
    ),
    bug(
        "finalizer-by-the-cache",
        "that no Pod is left is believed of the store",
        "finalizers dropped on a stale informer",
        (
            "deciding/teardown.py",
            "    if snapshot.answers.pods_left is None:\n        return Ask(Fact.PODS_LEFT)\n    if snapshot.answers.pods_left:\n",
            "    if snapshot.members:\n",
        ),
        (
            "expecting.py",
            "        if not wanted:\n            self._wanted.pop(key, None)\n        return not wanted\n",
            "        return True\n",
        ),
    ),
    bug(
        "torn-down-once",
        "a teardown deletes Workloads only together with live Pods",
        "teardowns that a crash leaves half done",
        ("deciding/teardown.py", "for workload in standing),", "for workload in standing if live),"),
    ),
    bug(
        "router-stays",
        "what is no longer wanted is not deleted",
        "leaked Services and Deployments after a field is removed",
        (
            "deciding/keeping.py",
            "if each not in bodies and owned[each].managed and not owned[each].leaving",
            "if each not in bodies and owned[each].managed and owned[each].leaving",
        ),
    ),
    bug(
        "prunes-what-is-not-noted",
        "what hangs on the deployment and carries no note of ours is deleted too",
        "pruners that go by owner reference alone",
        (
            "deciding/keeping.py",
            "if each not in bodies and owned[each].managed and not owned[each].leaving",
            "if each not in bodies and not owned[each].leaving",
        ),
    ),
    bug(
        "takes-over-names",
        "an object of a wanted name that somebody else owns is bent to the render",
        "get-or-create without a look at the owner",
        (
            "deciding/keeping.py",
            "        if each.name in names[each.kind].ours:\n            steps.append(AlignObject(*each, names[each.kind].ours[each.name], marks(body, {})))\n        elif",
            '        if each.name in names[each.kind].foreign:\n            steps.append(DeleteObject(*each, ""))\n        elif',
        ),
        (
            "acting.py",
            "gone = await client.delete(kind, name, target.key.namespace, uid=uid)",
            "gone = await client.delete(kind, name, target.key.namespace, uid=uid or None)",
        ),
    ),
    bug(
        "marks-stay-lost",
        "an object of ours that lost its labels is created again and again instead of marked",
        "controllers whose cache is selected by a label that a user may remove",
        (
            "deciding/keeping.py",
            "        if each.name in names[each.kind].ours:\n            steps.append(AlignObject(*each, names[each.kind].ours[each.name], marks(body, {})))\n        elif",
            "        if",
        ),
    ),
    bug(
        "pods-stay-unmarked",
        "a Pod of ours that lost its labels is left without them",
        "labels that are set on create alone; controllers whose cache is selected by a label that a user may remove",
        ("deciding/passing.py", "        *marking.steps(marks, snapshot, going, now),\n", ""),
    ),
    bug(
        "seats-by-label",
        "a healthy Pod whose ordinal somebody changed is taken for another and leaves",
        "selectors as the only truth: ReplicaSets and StatefulSets let go of a Pod whose labels change",
        ("deciding/passing.py", "        snapshot = replace(snapshot, members=marks.members)\n", "        pass\n"),
        (
            "deciding/ground.py",
            "slots.among(marks.members, owned, rendering.roles",
            "slots.among(members, owned, rendering.roles",
        ),
        (
            "deciding/ground.py",
            "    was, seated = known.marks.members, marks.members\n",
            "    was, seated = known.members, members\n",
        ),
    ),
    bug(
        "unseen-is-gone",
        "a replica of which a member is out of sight only is replaced whole",
        "deciding on the cache alone",
        ("deciding/passing.py", "    turnovers |= _regaining(snapshot, doubtful)\n", ""),
    ),
    bug(
        "selectors-drift",
        "a selector that somebody bent is left as it is",
        "drift that is compared for presence and not for equality",
        ("deciding/drifting.py", "    if selector != current:\n", "    if not current:\n"),
    ),
    bug(
        "members-are-eligible",
        "members that answer nothing are sent requests",
        "Services that front every Pod of a group instead of its leader",
        (
            "deciding/qualifying.py",
            "role.role.template.occupants.answers and member.index == 0",
            "role.role.template.occupants.answers",
        ),
    ),
    bug(
        "eligibility-stays",
        "the eligibility label is put on and never taken off",
        "labels that only ever accumulate",
        (
            "deciding/qualifying.py",
            "if member.uid not in going and member.eligible != answers(role, member)",
            "if member.uid not in going and member.eligible < answers(role, member)",
        ),
    ),
    bug(
        "eligibility-stays-lost",
        "a healthy member that lost its eligibility label is never sent requests again",
        "labels that are set on create alone",
        (
            "deciding/qualifying.py",
            "if member.uid not in going and member.eligible != answers(role, member)",
            "if member.uid not in going and member.eligible > answers(role, member)",
        ),
    ),
)
