"""What the operator asked of the API server, told by the API server's own audit log."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

_READS: Final = ("get", "list", "watch")
_UNCOUNTED_RESOURCE: Final = "leases"


def policy(group: str) -> dict[str, Any]:
    """An audit policy that records, once answered, every request of the users of one group and of nobody else."""
    return {
        "apiVersion": "audit.k8s.io/v1",
        "kind": "Policy",
        "omitStages": ["RequestReceived"],
        "rules": [{"level": "Metadata", "userGroups": [group]}, {"level": "None"}],
    }


def whole_policy() -> dict[str, Any]:
    """An audit policy that records what every write of anybody was answered; Events and Leases left out."""
    apart = [{"group": "", "resources": ["events"]}, {"group": "events.k8s.io"}, {"group": "coordination.k8s.io"}]
    return {
        "apiVersion": "audit.k8s.io/v1",
        "kind": "Policy",
        "omitStages": ["RequestReceived"],
        "omitManagedFields": True,
        "rules": [
            {"level": "None", "resources": apart},
            {"level": "RequestResponse", "verbs": ["create", "update", "patch", "delete"]},
            {"level": "None"},
        ],
    }


def arguments(policy_file: Path, log: Path) -> tuple[str, ...]:
    """The arguments that make kube-apiserver audit; an entry is in the file before its answer is complete."""
    return (f"--audit-policy-file={policy_file}", f"--audit-log-path={log}", "--audit-log-mode=blocking-strict")


def requests(lines: Iterable[bytes], user: str) -> Counter[tuple[str, str]]:
    """Count a user's requests by (verb, resource[/subresource]); a watch counts once, when it is answered."""
    counted: Counter[tuple[str, str]] = Counter()
    for line in lines:
        entry = json.loads(line)
        if entry["user"]["username"] != user:
            continue
        if entry["verb"] == "watch" and entry["stage"] != "ResponseStarted":
            continue
        counted[entry["verb"], _resource(entry)] += 1
    return counted


def besides_watches_and_leases(counted: Mapping[tuple[str, str], int]) -> dict[tuple[str, str], int]:
    """What is left of the requests when watches and everything about Leases is taken out."""
    return {
        (verb, what): count
        for (verb, what), count in counted.items()
        if verb != "watch" and what != _UNCOUNTED_RESOURCE
    }


def writes(counted: Mapping[tuple[str, str], int]) -> dict[tuple[str, str], int]:
    """The writes among the requests, those to Leases excepted."""
    return {
        (verb, what): count for (verb, what), count in besides_watches_and_leases(counted).items() if verb not in _READS
    }


def without_effect(lines: Iterable[bytes], user: str) -> Counter[tuple[str, str]]:
    """Count a user's writes after which the object is the version that an earlier request of anybody had made.

    `lines` record the answers of everybody's writes. A write that changes something makes a version nobody had before;
    of two answers with one version, that of the later request changed nothing. A final delete makes no version: deletes
    are compared among themselves.
    """
    made: set[tuple[str, str, bool]] = set()
    counted: Counter[tuple[str, str]] = Counter()
    for entry in sorted(map(json.loads, lines), key=lambda each: str(each["requestReceivedTimestamp"])):
        meta = (entry.get("responseObject") or {}).get("metadata") or {}
        if entry["responseStatus"]["code"] >= 300 or not meta.get("uid") or not meta.get("resourceVersion"):
            continue
        version = (meta["uid"], meta["resourceVersion"], entry["verb"] == "delete")
        if version in made and entry["user"]["username"] == user:
            counted[entry["verb"], _resource(entry)] += 1
        made.add(version)
    return counted


def refused(lines: Iterable[bytes], user: str) -> Counter[tuple[str, str]]:
    """Count a user's writes that were answered with an error, by verb and resource with the code."""
    counted: Counter[tuple[str, str]] = Counter()
    for entry in map(json.loads, lines):
        if entry["user"]["username"] == user and entry["responseStatus"]["code"] >= 400:
            counted[entry["verb"], f"{_resource(entry)} ({entry['responseStatus']['code']})"] += 1
    return counted


def _resource(entry: Mapping[str, Any]) -> str:
    about = entry.get("objectRef", {})
    parts = (about.get("resource", entry["requestURI"]), about.get("subresource", ""))
    return "/".join(filter(None, parts))


def told(counted: Mapping[tuple[str, str], int]) -> str:
    """The requests in words: `2 create pods, 1 get leases`."""
    return ", ".join(f"{count} {verb} {what}" for (verb, what), count in sorted(counted.items())) or "none"


class Log:
    """The audit file, read from where the last reading ended."""

    def __init__(self, file: Path, user: str) -> None:
        self._file = file
        self._user = user
        self._at = 0

    def since_last(self) -> Counter[tuple[str, str]]:
        """The user's requests recorded since the last call."""
        try:
            with self._file.open("rb") as file:
                file.seek(self._at)
                content = file.read()
        except FileNotFoundError:
            return Counter()
        whole = content[: content.rfind(b"\n") + 1]
        self._at += len(whole)
        return requests(whole.splitlines(), self._user)
