"""The status of a deployment, rebuilt whole from what was observed, and the patch that brings the stored one up to it.

Nothing is written where nothing material changed, and `lastTransitionTime` moves only when a condition flips.
Source: facts status §1-§4, §10; facts reconcile §11.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import cast

from modeldeployment.api import Phase, RoleKind
from modeldeployment.reconcile.deciding import attaching, loading, qualifying, quota, routing, sentences, turnover
from modeldeployment.reconcile.deciding import findings as found
from modeldeployment.reconcile.deciding.patching import (
    JSON,
    OURS_IN,
    Said,
    conditions,
    contract,
    in_order,
    kept,
    patch,
    stored_conditions,
)
from modeldeployment.reconcile.deciding.retirement import Operation
from modeldeployment.reconcile.deciding.routing import Routed
from modeldeployment.reconcile.deciding.seen import Snapshot
from modeldeployment.reconcile.deciding.slots import RoleSlots, SlotState, serving
from modeldeployment.reconcile.deciding.turnover import AwaitingAdmission, AwaitingReadiness, Hold, Turnover
from modeldeployment.reconcile.retiring import wording
from modeldeployment.reconcile.retiring.intents import Held
from modeldeployment.render import Rendering

LETTERS = {RoleKind.SERVER: "S", RoleKind.ENCODE: "E", RoleKind.PREFILL: "P", RoleKind.DECODE: "D"}
"""The letter of each kind in `roleSummary`, in the order they are shown (facts status §3)."""


def of(
    snapshot: Snapshot,
    rendering: Rendering,
    roles: Sequence[RoleSlots],
    turnovers: Mapping[str, Turnover],
    routed: Routed,
    hold: Hold,
    operation: Operation,
    now: datetime,
) -> JSON | None:
    """The merge patch of a pass that could render; None where the stored status already says it."""
    going = turnover.going(turnovers.values()) | operation.going
    declared = [role for role in roles if role.role is not None]
    eligible = {role.name: qualifying.eligible(role, going, operation.retiring) for role in declared}
    quota_finding = quota.of(roles, str(snapshot.deployment.metadata.namespace), snapshot.queues)
    findings: list[Said] = [
        found.Rendered(),
        attaching.domain(snapshot),
        loading.finding(snapshot, declared),
        quota_finding,
        turnover_finding(declared, turnovers, hold),
        kinds_finding(declared),
        attaching.attached(snapshot, declared),
        routing.publishing(rendering),
        qualifying.finding(eligible),
        routed.finding,
    ]
    phase, message = phase_of(declared, quota_finding, routed)
    retained = stays(operation)
    stored = {each.get("name"): each for each in cast("list[JSON]", snapshot.status.get("roles") or [])}

    def endpoints(role: str) -> JSON:
        serving = qualifying.serving(role, snapshot.views, stored.get(role), routed=routed.declared)
        return qualifying.endpoints(eligible[role], serving)

    desired: JSON = {
        "phase": phase.value,
        "phaseMessage": "; ".join(filter(None, (message, retained))) or None,
        "endpoint": routed.endpoint or None,
        "roles": [
            kept(
                snapshot.status.get("roles"),
                OURS_IN["roles"],
                {**role_status(role), "endpoints": endpoints(role.name)},
            )
            for role in declared
        ],
        "roleSummary": f"{routed.ready}{routing.LETTER}" * routed.declared + role_summary(declared),
        "kvCache": attaching.echo(snapshot),
        "model": snapshot.weights.echo if snapshot.weights is not None else None,
        "router": contract(snapshot.status, routed.contract),
        "conditions": conditions(snapshot, findings, now),
    }
    return patch(snapshot.status, desired)


def refused(snapshot: Snapshot, findings: Sequence[found.Finding], now: datetime) -> JSON | None:
    """The patch of a pass that could not render: what says so alone, nothing else was computed (decisions D19)."""
    said = conditions(snapshot, findings, now, alone=True)
    types = {each["type"] for each in said}
    stored = [*(each for each in stored_conditions(snapshot.status) if each.get("type") not in types), *said]
    return patch(snapshot.status, {"conditions": in_order(stored, snapshot.status)})


def deleting(snapshot: Snapshot, left: int) -> JSON | None:
    """The patch of a teardown pass."""
    pods = "1 Pod" if left == 1 else f"{left} Pods"
    return patch(snapshot.status, {"phase": Phase.DELETING.value, "phaseMessage": f"{pods} left"})


def role_status(role: RoleSlots) -> JSON:
    """One entry of `status.roles[]`; figures count replicas."""
    assert role.role is not None
    entry: JSON = {
        "name": role.name,
        "kind": role.role.kind.value,
        "desired": role.declared,
        "ready": len(role.serving),
        "quotaReserved": role.reserved,
        "unmanaged": role.role.unmanaged,
    }
    if role.flavors:
        entry["assignedFlavors"] = sorted(role.flavors)
    entry["parallelism"] = role.role.parallelism
    return entry


def role_summary(declared: Sequence[RoleSlots]) -> str:
    """Ready replicas by kind letter; a declared kind with none shows 0."""
    ready: dict[RoleKind, int] = {}
    for role in declared:
        assert role.role is not None
        ready[role.role.kind] = ready.get(role.role.kind, 0) + len(role.serving)
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


def stays(operation: Operation) -> str:
    """What runs although the spec does not ask for it, and why: aborted, or held back before it began."""
    kept = operation.reservation
    held = [(intent, why) for intent, why in operation.turn.held if why is not Held.OTHER_UNDER_WAY]
    if operation.retained and kept is not None:
        return f"replica {wording.seat(kept.role, kept.ordinal)} is retained, see status.retirement"
    return wording.held(*held[0]) if held and kept is None else ""


def turnover_finding(
    declared: Sequence[RoleSlots], turnovers: Mapping[str, Turnover], hold: Hold = Hold.NOTHING
) -> found.Finding:
    """The `ReplicasUpToDate` finding."""
    kept_slots = [slot for role in declared for slot in role.kept()]
    existing = [slot for slot in kept_slots if slot.occupied]
    if not existing:
        return found.RolloutNotObserved()
    differing = sum(slot.state is SlotState.OUTDATED for slot in existing)
    if differing and hold is Hold.WEIGHTS:
        return found.RolloutHeldByWeights(differing, len(kept_slots))
    if differing and hold is Hold.CACHE:
        return found.RolloutHeldByCache(differing, len(kept_slots))
    if differing:
        return found.RolloutInProgress(differing, len(kept_slots), _held(turnovers))
    whole = [slot for slot in existing if slot.state not in (SlotState.INCOMPLETE, SlotState.TERMINAL)]
    if len(whole) < len(kept_slots):
        return found.ReplacementInProgress(len(whole), len(kept_slots), blocked=hold is Hold.WEIGHTS)
    return found.UpToDate()


def _held(turnovers: Mapping[str, Turnover]) -> found.Held:
    kinds = {type(turnover) for turnover in turnovers.values()}
    if AwaitingAdmission in kinds:
        return found.Held.FOR_ADMISSION
    return found.Held.FOR_READINESS if AwaitingReadiness in kinds else found.Held.NOT


def kinds_finding(declared: Sequence[RoleSlots]) -> found.Finding:
    """The `RoleKindsReady` finding: every declared kind needs one ready replica."""
    kinds = [role.role.kind for role in declared if role.role is not None]
    ready = {role.role.kind for role in declared if role.role is not None and role.serving}
    bare = [kind.value for kind in dict.fromkeys(kinds) if kind not in ready]
    return found.KindsNotReady(tuple(bare)) if bare else found.AllKindsReady()
