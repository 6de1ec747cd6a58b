"""The status of a deployment, rebuilt whole from what was observed, and the patch that brings the stored one up to it.

Nothing is written where nothing material changed, and `lastTransitionTime` moves only when a condition flips.
Source: facts status §1-§4, §10; facts reconcile §11.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TypeAlias, cast

from modeldeployment.api import Condition, Phase, RoleKind, RoleStatus, RouterStatus
from modeldeployment.api.routerstatus import RoutedRole, RouterMetrics
from modeldeployment.api.status import ModelStatus
from modeldeployment.reconcile.deciding import attaching, quota, routing, sentences
from modeldeployment.reconcile.deciding import findings as found
from modeldeployment.reconcile.deciding.routing import Routed
from modeldeployment.reconcile.deciding.seen import Snapshot
from modeldeployment.reconcile.deciding.slots import RoleSlots, SlotState
from modeldeployment.reconcile.deciding.turnover import AwaitingAdmission, AwaitingReadiness, Turnover
from modeldeployment.render import Rendering

LETTERS = {RoleKind.SERVER: "S", RoleKind.ENCODE: "E", RoleKind.PREFILL: "P", RoleKind.DECODE: "D"}
"""The letter of each kind in `roleSummary`, in the order they are shown (facts status §3)."""

JSON = dict[str, object]
Said: TypeAlias = found.Finding | found.Remarked

_OURS_IN = {
    field: frozenset(str(each.alias) for each in model.model_fields.values())
    for field, model in (("roles", RoleStatus), ("conditions", Condition), ("router", RoutedRole))
}
"""The fields this release knows of the entries of each list; `router` stands for the roles that a router was told."""

_OURS_INSIDE = frozenset(
    str(each.alias) for of in (RouterStatus, RouterMetrics, ModelStatus) for each in of.model_fields.values()
)
"""The fields this release knows of the tables in status some of which may be left out."""


def of(
    snapshot: Snapshot,
    rendering: Rendering,
    roles: Sequence[RoleSlots],
    turnovers: Mapping[str, Turnover],
    routed: Routed,
    now: datetime,
) -> JSON | None:
    """The merge patch of a pass that could render; None where the stored status already says it."""
    declared = [role for role in roles if role.role is not None]
    quota_finding = quota.of(roles, str(snapshot.deployment.metadata.namespace), snapshot.queues)
    findings: list[Said] = [
        found.Rendered(),
        attaching.domain(snapshot),
        attaching.weights(snapshot, declared),
        quota_finding,
        turnover_finding(declared, turnovers, held=attaching.held(snapshot)),
        kinds_finding(declared),
        routing.publishing(rendering),
        routed.finding,
    ]
    phase, message = phase_of(declared, quota_finding, routed)
    desired: JSON = {
        "phase": phase.value,
        "phaseMessage": message or None,
        "endpoint": routed.endpoint or None,
        "roles": [_kept(snapshot.status.get("roles"), _OURS_IN["roles"], role_status(role)) for role in declared],
        "roleSummary": f"{routed.ready}{routing.LETTER}" * routed.declared + role_summary(declared),
        "kvCache": attaching.echo(snapshot),
        "model": snapshot.weights.echo if snapshot.weights is not None else None,
        "router": _contract(snapshot.status, routed.contract),
        "conditions": conditions(snapshot, findings, now),
    }
    return patch(snapshot.status, desired)


def refused(snapshot: Snapshot, findings: Sequence[found.Finding], now: datetime) -> JSON | None:
    """The patch of a pass that could not render: what says so alone, nothing else was computed (decisions D19)."""
    said = conditions(snapshot, findings, now, alone=True)
    types = {each["type"] for each in said}
    stored = [*(each for each in _stored(snapshot.status) if each.get("type") not in types), *said]
    return patch(snapshot.status, {"conditions": _in_order(stored, snapshot.status)})


def deleting(snapshot: Snapshot, left: int) -> JSON | None:
    """The patch of a teardown pass."""
    pods = "1 Pod" if left == 1 else f"{left} Pods"
    return patch(snapshot.status, {"phase": Phase.DELETING.value, "phaseMessage": f"{pods} left"})


def role_status(role: RoleSlots) -> JSON:
    """One entry of `status.roles[]`; figures count replicas."""
    assert role.role is not None
    slots = [slot for slot in role.slots.values() if slot.occupied]
    flavors = {flavor for slot in slots if slot.workload is not None for flavor in slot.workload.flavors}
    entry: JSON = {
        "name": role.name,
        "kind": role.role.kind.value,
        "desired": role.declared,
        "ready": sum(1 for slot in slots if serving(role, slot.ordinal)),
        "quotaReserved": sum(1 for slot in slots if slot.reserved),
        "unmanaged": role.role.unmanaged,
    }
    if flavors:
        entry["assignedFlavors"] = sorted(flavors)
    return entry


def serving(role: RoleSlots, ordinal: int) -> bool:
    """Whether a replica is complete and all its members are ready, whatever render they carry."""
    slot = role.slot(ordinal)
    return len(slot.live) == role.size and all(member.ready for member in slot.live)


def role_summary(declared: Sequence[RoleSlots]) -> str:
    """Ready replicas by kind letter; a declared kind with none shows 0."""
    ready: dict[RoleKind, int] = {}
    for role in declared:
        assert role.role is not None
        count = sum(1 for ordinal in role.slots if serving(role, ordinal))
        ready[role.role.kind] = ready.get(role.role.kind, 0) + count
    return "".join(f"{ready[kind]}{letter}" for kind, letter in LETTERS.items() if kind in ready)


def phase_of(declared: Sequence[RoleSlots], quota_finding: Said, routed: Routed) -> tuple[Phase, str]:
    """The phase, judged on declared ordinals only and on the router, and its message."""
    ready = sum(1 for role in declared for ordinal in range(role.declared) if serving(role, ordinal))
    wanted = sum(role.declared for role in declared)
    routerless = routed.declared and not routed.ready
    if ready == wanted and not routerless:
        return Phase.READY, ""
    if ready:
        missing = f"; the router is not ready: {sentences.of(routed.finding)}" if routerless else ""
        return Phase.DEGRADED, f"{ready} of {wanted} replicas ready{missing}"
    return Phase.STARTING, sentences.of(quota_finding)


def turnover_finding(
    declared: Sequence[RoleSlots], turnovers: Mapping[str, Turnover], *, held: bool = False
) -> found.Finding:
    """The `ReplicasUpToDate` finding."""
    kept = [slot for role in declared for slot in role.kept()]
    existing = [slot for slot in kept if slot.occupied]
    if not existing:
        return found.RolloutNotObserved()
    differing = [slot for slot in existing if slot.state is SlotState.OUTDATED]
    if differing and held:
        return found.RolloutHeldByCache(len(differing), len(kept))
    if differing:
        return found.RolloutInProgress(len(differing), len(kept), _held(turnovers))
    whole = [slot for slot in existing if slot.state not in (SlotState.INCOMPLETE, SlotState.TERMINAL)]
    if len(whole) < len(kept):
        return found.ReplacementInProgress(len(whole), len(kept))
    return found.UpToDate()


def _held(turnovers: Mapping[str, Turnover]) -> found.Held:
    kinds = {type(turnover) for turnover in turnovers.values()}
    if AwaitingAdmission in kinds:
        return found.Held.FOR_ADMISSION
    return found.Held.FOR_READINESS if AwaitingReadiness in kinds else found.Held.NOT


def kinds_finding(declared: Sequence[RoleSlots]) -> found.Finding:
    """The `RoleKindsReady` finding: every declared kind needs one ready replica."""
    kinds = [role.role.kind for role in declared if role.role is not None]
    ready = {
        role.role.kind
        for role in declared
        if role.role is not None and any(serving(role, ordinal) for ordinal in role.slots)
    }
    bare = [kind.value for kind in dict.fromkeys(kinds) if kind not in ready]
    return found.KindsNotReady(tuple(bare)) if bare else found.AllKindsReady()


def conditions(snapshot: Snapshot, findings: Iterable[Said], now: datetime, *, alone: bool = False) -> list[JSON]:
    """Conditions of the findings, stamped; entries of types that no finding speaks of are kept unless `alone`."""
    stored = {cast("str", each.get("type")): each for each in _stored(snapshot.status)}
    made = [_condition(finding, stored, snapshot.deployment.metadata.generation or 0, now) for finding in findings]
    if alone:
        return made
    types = {entry["type"] for entry in made}
    others = [dict(entry) for entry in _stored(snapshot.status) if entry.get("type") not in types]
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
            if isinstance(finding, found.RenderRefused | found.WeightsRefused)
            else cast("object", reason)
        ),
        "message": sentences.of(said),
        "lastTransitionTime": since,
        "observedGeneration": generation,
    } | {key: value for key, value in (before or {}).items() if key not in _OURS_IN["conditions"]}


def _kept(stored: object, ours: frozenset[str], entry: Mapping[str, object]) -> JSON:
    """A named entry with what a later release wrote into it: a merge patch replaces a list whole."""
    entries = cast("list[Mapping[str, object]]", stored or [])
    before = next((each for each in entries if each.get("name") == entry["name"]), {})
    return {**entry, **{name: value for name, value in before.items() if name not in ours}}


def _contract(status: Mapping[str, object], contract: JSON | None) -> JSON | None:
    if contract is None or "roles" not in contract:
        return contract
    stored = cast("Mapping[str, object]", status.get("router") or {})
    told = cast("list[Mapping[str, object]]", contract["roles"])
    return {**contract, "roles": [_kept(stored.get("roles"), _OURS_IN["router"], role) for role in told]}


def patch(stored: Mapping[str, object], desired: Mapping[str, object]) -> JSON | None:
    """The fields of `desired` that differ from `stored`; a None takes the field away."""
    changed: JSON = {}
    for key, value in desired.items():
        before = stored.get(key)
        if isinstance(value, Mapping) and isinstance(before, Mapping):
            dropped = dict.fromkeys(each for each in before if each not in value and each in _OURS_INSIDE)
            inside = patch(before, {**value, **dropped})
            if inside:
                changed[key] = inside
        elif before != value if key in stored else value is not None:
            changed[key] = value
    return changed or None


def _stored(status: Mapping[str, object]) -> list[Mapping[str, object]]:
    return cast("list[Mapping[str, object]]", status.get("conditions") or [])


def _in_order(entries: list[Mapping[str, object]], status: Mapping[str, object]) -> list[JSON]:
    """The stored order, so that an unchanged list compares equal; new types go last."""
    order = {cast("str", each.get("type")): place for place, each in enumerate(_stored(status))}
    return [dict(each) for each in sorted(entries, key=lambda each: order.get(cast("str", each["type"]), len(order)))]


def _stamp(now: datetime) -> str:
    return now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
