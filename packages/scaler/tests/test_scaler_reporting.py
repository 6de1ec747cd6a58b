"""What status says, and that nothing is written while nothing moves."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from modeldeployment.api import Quantity, RoleKind
from modeldeployment.api.binding import Binding
from modeldeployment.api.scalerconditions import REASONS, RoleReason, ScalerCondition, ScalerReason
from modeldeployment.api.scalerstatus import BindingStatus, ScalerStatus, SignalState
from modeldeployment.scaler import remembering, reporting
from modeldeployment.scaler.binding import Acquire, Hold, Release, Ruling, Stay, Watch
from modeldeployment.scaler.planning.memory import Commit, Demanded, Memory, Recommended, RoleMemory
from modeldeployment.scaler.planning.observed import Reading, RoleReading, Seat, Target, TargetRole
from modeldeployment.scaler.planning.outcome import Finding, Plan, RolePlan
from modeldeployment.scaler.reporting import Planned, Report, Said

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
HELD = Ruling(Hold(3), ScalerReason.BOUND, ScalerReason.ACTIVE)
BOUND = BindingStatus(target_uid="uid-t", target_name="chat", term=3)
COMMIT = Commit(decision_id="d-1", term=3, vector={"server": 3}, baseline={"server": 2}, at=NOON, target_generation=2)


def planned(
    *,
    replicas: int = 2,
    ready: int = 2,
    raw: int = 2,
    constrained: int = 2,
    waiting: int = 1,
    memory: Memory | None = None,
) -> Planned:
    seats = tuple(Seat(ordinal=each, admitted=True, ready=True) for each in range(ready))
    target = Target(
        name="chat",
        uid="uid-t",
        generation=1,
        roles=(TargetRole(name="server", kind=RoleKind.SERVER, replicas=replicas, seats=seats),),
    )
    read = RoleReading(
        state=SignalState.FRESH,
        ready=ready,
        complete=True,
        at=NOON,
        running_requests=4,
        waiting_requests=waiting,
        kv_cache_usage=Quantity.parse("0.5"),
    )
    plan = Plan(
        vector={"server": constrained},
        roles=(RolePlan(name="server", raw=raw, constrained=constrained, reason=RoleReason.PROPORTIONAL),),
        findings=(),
        memory=Memory(),
        trail=(),
    )
    return Planned(target, {"server": replicas}, Reading(roles={"server": read}), plan, memory or Memory())


def report(
    of: Planned | None = None,
    *,
    generation: int = 1,
    ruling: Ruling = HELD,
    reason: ScalerReason = ScalerReason.READY,
    roles: tuple[str, ...] = (),
) -> Report:
    said = reporting.claims(ruling, "chat")
    if of is not None:
        said = (  # type: ignore[assignment]
            *said,
            *reporting.findings(
                (
                    Finding(condition=ScalerCondition.METRICS_READY, reason=ScalerReason.OBSERVED),
                    Finding(condition=ScalerCondition.BLOCKED, reason=reason, roles=roles),
                )
            ),
        )
    return Report(generation, BOUND, said, of)


def settled() -> tuple[ScalerStatus, reporting.Outline]:
    """A status that was written once, and its outline."""
    first = report(planned())
    before = reporting.outline(ScalerStatus(), Memory())
    return reporting.written(ScalerStatus(), first, NOON), reporting.after(before, first)


def moves(then: Report) -> bool:
    """Whether a report that follows a settled one is worth a write."""
    _, before = settled()
    return reporting.moved(before, reporting.after(before, then))


def test_the_first_report_is_written() -> None:
    before = reporting.outline(ScalerStatus(), Memory())
    assert reporting.moved(before, reporting.after(before, report(planned())))


def test_the_same_again_writes_nothing() -> None:
    assert not moves(report(planned()))


def test_signals_windows_and_filters_alone_write_nothing() -> None:
    flows = RoleMemory(
        recommended=(Recommended(at=NOON, replicas=2),),
        demanded=(Demanded(at=NOON, tokens_per_second=Quantity.whole(7)),),
    )
    assert not moves(report(planned(waiting=9, memory=Memory(roles={"server": flows}))))


@pytest.mark.parametrize(
    "then",
    [
        report(planned(replicas=3)),
        report(planned(ready=1)),
        report(planned(raw=3)),
        report(planned(constrained=3)),
        report(planned(memory=Memory(last_commit=COMMIT))),
        report(planned(), generation=2),
        report(planned(), reason=ScalerReason.PACING_BOUNDED),
        report(ruling=Ruling(Stay(), ScalerReason.SUSPENDED, ScalerReason.SUSPENDED)),
    ],
    ids=["declared", "ready", "recommended", "constrained", "commit", "generation", "blocked", "suspended"],
)
def test_what_moves_the_control_plane_is_written(then: Report) -> None:
    assert moves(then)


def test_another_role_that_is_blocked_for_the_same_reason_is_written() -> None:
    blocked = report(planned(), reason=ScalerReason.PACING_BOUNDED, roles=("server",))
    other = report(planned(), reason=ScalerReason.PACING_BOUNDED, roles=("decode",))
    before = reporting.after(settled()[1], blocked)
    assert not reporting.moved(before, reporting.after(before, blocked))
    assert reporting.moved(before, reporting.after(before, other))


def test_a_restart_finds_its_own_report_and_writes_nothing() -> None:
    status, _ = settled()
    read = ScalerStatus.model_validate(status.body())
    found = reporting.outline(read, remembering.memory_of(read))
    assert not reporting.moved(found, reporting.after(found, report(planned())))


def test_a_transition_is_dated_when_a_condition_flips_and_only_then() -> None:
    status, _ = settled()
    later = NOON + timedelta(seconds=15)
    held = reporting.written(status, report(planned(), reason=ScalerReason.PACING_BOUNDED), later)
    again = reporting.written(
        held, report(planned(), reason=ScalerReason.RESOURCE_EXHAUSTED), later + timedelta(seconds=15)
    )
    found = [each.condition("Blocked") for each in (status, held, again)]
    assert [(each.status.value, each.reason, each.last_transition_time) for each in found if each is not None] == [
        ("False", "Ready", NOON),
        ("True", "PacingBounded", later),
        ("True", "ResourceExhausted", later),
    ]


def test_a_pass_that_ends_early_leaves_what_it_does_not_speak_of() -> None:
    status, _ = settled()
    early = report(generation=2, ruling=Ruling(Stay(), ScalerReason.TARGET_NOT_FOUND, ScalerReason.TARGET_NOT_FOUND))
    told = reporting.written(status, early, NOON)
    assert [(each.type, each.reason, each.observed_generation) for each in told.conditions] == [
        ("Bound", "TargetNotFound", 2),
        ("Active", "TargetNotFound", 2),
        ("MetricsReady", "Observed", 1),
        ("Blocked", "Ready", 1),
    ]
    assert told.roles == status.roles


def test_an_acknowledged_target_clears_everything_about_the_one_before() -> None:
    first = report(planned(memory=Memory(last_commit=COMMIT)))
    status = reporting.written(ScalerStatus(), first, NOON)
    early = replace(report(generation=2), cleared=True)
    told = reporting.written(status, early, NOON)
    assert [each.type for each in told.conditions] == ["Bound", "Active"]
    assert told.roles == ()
    assert told.last_commit is None
    before = reporting.outline(status, remembering.memory_of(status))
    assert reporting.after(before, early) == reporting.after(reporting.outline(told, Memory()), report(generation=2))


def test_a_role_tells_what_was_read_and_what_came_of_it() -> None:
    status, _ = settled()
    assert status.roles[0].body() == {
        "name": "server",
        "currentReplicas": 2,
        "readyReplicas": 2,
        "signalState": "Fresh",
        "runningRequests": 4,
        "waitingRequests": 1,
        "kvCacheUsage": "500m",
        "rawRecommendedReplicas": 2,
        "constrainedReplicas": 2,
        "reason": "Proportional",
    }


def test_the_binding_tells_the_target_planned_for_and_the_term_that_was_used_last() -> None:
    uid = "uid-t"
    assert reporting.binding(HELD, "chat", uid, None) == BOUND
    watched = Ruling(Watch(), ScalerReason.BOUND, ScalerReason.SHADOW_MODE)
    assert reporting.binding(watched, "chat", uid, None) == BindingStatus(target_uid=uid, target_name="chat")
    assert reporting.binding(watched, "chat", uid, BOUND) == BOUND
    gone = Ruling(Stay(), ScalerReason.TARGET_NOT_FOUND, ScalerReason.TARGET_NOT_FOUND)
    assert reporting.binding(gone, "chat", "", BOUND) == BOUND
    let_go = Ruling(Release(4), ScalerReason.SUSPENDED, ScalerReason.SUSPENDED)
    assert reporting.binding(let_go, "chat", uid, None) == BindingStatus(target_uid=uid, target_name="chat", term=4)
    taken_on = Ruling(Acquire(1), ScalerReason.BOUND, ScalerReason.ACTIVE, acknowledged=True)
    assert reporting.binding(taken_on, "chat", "uid-new", BOUND) is None


@pytest.mark.parametrize("condition", list(ScalerCondition))
def test_every_reason_stands_beside_a_status_that_it_may_stand_beside(condition: ScalerCondition) -> None:
    for reason in {each for reasons in REASONS[condition].values() for each in reasons}:
        assert reason in REASONS[condition][Said(condition, reason, "").status]


def test_the_sentences_of_bindings() -> None:
    other = Binding(scaler_name="night", scaler_uid="uid-n", term=4)
    held = reporting.claims(HELD, "chat")
    assert [each.message for each in held] == [
        "this scaler owns the counts of ModelDeployment chat under term 3",
        "counts of ModelDeployment chat are committed under term 3",
    ]
    shadow = reporting.claims(Ruling(Watch(), ScalerReason.BOUND, ScalerReason.SHADOW_MODE), "chat")
    assert [each.message for each in shadow] == [
        "ModelDeployment chat is there; Shadow plans for it without owning it",
        "spec.mode is Shadow: recommendations are told here, and no count is written",
    ]
    taken = Ruling(Stay(), ScalerReason.ALREADY_BOUND, ScalerReason.ALREADY_BOUND, by=other)
    told = "the ModelDeploymentScaler night owns ModelDeployment chat under term 4; hint: suspend or delete night, "
    assert {each.message for each in reporting.claims(taken, "chat")} == {f"{told}which releases it"}


def test_an_orphaned_binding_names_the_way_out() -> None:
    gone = Binding(scaler_name="night", scaler_uid="uid-n", term=4)
    ruling = Ruling(Stay(), ScalerReason.ALREADY_BOUND, ScalerReason.ALREADY_BOUND, by=gone)
    assert reporting.claims(ruling, "chat", orphaned=True)[0].message == (
        "ModelDeployment chat carries a binding of the ModelDeploymentScaler night under term 4, which is there no "
        "more; hint: take it away, and change nothing else: kubectl annotate modeldeployment chat "
        "modeldeployment.gpustack.ai/scaler-binding-"
    )
