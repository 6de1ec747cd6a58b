"""Scalers whose forecast will surprise."""

from collections.abc import Iterator
from typing import Any, Final

from modeldeployment.admission.examples import Change, Example
from modeldeployment.admission.lints.cautioning import lint
from modeldeployment.admission.rule import Row
from modeldeployment.admission.subjects import ScalerReview
from modeldeployment.admission.verdict import Caution

_NOISE: Final = "spec.algorithm.predictive.measurementNoise"
_NANO: Final = 10**9
_HUNDRED: Final = 100
"""A noise says too little where what one replica serves is more than so many times its standard deviation."""

_FORECAST: Final[Change] = {
    "spec.algorithm": {
        "type": "Predictive",
        "predictive": {
            "tokenThroughput": {"serverTargetTokensPerSecond": "2000"},
            "serverTokenCapacityPerReplica": "2000",
        },
    }
}


@lint(
    trigger=Example(_FORECAST, scaler=True),
    near_miss=Example({**_FORECAST, _NOISE: "400"}, scaler=True),
)
def noise_next_to_nothing(review: ScalerReview) -> Iterator[Caution]:
    """MDW60 | spec.algorithm.predictive.measurementNoise | Next to nothing beside the rates, it over-provisions.

    It is a variance, in (tokens/s)²: the default of 10 stands for readings that are off by 3 tokens per second. Where
    that is less than a hundredth of what one replica serves, the filter takes every wiggle of real traffic for a trend
    and carries it `horizonSeconds` on. On three recorded traces the default took three to ten times the replicas of the
    noise advised here, and served two of them no better.

    Way out: the square of a tenth of what one replica serves, to begin with; then a back-test of your own traffic
    (`kubectl md backtest`), or `Shadow`, before `Active`.

    Source: spec 3 §Predictive; docs/scaling.md §Back-tests.
    """
    block = review.new.spec.algorithm.predictive
    if block is None or block.measurement_noise.nanos <= 0:  # MDW52 says what that is read as
        return
    capacities = (
        block.prefill_token_capacity_per_replica,
        block.decode_token_capacity_per_replica,
        block.server_token_capacity_per_replica,
    )
    serves = max((each.nanos for each in capacities if each is not None), default=0)
    if block.measurement_noise.nanos * _NANO * _HUNDRED**2 < serves**2:
        enough = max(1, (serves // (10 * _NANO)) ** 2)
        yield Caution(
            "MDW60",
            _NOISE,
            str(block.measurement_noise),
            why=f"a variance of {block.measurement_noise.nanos / _NANO:g} (tokens/s)² is next to nothing beside "
            f"{serves // _NANO} per replica: every wiggle is carried {block.horizon_seconds} s on as a trend",
            way_out=f'start from "{enough}", and back-test (kubectl md backtest)',
        )


LINTS: Final[tuple[Row[Any, Any], ...]] = (noise_next_to_nothing,)
