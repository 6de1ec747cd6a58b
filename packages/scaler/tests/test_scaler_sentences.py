"""One file shows every sentence of planning, with its numbers, without them and with its way out.

UPDATE_GOLDEN=1 rewrites it.
"""

import os
from pathlib import Path

import pytest
from modeldeployment.api.scalerconditions import REASONS, ScalerCondition, ScalerReason
from modeldeployment.scaler.planning import sentences
from modeldeployment.scaler.planning.causes import Cause, Stage
from modeldeployment.scaler.planning.observed import Silence
from modeldeployment.scaler.planning.outcome import Finding
from modeldeployment.scaler.planning.trail import Step

GOLDEN = Path(__file__).parent / "golden" / "sentences.txt"

NUMBERS: dict[Cause, dict[str, int | str]] = {
    Cause.WITHIN_TOLERANCE: {
        "metric": "QueueDepth",
        "total": "35",
        "load": "8750m",
        "ready": 4,
        "target": "8",
        "tolerance": "100m",
    },
    Cause.LOAD: {
        "metric": "QueueDepth",
        "total": "40",
        "load": "10",
        "ready": 4,
        "target": "8",
        "tolerance": "100m",
    },
    Cause.SIGNAL_MISSING: {
        "signal": "promptTokensPerSecond",
        "engine": "chat-server-x7k2p",
        "silence": "Refused",
        "number": 500,
    },
    Cause.SIGNAL_STALE: {"at": "2026-11-30T10:00:00Z"},
    Cause.NO_READY_REPLICAS: {},
    Cause.STABLE_RATE: {"rate": "4100500m", "capacity": "2k", "window": 180},
    Cause.PANIC: {"rate": "8k", "capacity": "2k", "window": 60, "threshold": "2", "ready": 2},
    Cause.WINDOW_NOT_ESTABLISHED: {"window": 180, "span": 75},
    Cause.LATENCY_ABOVE_TARGET: {"signal": "TTFT", "latency": "550", "target": "500"},
    Cause.LATENCY_FAR_ABOVE_TARGET: {"signal": "ITL", "latency": "60500m", "target": "50"},
    Cause.LATENCY_MISSING: {"signal": "TTFT"},
    Cause.LATENCY_LANDING: {"signal": "TTFT", "latency": "605", "target": "500"},
    Cause.FORECAST: {"rate": "5400", "capacity": "2k", "horizon": 300, "level": "2400", "trend": "10"},
    Cause.PREDICTOR_WARMING_UP: {"count": 4, "needed": 6},
    Cause.CONSOLIDATION: {"rate": "3300", "capacity": "2k", "remaining": 2},
    Cause.COUPLED: {"with": "prefill"},
    Cause.UNDECLARED: {"field": "spec.algorithm.tokenThroughput.prefillTargetTokensPerSecond"},
    Cause.UP_WINDOW: {"window": 60, "lowest": 3},
    Cause.DOWN_WINDOW: {"window": 300, "highest": 5},
    Cause.MINIMUM: {"minimum": 2},
    Cause.MAXIMUM: {"maximum": 16},
    Cause.UP_STEP: {"step": 4},
    Cause.DOWN_STEP: {"step": 1},
    Cause.COVERAGE_INCOMPLETE: {
        "engine": "chat-server-x7k2p",
        "silence": "Odd",
        "series": "vllm:num_requests_running",
    },
    Cause.ALGORITHM_HOLDS: {},
    Cause.RETIREMENT_ACTIVE: {"role": "decode", "ordinal": 2, "state": "Draining"},
    Cause.ABORT_COOLDOWN: {"until": "2026-11-30T10:05:00Z"},
    Cause.DECODE_GRACE: {"until": "2026-11-30T10:02:00Z"},
    Cause.WORKLOAD_PENDING: {"ordinal": 3},
    Cause.COHORT_PENDING: {"since": "2026-11-30T10:00:00Z", "until": "2026-11-30T10:05:00Z"},
    Cause.EXHAUSTED: {
        "until": "2026-11-30T10:10:00+00:00",
        "rollbacks": 2,
        "rebalance": "RebalanceNotApplicable",
    },
    Cause.DONOR_LEAVING: {"donor": "decode", "role": "decode", "ordinal": 2, "state": "Surplus"},
    Cause.RATIO: {"numerator": "prefill", "denominator": "decode", "low": "500m", "high": "2", "target": "1"},
    Cause.RATIO_INFEASIBLE: {"numerator": "prefill", "denominator": "decode"},
    Cause.SEARCH_EXHAUSTED: {"visited": 200000},
    Cause.BOUNDS_MISSING: {},
    Cause.OUTSIDE_BOUNDS: {"replicas": 20, "minimum": 2, "maximum": 16},
    Cause.OUTSIDE_RATIO: {"numerator": "prefill", "denominator": "decode", "low": "500m", "high": "2"},
    Cause.COHORT_TIMED_OUT: {"since": "2026-11-30T10:00:00Z", "timeout": 300},
    Cause.RETIREMENT_ABORTED: {"role": "decode", "ordinal": 2, "until": "2026-11-30T10:05:00Z"},
    Cause.DONOR_RELEASE: {"receiver": "prefill"},
    Cause.RECEIVER_ACQUIRE: {"donor": "decode"},
    Cause.NO_DONOR: {},
    Cause.DONOR_BLOCKED: {"donor": "decode"},
}
"""What stands beside each cause, as `causes` says it."""

