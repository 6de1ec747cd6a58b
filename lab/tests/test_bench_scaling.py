"""How the benchmarks of scalers count, and that they run."""

from array import array

import pytest
from modeldeployment.lab.bench import scaling, stubbing
from modeldeployment.lab.bench.goals import SCALER_LAG, SCALER_SHADOW, SCALER_SHARE
from modeldeployment.lab.bench.scaling import Size


def test_a_plan_is_late_by_what_passed_beyond_an_interval_since_the_one_before() -> None:
    second = 1_000_000
    plans = [
        (0, 1 * second),
        (1, 2 * second),
        (0, 16 * second),
        (1, 19 * second),
        (0, 30 * second),
        (1, 64 * second),
        (0, 99 * second),
    ]
    assert scaling.late(plans, begun=10 * second, ended=70 * second, interval=15) == [0.0, 0.0, 2.0, 30.0]


def test_pairs_are_read_as_they_were_written() -> None:
    written = array(stubbing.TYPECODE, [3, 100, 4, 200]).tobytes()
    assert scaling.times(written) == [(3, 100), (4, 200)]


@pytest.mark.parametrize("mode", ["Active", "Shadow"])
async def test_scalers_plan_once_an_interval_over_engines_of_another_process(mode: str) -> None:
    size = Size(scalers=2, replicas=2, interval=5, warm=2, seconds=15)
    measured = scaling.active if mode == "Active" else scaling.shadow
    values = await measured(size, lambda _: None)
    wanted = [SCALER_SHARE, SCALER_LAG] if mode == "Active" else [SCALER_SHADOW]
    assert [value.measurement for value in values] == wanted
    assert all(value.against.startswith(f"2 x 2 replicas every 5 s {mode}; ") for value in values)
    assert values[0].value > 0
