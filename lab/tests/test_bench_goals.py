import pytest
from modeldeployment.lab.bench import goals
from modeldeployment.lab.bench.errors import UnknownMeasurement
from modeldeployment.lab.bench.goals import Measurement, Scenario, chosen, scenarios


def test_the_ids_and_goals_are_those_of_the_contract() -> None:
    assert {each.id: (each.goal, each.unit) for each in goals.MEASUREMENTS} == {
        "create-1000-ratio": (">= 0.80", "ratio"),
        "create-1000-peer-ratio": (">= 1.00", "ratio"),
        "gang-64x16-ratio": (">= 0.75", "ratio"),
        "gang-64x16-peer-ratio": (">= 1.00", "ratio"),
        "teardown-1024-ratio": (">= 0.75", "ratio"),
        "gate-lift-seconds": ("<= 2.00", "s"),
        "set-admission-ratio": (">= 0.90", "ratio"),
        "status-writes-per-replica": ("<= 1.20", "requests"),
        "noop-writes": ("0", "requests"),
        "restart-1000-ratio": ("<= 1.50", "lists"),
        "restart-1000-writes": ("0", "requests"),
        "restart-10000-ratio": ("<= 1.50", "lists"),
        "restart-10000-writes": ("0", "requests"),
        "storm-decision-p99-ms": ("<= 100.00", "ms"),
        "fleet-1000x3-mib": ("<= 1024.00", "MiB"),
        "fleet-1000x3-cores": ("<= 2.00", "cores"),
        "leader-gap-seconds": ("<= 17.00", "s"),
        "leader-double-creates": ("0", "Pods"),
        "idle-200-writes": ("0", "requests"),
        "idle-200-core-share": ("<= 0.01", "cores"),
        "retire-1000-lost-requests": ("0", "requests"),
        "retire-idle-own-seconds": ("<= 3.00", "s"),
        "retire-pass-ms": ("<= 5.00", "ms"),
        "retire-200-core-share": ("<= 0.50", "cores"),
        "store-mib-per-1000-pods": ("<= 5.00", "MiB"),
        "render-65536-seconds": ("<= 1.00", "s"),
        "render-65536-mib": ("<= 200.00", "MiB"),
        "render-pair-ms": ("<= 5.00", "ms"),
        "render-import-ms": ("<= 150.00", "ms"),
        "review-ms": ("<= 1.00", "ms"),
        "review-10000-arguments-growth": ("<= 2.00", "ratio"),
        "webhook-reviews-per-second": (">= 200.00", "reviews/s"),
        "webhook-p99-ms": ("<= 25.00", "ms"),
        "webhook-cpu-ms-per-review": ("<= 2.00", "ms"),
        "scaler-200-core-share": ("<= 0.50", "cores"),
        "scaler-200-lag-p99-seconds": ("<= 15.00", "s"),
        "scaler-1000-shadow-cores": ("<= 1.00", "cores"),
        "plan-3-roles-ms": ("<= 1.00", "ms"),
        "plan-worst-10-roles-ms": ("<= 50.00", "ms"),
        "parser-ratio": (">= 20.00", "ratio"),
    }


@pytest.mark.parametrize(
    ("measurement", "value", "met"),
    [
        (goals.CREATE_RATIO, 0.80, True),
        (goals.CREATE_RATIO, 0.799, False),
        (goals.RESTART_RATIO, 1.5, True),
        (goals.RESTART_RATIO, 1.51, False),
        (goals.RESTART_WRITES, 0, True),
        (goals.RESTART_WRITES, 1, False),
    ],
)
def test_a_goal_is_met_at_its_limit_and_missed_beyond_it(measurement: Measurement, value: float, met: bool) -> None:
    assert measurement.met_by(value) is met


def test_no_choice_is_every_measurement_in_the_order_of_the_contract() -> None:
    assert chosen("") == goals.MEASUREMENTS


def test_chosen_ids_may_have_spaces_and_any_order() -> None:
    assert chosen(" render-65536-seconds, create-1000-ratio,") == (goals.CREATE_RATIO, goals.RENDER_SECONDS)


def test_an_unknown_id_is_refused_with_the_ids_that_exist() -> None:
    with pytest.raises(UnknownMeasurement) as refused:
        chosen("create-1000-ratio,create-2000-ratio")
    assert str(refused.value) == (
        "--only names 'create-2000-ratio', which is not measured; the ids are "
        + ", ".join(each.id for each in goals.MEASUREMENTS)
    )


def test_two_values_of_one_scenario_run_it_once() -> None:
    assert scenarios([goals.RESTART_WRITES, goals.RESTART_RATIO]) == (Scenario.RESTART,)


def test_scenarios_run_in_their_own_order_whatever_was_asked_first() -> None:
    asked = [goals.STORE_MEMORY, goals.CREATE_RATIO, goals.RENDER_SECONDS]
    assert scenarios(asked) == (Scenario.RENDER, Scenario.CREATE, Scenario.STORE)
