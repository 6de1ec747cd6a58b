"""A stored spec, read as a policy: what is left out or zero is its default, what is missing stays missing.

Nothing here refuses anything: admission may have been away when the spec was stored. What an algorithm then lacks is
None or empty, and the roles that need it hold (`Cause.UNDECLARED`). Source: spec 3 §Resource to §Resource rebalancing,
decisions D43.
"""

from typing import Final

from modeldeployment.api import Quantity, algorithms, scaler
from modeldeployment.api.algorithms import AlgorithmType, Metric
from modeldeployment.scaler.planning.policy import (
    Algorithm,
    Band,
    Bounds,
    Down,
    Policy,
    Predictive,
    Proportional,
    Token,
    Up,
)

_UP: Final = scaler.ScaleUp()
_DOWN: Final = scaler.ScaleDown()


def of(spec: scaler.ScalerSpec, generation: int) -> Policy:
    """Read a spec as a policy of that generation."""
    up, down = spec.behavior.scale_up, spec.behavior.scale_down
    return Policy(
        generation=generation,
        interval_seconds=spec.sampling.interval_seconds,
        pending_seconds=spec.sampling.pending_timeout_seconds,
        bounds={role.name: Bounds(role.min_replicas, role.max_replicas) for role in spec.roles},
        bands=tuple(
            Band(
                numerator=ratio.numerator_role,
                denominator=ratio.denominator_role,
                target=_positive(ratio.target),
                low=_positive(ratio.min),
                high=_positive(ratio.max),
            )
            for ratio in spec.ratios
        ),
        algorithm=_algorithm(spec.algorithm),
        up=Up(
            window_seconds=up.stabilization_window_seconds,
            replicas=up.max_step_replicas or _UP.max_step_replicas,
            percent=up.max_step_percent or _UP.max_step_percent,
            step=up.step_policy,
        ),
        down=Down(
            window_seconds=down.stabilization_window_seconds or _DOWN.stabilization_window_seconds,
            cooldown_seconds=down.cooldown_after_abort_seconds or _DOWN.cooldown_after_abort_seconds,
            grace_seconds=down.decode_post_scale_up_grace_seconds or _DOWN.decode_post_scale_up_grace_seconds,
            step=down.step_policy,
        ),
        rebalance=spec.rebalance.policy,
        priority=spec.rebalance.priority,
    )


def _algorithm(declared: algorithms.Algorithm) -> Algorithm:
    """The algorithm in force; a type that was left out is what admission would have written."""
    match declared.type or _implied(declared):
        case AlgorithmType.PROPORTIONAL:
            return _proportional(declared.proportional)
        case AlgorithmType.TOKEN_THROUGHPUT:
            return _token(declared.token_throughput)
        case AlgorithmType.PREDICTIVE:
            return _predictive(declared.predictive)


def _implied(declared: algorithms.Algorithm) -> AlgorithmType:
    if declared.proportional is not None:
        return AlgorithmType.PROPORTIONAL
    return AlgorithmType.PREDICTIVE if declared.predictive is not None else AlgorithmType.TOKEN_THROUGHPUT


def _proportional(block: algorithms.Proportional | None) -> Proportional:
    if block is None:
        return Proportional(metric=Metric.QUEUE_DEPTH, tolerance=Quantity.parse(algorithms.TOLERANCE), targets={})
    return Proportional(
        metric=block.metric,
        tolerance=_positive(block.tolerance) or Quantity.parse(algorithms.TOLERANCE),
        targets={each.name: each.target for each in block.role_targets if each.target.nanos > 0},
    )


def _token(block: algorithms.TokenThroughput | None) -> Token:
    block = block or algorithms.TokenThroughput()
    return Token(
        prefill=_positive(block.prefill_target_tokens_per_second),
        decode=_positive(block.decode_target_tokens_per_second),
        server=_positive(block.server_target_tokens_per_second),
        stable_seconds=block.stable_window_seconds,
        panic_seconds=block.panic_window_seconds,
        panic_threshold=_positive(block.panic_threshold) or Quantity.parse(algorithms.PANIC_THRESHOLD),
        ttft_milliseconds=_positive(block.ttft_target_milliseconds) or Quantity.parse(algorithms.TTFT_TARGET),
        itl_milliseconds=_positive(block.itl_target_milliseconds) or Quantity.parse(algorithms.ITL_TARGET),
    )


def _predictive(block: algorithms.Predictive | None) -> Predictive:
    block = block or algorithms.Predictive()
    return Predictive(
        token=_token(block.token_throughput),
        horizon_seconds=block.horizon_seconds,
        prefill=_positive(block.prefill_token_capacity_per_replica),
        decode=_positive(block.decode_token_capacity_per_replica),
        server=_positive(block.server_token_capacity_per_replica),
        q_level=_positive(block.q_level) or Quantity.parse(algorithms.Q_LEVEL),
        q_trend=_positive(block.q_trend) or Quantity.parse(algorithms.Q_TREND),
        noise=_positive(block.measurement_noise) or Quantity.parse(algorithms.MEASUREMENT_NOISE),
        min_points=block.min_points,
    )


def _positive(amount: Quantity | None) -> Quantity | None:
    """An amount that says something: one that is not positive was not given."""
    return amount if amount is not None and amount.nanos > 0 else None
