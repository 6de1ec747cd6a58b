"""Warnings about scalers whose numbers will surprise."""

from typing import Any

import pytest
from lint_worlds import cautions, warned
from modeldeployment.admission import telling
from modeldeployment.admission.examples import GONE, SCALER, Change, changed
from modeldeployment.admission.lints.cautioning import LONGEST
from modeldeployment.admission.lints.scaling import zeros_stored

BLOCK = "spec.algorithm.tokenThroughput"
PREDICTIVE: Change = {
    "spec.algorithm": {
        "type": "Predictive",
        "predictive": {
            "tokenThroughput": {"serverTargetTokensPerSecond": "2000"},
            "serverTokenCapacityPerReplica": "2000",
            "measurementNoise": "40000",
        },
    }
}


def told(changes: Change, **more: Any) -> list[tuple[str, str]]:
    return warned(changes, scaler=True, **more)


@pytest.mark.parametrize(("name", "default"), [("maxStepReplicas", "4"), ("maxStepPercent", "100")])
def test_a_zero_step_is_told_the_default_it_is_stored_as(name: str, default: str) -> None:
    field = f"spec.behavior.scaleUp.{name}"
    (caution,) = cautions({field: 0}, scaler=True)
    assert (caution.code, caution.field) == ("MDW51", field)
    assert f"default, {default}" in caution.why


def test_the_half_that_stores_the_default_can_tell_it_too() -> None:
    submitted = changed(SCALER, {"spec.behavior.scaleUp.maxStepPercent": 0})
    assert [each.field for each in zeros_stored(submitted)] == ["spec.behavior.scaleUp.maxStepPercent"]
    assert list(zeros_stored({"spec": {"behavior": ["no", "such", "shape"]}})) == []


@pytest.mark.parametrize(
    ("name", "default"),
    [
        ("stabilizationWindowSeconds", "300"),
        ("cooldownAfterAbortSeconds", "300"),
        ("decodePostScaleUpGraceSeconds", "120"),
    ],
)
def test_a_zero_guard_is_told_the_default_it_is_read_as(name: str, default: str) -> None:
    field = f"spec.behavior.scaleDown.{name}"
    (caution,) = cautions({field: 0}, scaler=True)
    assert (caution.code, caution.field) == ("MDW52", field)
    assert f"default, {default}" in caution.why


@pytest.mark.parametrize(
    ("name", "value", "default"), [("qLevel", "0", "1"), ("qTrend", "-1", "0.1"), ("measurementNoise", 0, "10")]
)
def test_a_noise_that_is_not_positive_is_told_the_default_it_is_read_as(name: str, value: object, default: str) -> None:
    field = f"spec.algorithm.predictive.{name}"
    (caution,) = cautions({**PREDICTIVE, field: value}, scaler=True)
    assert (caution.code, caution.field) == ("MDW52", field)
    assert f"default, {default}" in caution.why


def test_windows_are_compared_in_the_nested_block_too() -> None:
    nested = "spec.algorithm.predictive.tokenThroughput"
    assert told({**PREDICTIVE, f"{nested}.panicWindowSeconds": 200}) == [("MDW53", f"{nested}.panicWindowSeconds")]
    assert told({**PREDICTIVE, f"{nested}.panicThreshold": "0.9"}) == [("MDW54", f"{nested}.panicThreshold")]


def test_a_stable_window_as_short_as_the_default_panic_window_is_told() -> None:
    assert told({f"{BLOCK}.stableWindowSeconds": 60}) == [("MDW53", f"{BLOCK}.panicWindowSeconds")]


@pytest.mark.parametrize(
    ("low", "high", "field"),
    [
        (1, 3, "spec.roles[0].maxReplicas"),
        (5, 9, "spec.roles[0].minReplicas"),
        (4, 4, None),
        (1, 4, None),
        (4, 64, None),
    ],
)
def test_bounds_are_held_against_the_current_count(low: int, high: int, field: str | None) -> None:
    bounds = {"spec.roles[0].minReplicas": low, "spec.roles[0].maxReplicas": high}
    assert told(bounds) == ([("MDW55", field)] if field else [])


def test_a_scaler_may_come_before_its_target() -> None:
    assert told({"spec.targetRef.name": "later", "spec.roles[0].minReplicas": 9}) == []


