"""What was found out against the stored status: conditions with their times, and the merge patch of what differs.

`lastTransitionTime` moves only when a condition flips. What a later release wrote beside ours is kept.
Source: facts status §10, facts reconcile §11.
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import TypeAlias, cast

from modeldeployment.api import Condition, RoleStatus, RouterStatus
from modeldeployment.api.routerstatus import RoutedRole, RouterMetrics
from modeldeployment.api.status import ModelStatus
from modeldeployment.reconcile.deciding import findings as found
from modeldeployment.reconcile.deciding import sentences
from modeldeployment.reconcile.deciding.seen import Snapshot

JSON = dict[str, object]
Said: TypeAlias = found.Finding | found.Remarked

OURS_IN = {
    field: frozenset(str(each.alias) for each in model.model_fields.values())
    for field, model in (("roles", RoleStatus), ("conditions", Condition), ("router", RoutedRole))
}
"""The fields this release knows of the entries of each list; `router` stands for the roles that a router was told."""

OURS_INSIDE = frozenset(
    str(each.alias) for of in (RouterStatus, RouterMetrics, ModelStatus) for each in of.model_fields.values()
)
"""The fields this release knows of the tables in status some of which may be left out."""


def conditions(snapshot: Snapshot, findings: Iterable[Said], now: datetime, *, alone: bool = False) -> list[JSON]:
    """Conditions of the findings, stamped; entries of types that no finding speaks of are kept unless `alone`."""
    stored = {cast("str", each.get("type")): each for each in stored_conditions(snapshot.status)}
    made = [_condition(finding, stored, snapshot.deployment.metadata.generation or 0, now) for finding in findings]
    if alone:
        return made
    types = {entry["type"] for entry in made}
    others = [dict(entry) for entry in stored_conditions(snapshot.status) if entry.get("type") not in types]
    return [*made, *(entry for entry in others if entry.get("type") not in _OURS)]


_OURS = frozenset(kind.value for kind, _, _ in found.CONDITIONS.values())


def _condition(said: Said, stored: Mapping[str, Mapping[str, object]], generation: int, now: datetime) -> JSON:
    finding = said.finding if isinstance(said, found.Remarked) else said
    kind, verdict, reason = found.CONDITIONS[type(finding)]
    before = stored.get(kind.value)
    flipped = before is None or before.get("status") != verdict
    since = _stamp(now) if flipped else cast("Mapping[str, object]", before)["lastTransitionTime"]
    return {
        "type": kind.value,
        "status": verdict,
        "reason": (
            finding.reason
            if isinstance(finding, found.RenderRefused | found.WeightsRefused | found.WeightsBlocked)
            else cast("object", reason)
        ),
        "message": sentences.of(said),
        "lastTransitionTime": since,
        "observedGeneration": generation,
    } | {key: value for key, value in (before or {}).items() if key not in OURS_IN["conditions"]}


def kept(stored: object, ours: frozenset[str], entry: Mapping[str, object]) -> JSON:
    """A named entry with what a later release wrote into it: a merge patch replaces a list whole."""
    entries = cast("list[Mapping[str, object]]", stored or [])
    before = next((each for each in entries if each.get("name") == entry["name"]), {})
    return {**entry, **{name: value for name, value in before.items() if name not in ours}}


def contract(status: Mapping[str, object], said: JSON | None) -> JSON | None:
    """What a router was told, with what a later release wrote of its roles."""
    if said is None or "roles" not in said:
        return said
    stored = cast("Mapping[str, object]", status.get("router") or {})
    told = cast("list[Mapping[str, object]]", said["roles"])
    return {**said, "roles": [kept(stored.get("roles"), OURS_IN["router"], role) for role in told]}


def patch(stored: Mapping[str, object], desired: Mapping[str, object]) -> JSON | None:
    """The fields of `desired` that differ from `stored`; a None takes the field away."""
    changed: JSON = {}
    for key, value in desired.items():
        before = stored.get(key)
        if isinstance(value, Mapping) and isinstance(before, Mapping):
            dropped = dict.fromkeys(each for each in before if each not in value and each in OURS_INSIDE)
            inside = patch(before, {**value, **dropped})
            if inside:
                changed[key] = inside
        elif before != value if key in stored else value is not None:
            changed[key] = value
    return changed or None


def stored_conditions(status: Mapping[str, object]) -> list[Mapping[str, object]]:
    """The conditions of a stored status."""
    return cast("list[Mapping[str, object]]", status.get("conditions") or [])


def in_order(entries: list[Mapping[str, object]], status: Mapping[str, object]) -> list[JSON]:
    """The stored order, so that an unchanged list compares equal; new types go last."""
    order = {cast("str", each.get("type")): place for place, each in enumerate(stored_conditions(status))}
    return [dict(each) for each in sorted(entries, key=lambda each: order.get(cast("str", each["type"]), len(order)))]


def _stamp(now: datetime) -> str:
    return now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
