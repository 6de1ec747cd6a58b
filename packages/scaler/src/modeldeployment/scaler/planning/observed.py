"""What one pass sees: what the engines of each role report, and how the deployment that is planned for stands.

Sources: spec 3 §Engine signals and §Role observations, facts scaler §2.
"""

from enum import StrEnum

from modeldeployment.api import Quantity, RetirementState, RoleKind
from modeldeployment.api.scalerstatus import SignalState
from modeldeployment.scaler.planning.plain import Count, Instant, Plain, Vector


class Silence(StrEnum):
    """Why nothing was read of an engine."""

    NOT_SAYING = "NotSaying"
    """Its Pod does not say where its numbers are read, or has no address."""
    UNREACHABLE = "Unreachable"
    LATE = "Late"
    """Its answer was not there within so many seconds."""
    TOO_LARGE = "TooLarge"
    """Its answer had more than so many bytes."""
    REFUSED = "Refused"
    """It answered with this status."""
    GARBLED = "Garbled"
    """What it says of a signal cannot be read."""
    REPEATED = "Repeated"
    """It gives one series twice."""
    INCOMPLETE = "Incomplete"
    """It does not publish a series that every engine of its kind does (decisions D10)."""
    ODD = "Odd"
    """A number of a series is none that can be counted: not finite, below zero, or beyond counting."""
    REPLACED = "Replaced"
    """Its Pod or its container was another one after it was read."""
    BEYOND = "Beyond"
    """So many engines of its role are read, and no more."""


class Unread(Plain, frozen=True, kw_only=True):
    """An engine of which nothing was read, and why."""

    pod: str
    silence: Silence
    number: int | None = None
    """What the reason speaks of: a status, seconds, bytes, engines."""
    series: str = ""
    """The series that the reason speaks of."""


class RoleReading(Plain, frozen=True, kw_only=True):
    """What the engines of one role report; what is None was not measured, which is never a zero."""

    state: SignalState
    ready: Count
    """Replicas whose answering member is ready, read or not: what capacity is reckoned with."""
    complete: bool = False
    """Whether every one of them was read, and what some say of tokens all do; where not, nothing shrinks."""
    read: Count = 0
    """Engines that were read."""
    rated: Count = 0
    """Those of them that were read before in the same container, so that their counters say something."""
    unread: tuple[Unread, ...] = ()
    """Engines that were not read, by name, the first few of them."""
    at: Instant | None = None
    """When the sample was taken; the same instant in two passes is the same sample."""
    running_requests: Count | None = None
    waiting_requests: Count | None = None
    """Of a Decode role, with those that wait for a transfer."""
    prompt_tokens_per_second: Quantity | None = None
    """Prompt tokens that no prefix cache answered, over the time since the sample before."""
    generation_tokens_per_second: Quantity | None = None
    kv_cache_usage: Quantity | None = None
    """Mean of the used fractions."""
    ttft_milliseconds: Quantity | None = None
    """95th percentile of the time to the first token since the sample before; None where nobody was served one."""
    itl_milliseconds: Quantity | None = None
    """95th percentile of the time between tokens since the sample before."""


class Reading(Plain, frozen=True, kw_only=True):
    """What was read of every scaled role, by name; a role that is not there was not read."""

    roles: dict[str, RoleReading]


class Seat(Plain, frozen=True, kw_only=True):
    """One replica of a role: declared, or still there."""

    ordinal: Count
    admitted: bool = False
    """Whether its Workload is admitted, with every check answered."""
    waiting: bool = False
    """Whether it has a Workload that is not admitted."""
    ready: bool = False


class TargetRole(Plain, frozen=True, kw_only=True):
    """One role of the deployment as it is declared and as it stands."""

    name: str
    kind: RoleKind
    replicas: Count
    """Declared."""
    instance_type: str = ""
    seats: tuple[Seat, ...] = ()
    """By ordinal; a replica that has left with its Workload is not among them."""


class RetirementSeen(Plain, frozen=True, kw_only=True):
    """The retirement that the deployment's status tells of: under way, or aborted."""

    role: str
    ordinal: Count
    state: RetirementState


class Target(Plain, frozen=True, kw_only=True):
    """The deployment that is planned for."""

    name: str
    uid: str
    generation: Count
    roles: tuple[TargetRole, ...]
    retirement: RetirementSeen | None = None

    @property
    def vector(self) -> Vector:
        """The declared counts."""
        return {role.name: role.replicas for role in self.roles}

    def role(self, name: str) -> TargetRole | None:
        """Answer a role by name; None where the deployment has none of it."""
        return next((role for role in self.roles if role.name == name), None)
