"""Why a count is what it is: one word for every rule that can move one or hold one.

`Cause` is what the trail, `kubectl md why` and the journal speak of; `sentences` makes a sentence of each.
"""

from enum import StrEnum


class Stage(StrEnum):
    """The steps of a pass, in their order."""

    ALGORITHM = "algorithm"
    STABILIZATION = "stabilization"
    BOUNDS = "bounds"
    STEPS = "steps"
    GUARDS = "guards"
    RATIOS = "ratios"
    TRANSACTIONS = "transactions"


class Cause(StrEnum):
    """One rule that changed a count, or that kept one from changing; beside it the `numbers` of its step or finding.

    Amounts are quantities, instants are ISO 8601 in UTC, counts and seconds whole numbers.
    """

    # algorithm
    WITHIN_TOLERANCE = "WithinTolerance"
    """metric, total, load, ready, target, tolerance: what all carry, what one ready replica carries, and should."""
    LOAD = "Load"
    """metric, total, load, ready, target, tolerance."""
    SIGNAL_MISSING = "SignalMissing"
    """signal, where one is known: what the algorithm needs and nobody reports. In findings also engine, silence,
    number and series: the first engine that was not read, and why."""
    SIGNAL_STALE = "SignalStale"
    """at: when it was last read."""
    NO_READY_REPLICAS = "NoReadyReplicas"
    STABLE_RATE = "StableRate"
    """rate, capacity, window: tokens per second, what one replica is planned with, seconds."""
    PANIC = "Panic"
    """rate, capacity, window, threshold, ready."""
    WINDOW_NOT_ESTABLISHED = "WindowNotEstablished"
    """window, span: seconds it has, and seconds that samples span."""
    LATENCY_ABOVE_TARGET = "LatencyAboveTarget"
    """signal (TTFT or ITL), latency, target: milliseconds."""
    LATENCY_FAR_ABOVE_TARGET = "LatencyFarAboveTarget"
    """signal, latency, target."""
    LATENCY_MISSING = "LatencyMissing"
    """signal."""
    LATENCY_LANDING = "LatencyLanding"
    """signal, latency, target: far above, and the replicas that should help are on their way."""
    FORECAST = "Forecast"
    """rate, capacity, horizon, level, trend: what is foretold, for how many seconds ahead, and out of what."""
    PREDICTOR_WARMING_UP = "PredictorWarmingUp"
    """count, needed: observations."""
    CONSOLIDATION = "Consolidation"
    """rate, capacity, remaining: replicas that would be left to carry it."""
    COUPLED = "Coupled"
    """with: the role that it follows."""
    UNDECLARED = "Undeclared"
    """field: what the stored spec lacks, so that nothing says what one replica carries."""
    # stabilization
    UP_WINDOW = "UpWindow"
    """window, span, or window, lowest: seconds; the lowest recommendation in it."""
    DOWN_WINDOW = "DownWindow"
    """window, span, or window, highest."""
    # bounds
    MINIMUM = "Minimum"
    """minimum."""
    MAXIMUM = "Maximum"
    """maximum."""
    # steps
    UP_STEP = "UpStep"
    """step: replicas that one pass may add."""
    DOWN_STEP = "DownStep"
    """step: replicas that one pass may take."""
    # guards
    COVERAGE_INCOMPLETE = "CoverageIncomplete"
    """In findings engine, silence, number, series: the first engine that was not read, and why."""
    ALGORITHM_HOLDS = "AlgorithmHolds"
    RETIREMENT_ACTIVE = "RetirementActive"
    """role, ordinal, state."""
    ABORT_COOLDOWN = "AbortCooldown"
    """until."""
    DECODE_GRACE = "DecodeGrace"
    """until."""
    WORKLOAD_PENDING = "WorkloadPending"
    """ordinal: the lowest whose Workload waits."""
    COHORT_PENDING = "CohortPending"
    """since, until: when it was begun, and when its time is over."""
    EXHAUSTED = "Exhausted"
    """until, rollbacks, and in a condition rebalance: how far a move of capacity is."""
    DONOR_LEAVING = "DonorLeaving"
    """donor, and where one has not left yet role, ordinal, state: the replica that is waited for."""
    # ratios
    RATIO = "Ratio"
    """numerator, denominator, and of low, high and target those that the ratio has."""
    RATIO_INFEASIBLE = "RatioInfeasible"
    """numerator, denominator, where one ratio alone is to blame."""
    SEARCH_EXHAUSTED = "SearchExhausted"
    """visited: vectors that were looked at."""
    # before anything is planned
    BOUNDS_MISSING = "BoundsMissing"
    OUTSIDE_BOUNDS = "OutsideBounds"
    """replicas, minimum, maximum."""
    OUTSIDE_RATIO = "OutsideRatio"
    """numerator, denominator, and of low and high those that the ratio has."""
    # transactions
    COHORT_TIMED_OUT = "CohortTimedOut"
    """since, timeout: when it was begun, and the seconds it had."""
    RETIREMENT_ABORTED = "RetirementAborted"
    """role, ordinal, until: the replica that stays, and when the cooldown is over."""
    DONOR_RELEASE = "DonorRelease"
    """receiver."""
    RECEIVER_ACQUIRE = "ReceiverAcquire"
    """donor."""
    NO_DONOR = "NoDonor"
    DONOR_BLOCKED = "DonorBlocked"
    """donor."""