EPD: Change = {
    "spec.targetRef.name": "qwen-epd",
    "spec.roles": [{"name": name, "maxReplicas": 9} for name in ("encode", "prefill", "decode")],
    "spec.ratios": [{"numeratorRole": "encode", "denominatorRole": "prefill", "target": "1"}],
    BLOCK: {"prefillTargetTokensPerSecond": "2000", "decodeTargetTokensPerSecond": "800"},
}


@pytest.mark.parametrize(
    ("band", "bound"),
    [
        ({"min": "1.5", "target": "2"}, "min"),
        ({"max": "0.5", "target": "0.4"}, "max"),
        ({"min": "1", "max": "1", "target": "1"}, None),
        ({"target": "3"}, None),
    ],
)
def test_ratio_bands_are_held_against_the_current_counts(band: dict[str, str], bound: str | None) -> None:
    changes = {f"spec.ratios[0].{name}": value for name, value in band.items()}
    assert told({**EPD, **changes}) == ([("MDW56", f"spec.ratios[0].{bound}")] if bound else [])


def test_a_third_written_with_nine_digits_holds_a_third() -> None:
    third = {"spec.ratios[0].min": "0.333333333", "spec.ratios[0].max": "0.333333333", "spec.ratios[0].target": GONE}
    one_to_three = {"qwen-epd": {"spec.roles[0].replicas": 1, "spec.roles[1].replicas": 3}}
    assert told({**EPD, **third}, known=one_to_three) == []


def test_every_role_of_the_target_without_bounds_is_named() -> None:
    (caution,) = cautions(
        {
            **EPD,
            "spec.roles": [{"name": "prefill", "maxReplicas": 9}],
            "spec.ratios": GONE,
            BLOCK: {"prefillTargetTokensPerSecond": "2000"},
        },
        scaler=True,
    )
    assert (caution.code, caution.field) == ("MDW58", "spec.roles")
    assert "encode, decode" in caution.why


def test_scaler_warnings_stay_whole_with_the_longest_names_there_are() -> None:
    long = {"spec.roles[0].name": "p" * 63, "spec.roles[1].name": "q" * 63}
    known = {
        "qwen-epd": {"spec.roles[1].name": "p" * 63, "spec.roles[2].name": "q" * 63, "spec.roles[0].name": "r" * 63}
    }
    scaled = cautions(
        {
            **EPD,
            "spec.roles": [
                {"name": "p" * 63, "minReplicas": 3, "maxReplicas": 9},
                {"name": "q" * 63, "maxReplicas": 1},
            ],
            "spec.ratios": [{"numeratorRole": "p" * 63, "denominatorRole": "q" * 63, "min": "1.123456789"}],
            **long,
        },
        scaler=True,
        known=known,
    )
    assert [each.code for each in scaled] == ["MDW58", "MDW55", "MDW55", "MDW56"]
    assert max(len(telling.caution(each)) for each in scaled) <= LONGEST


@pytest.mark.parametrize(
    ("noise", "told_of"), [(GONE, True), ("10", True), ("399999m", True), ("400", False), ("1e9", False)]
)
def test_a_noise_is_held_against_what_a_replica_serves(noise: object, told_of: bool) -> None:
    field = "spec.algorithm.predictive.measurementNoise"
    assert told({**PREDICTIVE, field: noise}) == ([("MDW60", field)] if told_of else [])


def test_a_noise_that_says_too_little_is_told_with_one_to_start_from() -> None:
    capacity = "spec.algorithm.predictive.serverTokenCapacityPerReplica"
    noise = "spec.algorithm.predictive.measurementNoise"
    (caution,) = cautions({**PREDICTIVE, capacity: "8k", noise: GONE}, scaler=True)
    assert caution.why == (
        "a variance of 10 (tokens/s)² is next to nothing beside 8000 per replica: every wiggle is carried 300 s on as "
        "a trend"
    )
    assert caution.way_out == 'start from "640000", and back-test (kubectl md backtest)'


def test_replicas_that_serve_little_need_little_noise() -> None:
    capacity = "spec.algorithm.predictive.serverTokenCapacityPerReplica"
    assert told({**PREDICTIVE, capacity: "316", "spec.algorithm.predictive.measurementNoise": GONE}) == []
