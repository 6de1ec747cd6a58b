# ruff: noqa: E501 (quoted source stands in one line)
"""Bugs of observing: what is taken for what, and who is woken."""

from typing import Final

from modeldeployment.lab.crashes.bugs.bug import Bug, bug

WATCHING: Final[tuple[Bug, ...]] = (
    bug(
        "owned-by-any-reference",
        "whoever is named in an owner reference counts as its controller",
        "garbage collection references taken for controller references",
        (
            "observing.py",
            "    return tuple(each.uid for each in owners if each.controller)",
            "    return tuple(each.uid for each in owners)",
        ),
    ),
    bug(
        "orphans-are-zero",
        "an ordinal that cannot be read is taken for ordinal 0",
        "strconv errors ignored: every stray becomes the first replica",
        (
            "observing.py",
            "ordinal=_digits(meta.labels.get(keys.ORDINAL)),",
            "ordinal=_digits(meta.labels.get(keys.ORDINAL)) or 0,",
        ),
    ),
    bug(
        "leaving-is-not-seen",
        "a Pod that is being deleted counts as live",
        "deletionTimestamp overlooked",
        (
            "observing.py",
            "leaving=meta.deletion_timestamp is not None,\n        evicted",
            "leaving=False,\n        evicted",
        ),
    ),
    bug(
        "reserved-is-admitted",
        "a Workload with a reservation counts as admitted",
        "QuotaReserved and Admitted differ where a check is asked",
        ("observing.py", "admitted=_true(conditions.get(kueue.WorkloadCondition.ADMITTED)),", "admitted=reserved,"),
    ),
    bug(
        "workload-wakes-nobody",
        "a Workload that changes wakes nobody",
        "missing watches: rollouts that hang until something else happens",
        (
            "watching.py",
            "        if self.groups.alike(old, new):\n            return\n        for each in (old, new):\n            for uid",
            "        if new is None or self.groups.alike(old, new):\n            return\n        for each in ():\n            for uid",
        ),
    ),
    bug(
        "freed-quota-wakes-nobody",
        "a Workload that goes after its Pods wakes nobody, although a retirement waits for it",
        "back references through objects that are gone already",
        (
            "watching.py",
            '                for deployment in self.deployments.by_index("reserved", uid):',
            "                for deployment in ():",
        ),
    ),
    bug(
        "pods-wake-nobody",
        "a Pod that changes wakes nobody",
        "informers without an update handler",
        (
            "watching.py",
            "        if self.members.alike(old, new):\n            return\n",
            "        if self.members.alike(old, new) or old is not None:\n            return\n",
        ),
    ),
    bug(
        "pool-wakes-nobody",
        "a store that moves wakes nobody",
        "dependencies that are read and not watched",
        (
            "watching.py",
            "        if not self.read_pools.alike(old, new):\n            self._wake_cut((new or old,))\n",
            "        self.read_pools.alike(old, new)\n",
        ),
    ),
    bug(
        "rendered-once",
        "a rendering is kept although the store it points to has moved",
        "render caches keyed by generation alone",
        (
            "snapshots.py",
            "            classes,\n            store,\n            artifact,\n",
            "            classes,\n            artifact,\n",
        ),
    ),
    bug(
        "remembered-by-name",
        "a deployment's memory survives it, and its successor is read as the old one",
        "caches keyed by namespace and name: objects that are deleted and made again",
        (
            "snapshots.py",
            '    version = f"{meta.uid}/{meta.resource_version}"',
            '    version = f"{meta.name}/{meta.generation}"',
        ),
        ("deploying.py", "            self._snapshots.forget(key)\n", ""),
    ),
    bug(
        "lasts-while-pods-change",
        "a decision lasts although a Pod is no longer ready, or was evicted",
        "caches of decisions: what they were made on is compared in part",
        (
            "deciding/lasting.py",
            "            if old is not new and _beside_restarts(old) != _beside_restarts(new):\n",
            "            if old is not new and old.uid != new.uid:\n",
        ),
    ),
    bug(
        "status-every-pass",
        "status is written on every pass, changed or not",
        "hot loops: a status write that wakes its own writer",
        (
            "deciding/patching.py",
            "        elif before != value if key in stored else value is not None:\n",
            '        elif key == "phase" or (before != value if key in stored else value is not None):\n',
        ),
    ),
    bug(
        "times-always-move",
        "a condition's time moves when its reason does",
        "lastTransitionTime set to now on every update: kubernetes/kubernetes, many controllers",
        (
            "deciding/patching.py",
            "since = _stamp(now) if flipped else",
            'since = _stamp(now) if flipped or before["reason"] != reason else',
        ),
    ),
)
