# ruff: noqa: E501 (quoted source stands in one line)
"""Bugs of set admission: who is let go, who parks, who gives way."""

from typing import Final

from modeldeployment.lab.crashes.bugs.bug import Bug, bug

HOLDING: Final[tuple[Bug, ...]] = (
    bug(
        "ready-on-one",
        "a set is opened as soon as one replica of it holds quota",
        "gangs that count members instead of comparing with what is declared",
        ("sets/counting.py", "        return not self.waiting\n", "        return self.present > 0\n"),
    ),
    bug(
        "queued-is-reserved",
        "a replica counts as present once it has a Workload",
        "a reservation taken for the object that asks for it",
        (
            "sets/counting.py",
            "    if any(each.reserved and each.active for each in workloads):\n",
            "    if workloads:\n",
        ),
    ),
    bug(
        "kinds-not-replicas",
        "the set is complete once each role has one replica with quota",
        "joint admission of roles before replicas were groups of their own",
        (
            "sets/counting.py",
            "        if slots.count(Slot.PRESENT) < len(slots):\n",
            "        if slots.count(Slot.PRESENT) < 1:\n",
        ),
    ),
    bug(
        "waits-with-retry",
        "a held Workload is told Retry instead of Pending",
        "Kueue evicts on Retry: siblings trade quota for ever",
        (
            "sets/verdicts.py",
            "            moves += _answers(each, CheckState.PENDING, message, now)\n",
            "            moves += _answers(each, CheckState.RETRY, message, now)\n",
        ),
    ),
    bug(
        "parks-without-marker",
        "a set is parked without the words by which it is known as parked",
        "state kept in memory or in words that nobody can read back",
        ("sets/verdicts.py", "_said(each, messages.parked(count), now)", "_said(each, messages.held(count), now)"),
    ),
    bug(
        "parks-at-once",
        "a set is parked as soon as it waits",
        "comparisons of times the wrong way round",
        ("sets/verdicts.py", "now - since > LONGEST_HOLD", "now - since < LONGEST_HOLD"),
    ),
    bug(
        "never-parks",
        "a set that never fits holds what it has for ever",
        "bounds that restart with every write",
        ("sets/verdicts.py", "now - since > LONGEST_HOLD", "now - since > LONGEST_HOLD * 1000"),
    ),
    bug(
        "oldest-gives-way",
        "of two sets that block each other the older gives way",
        "livelocks: whoever comes next pushes out whoever waits longest",
        (
            "sets/yielding.py",
            "return Turn(circle[-1], circle[0], tuple(circle[:-1]), at)",
            "return Turn(circle[0], circle[-1], tuple(circle[1:]), at)",
        ),
    ),
    bug(
        "nobody-gives-way",
        "two sets that block each other wait for ever",
        "deadlock of partial gangs: the reason for gang scheduling",
        ("sets/yielding.py", "    if len(circle) < 2:\n", "    if len(circle) < 3:\n"),
    ),
    bug(
        "never-comes-back",
        "a set that gave way is never made active again",
        "suspended workloads that nobody resumes",
        (
            "sets/yielding.py",
            "    return tuple(Activate(each) for each in of.workloads if not each.active and _told(each) is not None)\n",
            "    return ()\n",
        ),
    ),
    bug(
        "siblings-are-not-woken",
        "a Workload that gets its quota wakes itself and not its set",
        "admission checks without a mapping to siblings",
        (
            "joining.py",
            "        for key in together:\n            self._queue.add(key)\n        if together and",
            "        if together and",
        ),
    ),
    bug(
        "stops-the-admitted",
        "a set that gives way stops what is admitted already",
        "preemption of running work to resolve a wait",
        (
            "sets/yielding.py",
            "if each.active and not each.admitted and not each.finished",
            "if each.active and not each.finished",
        ),
    ),
)