WAITING: dict[Cause, dict[str, int | str]] = {
    Cause.UP_WINDOW: {"window": 60, "span": 45},
    Cause.DOWN_WINDOW: {"window": 300, "span": 45},
}
"""The other half of those that have two."""

SILENT = {
    Cause.WITHIN_TOLERANCE: ("total", "ready"),
    Cause.LOAD: ("load", "tolerance"),
    Cause.FORECAST: ("level", "trend"),
}
"""What is for programs: it follows from what is said, or says too much."""

PLANNED = [
    (condition, reason)
    for condition in (ScalerCondition.METRICS_READY, ScalerCondition.BLOCKED)
    for reason in dict.fromkeys(each for reasons in REASONS[condition].values() for each in reasons)
]


def text() -> str:
    """All sentences, each under its word."""
    lines = []
    for cause in Cause:
        said: tuple[dict[str, int | str], ...] = (NUMBERS[cause], WAITING.get(cause, {}), {})
        lines += [cause.value, *(f"    {each}" for each in dict.fromkeys(sentences.cause(cause, one) for one in said))]
        lines += [f"    > {way}"] if (way := sentences.way_out(cause)) else []
    lines.append("")
    for condition, reason in PLANNED:
        found = Finding(condition=condition, reason=reason)
        lines += [f"{condition.value} {reason.value}", f"    {sentences.finding(found)}"]
    return "\n".join(lines) + "\n"


def test_every_sentence_of_planning_reads_as_in_the_golden_file() -> None:
    if os.environ.get("UPDATE_GOLDEN") == "1":
        GOLDEN.write_text(text(), encoding="utf-8")
    assert text() == GOLDEN.read_text(encoding="utf-8")


@pytest.mark.parametrize("cause", Cause)
def test_a_sentence_reads_well_with_every_number_and_with_none(cause: Cause) -> None:
    for numbers in (NUMBERS[cause], {}):
        said = sentences.cause(cause, numbers)
        assert not set("[]{}|") & set(said)
        assert "  " not in said
        assert " ," not in said


@pytest.mark.parametrize("silence", Silence)
def test_why_an_engine_was_not_read_is_said_with_every_number_and_with_none(silence: Silence) -> None:
    bare: dict[str, int | str] = {"engine": "chat-server-x7k2p", "silence": silence.value}
    for numbers in (bare, {**bare, "number": 8, "series": "vllm:num_requests_running"}):
        said = sentences.cause(Cause.COVERAGE_INCOMPLETE, numbers)
        assert said.startswith("not every ready replica was read: chat-server-x7k2p ")
        assert silence.value not in said
        assert not set("[]{}|") & set(said)


def test_every_number_of_a_cause_is_said_unless_it_is_for_programs() -> None:
    for cause, numbers in NUMBERS.items():
        for name in numbers:
            said = sentences.cause(cause, {**numbers, name: "marked"})
            assert ("marked" in said) is (name not in SILENT.get(cause, ())), (cause, name)


def test_a_step_is_told_by_its_cause() -> None:
    step = Step(stage=Stage.STEPS, role="prefill", before=9, after=8, cause=Cause.UP_STEP, numbers={"step": 4})
    assert sentences.of(step) == "one pass adds at most 4"


def test_a_condition_names_its_roles_the_cause_and_the_way_out() -> None:
    found = Finding(
        condition=ScalerCondition.BLOCKED,
        reason=ScalerReason.BOUNDS_CONFLICT,
        cause=Cause.OUTSIDE_BOUNDS,
        roles=("prefill",),
        numbers={"replicas": 20, "minimum": 2, "maximum": 16},
    )
    assert sentences.finding(found) == (
        "role prefill: 20 replicas are declared, outside the bounds of 2 to 16; "
        "hint: change minReplicas or maxReplicas so that they hold what is declared"
    )


def test_a_condition_about_several_roles_lists_them() -> None:
    found = Finding(
        condition=ScalerCondition.METRICS_READY,
        reason=ScalerReason.WAITING_FOR_METRICS,
        roles=("encode", "prefill", "decode"),
    )
    assert sentences.finding(found) == (
        "roles encode, prefill and decode: signals that the algorithm needs are missing or incomplete"
    )


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("2400500m", "2400.5"),
        ("1k", "1000"),
        ("333333333n", "0.333"),
        ("16Gi", "17179869184"),
        ("server-2", "server-2"),
    ],
)
def test_amounts_are_said_as_people_write_them(written: str, said: str) -> None:
    assert sentences.cause(Cause.SIGNAL_MISSING, {"signal": written}) == f"its engines do not report {said}"
