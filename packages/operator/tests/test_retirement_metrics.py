"""What the operator's series say of retirements."""

from modeldeployment.kube import Counters
from modeldeployment.operator import metrics
from modeldeployment.reconcile import SetTally, Tally
from operator_metrics import everything, samples


def told() -> dict[tuple[str, ...], float]:
    """The series of retirements of one replica that left and one that was aborted and retried."""
    return samples(everything(), "modeldeployment_retirement_")


def test_operations_are_told_by_state_and_states_without_one_are_zero() -> None:
    states = {labels[1]: value for labels, value in told().items() if labels[0] == "operations"}
    assert states == {
        "Admitted": 1,
        "Disqualified": 0,
        "Withdrawing": 0,
        "Draining": 0,
        "Deleting": 0,
        "Settling": 0,
        "Aborted": 0,
    }


def test_outcomes_and_aborts_by_state_and_cause_and_retries_are_counted() -> None:
    said = told()
    assert {labels[1]: value for labels, value in said.items() if labels[0] == "outcomes_total"} == {
        "Completed": 1,
        "Aborted": 1,
        "Terminated": 0,
        "Adopted": 0,
    }
    aborts = {frozenset(labels[1:]): value for labels, value in said.items() if labels[0] == "aborts_total"}
    assert aborts == {frozenset({"Draining", "Budget"}): 1}
    assert said["begun_total",] == 3
    assert said["retries_total",] == 1


def test_each_phase_has_its_durations_up_to_the_overall_budget() -> None:
    said = told()
    assert said["phase_seconds_count", "Withdrawal"] == 1
    assert said["phase_seconds_sum", "Withdrawal"] == 7
    assert said["phase_seconds_sum", "Drain"] == 5 + 240
    buckets = [labels for labels in said if labels[0] == "phase_seconds_bucket" and "Drain" in labels]
    assert {label for labels in buckets for label in labels} >= {"30.0", "240.0", "300.0", "+Inf"}
    assert said["seconds_sum", "Completed"] == 21
    assert said["seconds_sum", "Aborted"] == 247


def test_requests_in_flight_at_the_delete_are_told_and_are_none() -> None:
    said = told()
    assert said["deletes_total", "Idle"] == 1
    assert said["deletes_total", "Busy"] == said["deletes_total", "Unread"] == 0
    assert said["requests_at_delete_total",] == 0


def test_a_process_that_has_retired_nothing_has_every_series_at_zero() -> None:
    collector = metrics.OperatorCollector(
        Counters(), Tally(), (Counters(), SetTally()), stores=dict, lists=dict, leading=lambda: False
    )
    said = samples(metrics.exposition(metrics.registry(collector)).decode(), "modeldeployment_retirement_")
    assert {labels[0] for labels in said} >= {"operations", "outcomes_total", "deletes_total", "phase_seconds_count"}
    assert not any(said.values())
