"""Journals for the tests of the operator: passes that the planner itself has planned, written as the operator does."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import msgspec
from modeldeployment.api import Quantity, RoleKind
from modeldeployment.api.scalerstatus import SignalState
from modeldeployment.scaler.journal import Line, encode, repeat
from modeldeployment.scaler.planning import Reading, RoleReading, Seat, Target, TargetRole

AT: Final = datetime(2026, 11, 30, 10, 0, tzinfo=UTC)

SPEC: Final[dict[str, Any]] = {
    "targetRef": {"name": "chat"},
    "roles": [{"name": "server", "minReplicas": 1, "maxReplicas": 8}],
    "algorithm": {
        "type": "Proportional",
        "proportional": {"metric": "QueueDepth", "roleTargets": [{"name": "server", "target": "8"}]},
    },
}


def seen(seconds: int = 0, **changed: Any) -> Line:
    """What a pass so many seconds after ten is planned from: four servers with 40 requests, for eight each."""
    at = AT + timedelta(seconds=seconds)
    seats = tuple(Seat(ordinal=each, admitted=True, ready=True) for each in range(4))
    server = TargetRole(name="server", kind=RoleKind.SERVER, replicas=4, seats=seats)
    read = RoleReading(
        state=SignalState.FRESH,
        ready=4,
        complete=True,
        at=at,
        running_requests=32,
        waiting_requests=8,
        prompt_tokens_per_second=Quantity.parse("2400.5"),
        generation_tokens_per_second=Quantity.parse("800"),
    )
    fields: dict[str, Any] = {
        "at": at,
        "namespace": "default",
        "name": "chat",
        "scaler_uid": "scaler-1",
        "generation": 1,
        "spec": SPEC,
        "target": Target(name="chat", uid="target-1", generation=7, roles=(server,)),
        "reading": Reading(roles={"server": read}),
        "decision_id": "decision-1",
        "term": 1,
    }
    return Line(**(fields | changed))


def planned(seconds: int = 0, **changed: Any) -> Line:
    """The same pass, planned and written."""
    one = seen(seconds, **changed)
    return msgspec.structs.replace(one, plan=repeat(one), committed=True)


def journal(directory: Path, *lines: Line) -> Path:
    """A journal of these lines; the directory of it."""
    directory.mkdir(exist_ok=True)
    (directory / "journal-000001.jsonl").write_bytes(b"".join(encode(each) + b"\n" for each in lines))
    return directory
