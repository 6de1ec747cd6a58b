"""A scaler's spec as planning reads it: every default in place, nothing optional that has one, nothing to look up."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from modeldeployment.api import Quantity
from modeldeployment.api.algorithms import Metric
from modeldeployment.api.scaler import RebalancePolicy, StepPolicy


@dataclass(frozen=True, slots=True)
class Bounds:
    """Fewest and most replicas of a role."""

    minimum: int
    maximum: int


@dataclass(frozen=True, slots=True)
class Band:
    """How the replicas of two roles relate; what is None does not bind."""

    numerator: str
    denominator: str
    target: Quantity | None = None
    low: Quantity | None = None
    high: Quantity | None = None


@dataclass(frozen=True, slots=True)
class Proportional:
    """One measurement over a target per ready replica."""

    metric: Metric
    tolerance: Quantity
    targets: Mapping[str, Quantity]
    """By role; a scaled role that is not there is coupled to one that is."""


@dataclass(frozen=True, slots=True)
class Token:
    """Token rates over two windows. What is None was not declared: no role of that kind is scaled by itself."""

    prefill: Quantity | None
    decode: Quantity | None
    server: Quantity | None
    """Tokens per second of one replica, by kind."""
    stable_seconds: int
    panic_seconds: int
    panic_threshold: Quantity
    ttft_milliseconds: Quantity
    itl_milliseconds: Quantity


@dataclass(frozen=True, slots=True)
class Predictive:
    """A forecast that never recommends less than token rates do."""

    token: Token
    horizon_seconds: int
    prefill: Quantity | None
    decode: Quantity | None
    server: Quantity | None
    """Tokens per second that one replica is planned with, by kind."""
    q_level: Quantity
    q_trend: Quantity
    noise: Quantity
    min_points: int


Algorithm: TypeAlias = Proportional | Token | Predictive


@dataclass(frozen=True, slots=True)
class Up:
    """Pacing of growth."""

    window_seconds: int
    """0: growth waits for nothing."""
    replicas: int
    percent: int
    step: StepPolicy | None = None


@dataclass(frozen=True, slots=True)
class Down:
    """Pacing of shrinkage."""

    window_seconds: int
    cooldown_seconds: int
    grace_seconds: int
    step: StepPolicy | None = None


@dataclass(frozen=True, slots=True)
class Policy:
    """What a scaler is told to do; `of` makes one of a spec."""

    generation: int
    """Of the scaler's spec."""
    interval_seconds: int
    pending_seconds: int
    bounds: Mapping[str, Bounds]
    """By role, in the order of the spec."""
    bands: tuple[Band, ...]
    algorithm: Algorithm
    up: Up
    down: Down
    rebalance: RebalancePolicy
    priority: tuple[str, ...]
