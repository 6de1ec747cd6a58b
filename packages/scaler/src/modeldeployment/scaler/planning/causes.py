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
    """One rule that changed a count, or that kept one from changing."""

    # algorithm
    WITHIN_TOLERANCE = "WithinTolerance"
    LOAD = "Load"
    SIGNAL_MISSING = "SignalMissing"
    SIGNAL_STALE = "SignalStale"
    NO_READY_REPLICAS = "NoReadyReplicas"
    STABLE_RATE = "StableRate"
    PANIC = "Panic"
    WINDOW_NOT_ESTABLISHED = "WindowNotEstablished"
    LATENCY_ABOVE_TARGET = "LatencyAboveTarget"
    LATENCY_FAR_ABOVE_TARGET = "LatencyFarAboveTarget"
    LATENCY_MISSING = "LatencyMissing"
    LATENCY_LANDING = "LatencyLanding"
    FORECAST = "Forecast"
    PREDICTOR_WARMING_UP = "PredictorWarmingUp"
    CONSOLIDATION = "Consolidation"
    COUPLED = "Coupled"
    UNDECLARED = "Undeclared"
    """Nothing says what one replica carries: the stored spec lacks what its algorithm needs."""
    # stabilization
    UP_WINDOW = "UpWindow"
    DOWN_WINDOW = "DownWindow"
    # bounds
    MINIMUM = "Minimum"
    MAXIMUM = "Maximum"
    # steps
    UP_STEP = "UpStep"
    DOWN_STEP = "DownStep"
    # guards
    COVERAGE_INCOMPLETE = "CoverageIncomplete"
    ALGORITHM_HOLDS = "AlgorithmHolds"
    RETIREMENT_ACTIVE = "RetirementActive"
    ABORT_COOLDOWN = "AbortCooldown"
    DECODE_GRACE = "DecodeGrace"
    WORKLOAD_PENDING = "WorkloadPending"
    COHORT_PENDING = "CohortPending"
    EXHAUSTED = "Exhausted"
    # ratios
    RATIO = "Ratio"
    RATIO_INFEASIBLE = "RatioInfeasible"
    SEARCH_EXHAUSTED = "SearchExhausted"
    # before anything is planned
    BOUNDS_MISSING = "BoundsMissing"
    OUTSIDE_BOUNDS = "OutsideBounds"
    OUTSIDE_RATIO = "OutsideRatio"
    # transactions
    COHORT_TIMED_OUT = "CohortTimedOut"
    RETIREMENT_ABORTED = "RetirementAborted"
    DONOR_RELEASE = "DonorRelease"
    RECEIVER_ACQUIRE = "ReceiverAcquire"
    NO_DONOR = "NoDonor"
    DONOR_BLOCKED = "DonorBlocked"
