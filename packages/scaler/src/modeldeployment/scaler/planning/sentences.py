"""The one sentence of every cause and of every finding, and the way out where somebody can do something.

Sentences are made of codes and numbers, here and nowhere else: conditions, `kubectl md why` and logs say the same.
What a template has in brackets stands where all its numbers are known; otherwise what follows its bar does, if any.
"""

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from modeldeployment.api import Quantity
from modeldeployment.api.scalerconditions import ScalerReason
from modeldeployment.scaler.planning.causes import Cause
from modeldeployment.scaler.planning.observed import Silence
from modeldeployment.scaler.planning.outcome import Finding
from modeldeployment.scaler.planning.trail import Step

_LATENCY: Final = "[the {signal} of {latency} ms|its latency]"

_SENTENCES: Final[Mapping[Cause, str]] = MappingProxyType(
    {
        Cause.WITHIN_TOLERANCE: (
            "[its {metric}|its load] per ready replica[, {load},] is within the tolerance[ of {tolerance}] of its "
            "target[ of {target}]"
        ),
        Cause.LOAD: (
            "[its {metric}|its load][ of {total}] over its target[ of {target} per replica][, with {ready} ready]"
        ),
        Cause.SIGNAL_MISSING: "its engines do not report [{signal}|what the algorithm needs][: {engine} {silence}]",
        Cause.SIGNAL_STALE: "its engines were last read[ at {at},] too long ago to count",
        Cause.NO_READY_REPLICAS: "no replica of it is ready, so nothing can be said per replica",
        Cause.STABLE_RATE: (
            "[{rate} tokens per second|its token rate][ over the last {window} s], at [{capacity}|its capacity] per "
            "replica"
        ),
        Cause.PANIC: (
            "panic: [{rate} tokens per second|its token rate][ over the last {window} s] is at least "
            "[{threshold}|panicThreshold] times what its[ {ready}] ready replicas carry[ at {capacity} each]"
        ),
        Cause.WINDOW_NOT_ESTABLISHED: (
            "its samples [span {span} s of a window of {window} s|do not span its window], and half of it is needed"
        ),
        Cause.LATENCY_ABOVE_TARGET: f"{_LATENCY} is above the target[ of {{target}} ms], so nothing is taken away",
        Cause.LATENCY_FAR_ABOVE_TARGET: (
            f"{_LATENCY} is above 1.2 times the target[ of {{target}} ms], which asks for one more"
        ),
        Cause.LATENCY_MISSING: "[no {signal} was measured|its latency was not measured], so nothing is taken away",
        Cause.LATENCY_LANDING: (
            f"{_LATENCY} is above 1.2 times the target[ of {{target}} ms], and what was added last is not ready "
            f"yet, so no "
            "more is asked for"
        ),
        Cause.FORECAST: (
            "[{rate} tokens per second|the token rate] foretold[ for {horizon} s ahead], at [{capacity}|its "
            "capacity] per "
            "replica"
        ),
        Cause.PREDICTOR_WARMING_UP: (
            "the predictor has [{count} of {needed} observations|too few observations], and token rates decide "
            "meanwhile"
        ),
        Cause.CONSOLIDATION: (
            "one replica less would leave the others[, {remaining} of them,] above 80 % of their capacity[ of "
            "{capacity} each, at {rate} tokens per second], so nothing is taken away"
        ),
        Cause.COUPLED: "it has no recommendation of its own and follows [its ratio to {with}|its ratios]",
        Cause.UNDECLARED: "the spec does not say what one replica of it carries[: {field} is missing]",
        Cause.UP_WINDOW: (
            "[growth waits until recommendations span {window} s, and they span {span} s|growth goes no further "
            "than the "
            "lowest recommendation of its window][ of {window} s, which is {lowest}]"
        ),
        Cause.DOWN_WINDOW: (
            "[shrinking waits until recommendations span {window} s, and they span {span} s|shrinking goes no "
            "further than "
            "the highest recommendation of its window][ of {window} s, which is {highest}]"
        ),
        Cause.MINIMUM: "it has at least [{minimum}, its minReplicas|its minReplicas]",
        Cause.MAXIMUM: "it has at most [{maximum}, its maxReplicas|its maxReplicas]",
        Cause.UP_STEP: "one pass adds at most [{step}|what behavior.scaleUp allows]",
        Cause.DOWN_STEP: "one pass takes at most [{step}|what behavior.scaleDown allows]",
        Cause.COVERAGE_INCOMPLETE: "not every ready replica was read[: {engine} {silence}], so nothing is taken away",
        Cause.ALGORITHM_HOLDS: "the algorithm lets nothing be taken away",
        Cause.RETIREMENT_ACTIVE: (
            "[replica {role}/{ordinal}|a replica] is on its way out[ ({state})], and nothing else is taken away "
            "before it "
            "has left"
        ),
        Cause.ABORT_COOLDOWN: "a retirement was aborted, and nothing is taken away [until {until}|for a while]",
        Cause.DECODE_GRACE: "a Decode role that has just grown keeps what it has [until {until}|for a while]",
        Cause.WORKLOAD_PENDING: (
            "the Workload of [replica {ordinal}|a replica] is not admitted yet, and it grows no further before it is"
        ),
        Cause.COHORT_PENDING: (
            "what was added[ at {since}] is not all admitted yet, and no role grows before it is[; it has until "
            "{until}]"
        ),
        Cause.EXHAUSTED: (
            "its last growth found no quota and was taken back, and it grows no further [until {until}|for a while]"
            "[ (rollbacks in a row: {rollbacks})][; rebalance: {rebalance}]"
        ),
        Cause.DONOR_LEAVING: (
            "it waits for the replica that [role {donor}|another role] gives up for it[: {role}/{ordinal} has not left "
            "yet ({state})]"
        ),
        Cause.RATIO: (
            "[{numerator} per {denominator}|it] is held to its ratio[, at least {low}][, at most {high}]"
            "[, preferably {target}]"
        ),
        Cause.RATIO_INFEASIBLE: (
            "no counts within bounds, steps and guards keep [the ratio of {numerator} to {denominator}|the ratios], so "
            "they stay as they are"
        ),
        Cause.SEARCH_EXHAUSTED: (
            "[{visited} vectors were looked at and none keeps the ratios|no vector that keeps the ratios was "
            "found], and "
            "there are too many to look at all, so the counts stay as they are"
        ),
        Cause.BOUNDS_MISSING: "the scaler has no bounds for it",
        Cause.OUTSIDE_BOUNDS: (
            "[{replicas} replicas are declared, outside the bounds of {minimum} to {maximum}|what is declared is "
            "outside "
            "the bounds]"
        ),
        Cause.OUTSIDE_RATIO: (
            "the declared counts break [the ratio of {numerator} to {denominator}|a ratio][, at least {low}]"
            "[, at most {high}]"
        ),
        Cause.COHORT_TIMED_OUT: (
            "what was added[ at {since}] was not admitted [within {timeout} s|in time], and the counts of before are "
            "restored"
        ),
        Cause.RETIREMENT_ABORTED: (
            "the retirement of [{role}/{ordinal}|a replica] was aborted, and the counts of before are restored"
            "[; nothing is taken away until {until}]"
        ),
        Cause.DONOR_RELEASE: "it gives one replica up for [role {receiver}|another role], whose growth found no quota",
        Cause.RECEIVER_ACQUIRE: "it gets the replica that [role {donor}|another role] gave up",
        Cause.NO_DONOR: "its growth found no quota, and no role can give a replica up for it",
        Cause.DONOR_BLOCKED: "its growth found no quota, and [role {donor}|another role] may not give a replica up now",
    }
)

_WAYS_OUT: Final[Mapping[Cause, str]] = MappingProxyType(
    {
        Cause.SIGNAL_MISSING: "see that its engines serve their metrics at the address their Pods are annotated with",
        Cause.SIGNAL_STALE: "see that the operator reaches the engines' metrics",
        Cause.NO_READY_REPLICAS: "kubectl md why of the deployment says what keeps replicas from being ready",
        Cause.WINDOW_NOT_ESTABLISHED: "wait, the next samples fill it",
        Cause.LATENCY_MISSING: "it is measured while requests are served",
        Cause.UNDECLARED: "give the algorithm a target and a capacity of that kind of role",
        Cause.COVERAGE_INCOMPLETE: (
            "see that the operator reaches every engine; of more than 64 in a role only 64 are read"
        ),
        Cause.ABORT_COOLDOWN: "mend what the aborted retirement says",
        Cause.WORKLOAD_PENDING: "free quota; kubectl md why of the deployment says what its Workload waits for",
        Cause.COHORT_PENDING: "free quota; kubectl md why of the deployment says what its Workload waits for",
        Cause.EXHAUSTED: "free quota for it, or edit the scaler's spec to try at once",
        Cause.DONOR_LEAVING: (
            "kubectl md why of the deployment says what keeps a replica from leaving; rebalance.policy Disabled gives "
            "the donation up"
        ),
        Cause.RATIO_INFEASIBLE: "widen the ratio, the bounds or the steps",
        Cause.SEARCH_EXHAUSTED: "use fewer ratios or smaller steps",
        Cause.BOUNDS_MISSING: "add it to spec.roles with minReplicas and maxReplicas",
        Cause.OUTSIDE_BOUNDS: "change minReplicas or maxReplicas so that they hold what is declared",
        Cause.OUTSIDE_RATIO: "change the ratio so that it holds what is declared, or the counts while nothing is bound",
        Cause.COHORT_TIMED_OUT: "free quota before it grows again",
        Cause.RETIREMENT_ABORTED: "mend what status.retirement.reason of the deployment says",
        Cause.NO_DONOR: (
            "a donor has the same instanceType, more than its minReplicas, and by policy Opposing a recommendation to "
            "shrink"
        ),
        Cause.DONOR_BLOCKED: (
            "bounds, ratios or a guard forbid it, or this episode has used its one donation by priority; an edit of "
            "the scaler's spec begins another"
        ),
    }
)

_REASONS: Final[Mapping[ScalerReason, str]] = MappingProxyType(
    {
        ScalerReason.OBSERVED: "all required role signals are available",
        ScalerReason.READY: "nothing holds a recommendation back",
        ScalerReason.WAITING_FOR_METRICS: "signals that the algorithm needs are missing or incomplete",
        ScalerReason.RESOURCE_EXHAUSTED: "growth found no quota",
        ScalerReason.BOUNDS_CONFLICT: "the bounds do not hold the counts that are declared",
        ScalerReason.RATIO_CONFLICT: "the ratios do not hold the counts that are declared",
        ScalerReason.PACING_BOUNDED: "a step or a guard holds a recommendation back",
        ScalerReason.SCALE_DOWN_ABORTED: "a retirement was aborted",
        ScalerReason.REBALANCE_NOT_APPLICABLE: "no role can give a replica up",
        ScalerReason.REBALANCE_BLOCKED: "no role may give a replica up now",
    }
)

assert set(_SENTENCES) == set(Cause)

_SILENT: Final[Mapping[Silence, str]] = MappingProxyType(
    {
        Silence.NOT_SAYING: "does not say where its numbers are read",
        Silence.UNREACHABLE: "cannot be reached",
        Silence.LATE: "did not answer within [{number}|a few] s",
        Silence.TOO_LARGE: "answered more than [{number}|so many] bytes",
        Silence.REFUSED: "answered with [status {number}|an error]",
        Silence.GARBLED: "says of [{series}|a signal] what cannot be read",
        Silence.REPEATED: "gives [{series}|a series] twice",
        Silence.INCOMPLETE: "does not publish [{series}|what every engine does]",
        Silence.ODD: "says of [{series}|a series] no number that counts",
        Silence.REPLACED: "was replaced while it was read",
        Silence.BEYOND: "is beyond the [{number}|most] that are read",
    }
)
"""What an engine did instead of saying its numbers, after its name."""

assert set(_SILENT) == set(Silence)

_OPTIONAL: Final = re.compile(r"\[([^\]|]*)(?:\|([^\]]*))?\]")
_NAMED: Final = re.compile(r"\{(\w+)\}")
_AMOUNT: Final = re.compile(r"[+-]?[0-9.]+([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]{1,2})?")
_MICRO: Final = 10**6
_UTC: Final = "+00:00"


def of(step: Step) -> str:
    """What a rule did to a role, or kept from it; the role and its counts stand beside it."""
    return cause(step.cause, step.numbers)


def way_out(of_cause: Cause) -> str:
    """What somebody can do about it; empty where nothing has to be done or it ends by itself."""
    return _WAYS_OUT.get(of_cause, "")


def finding(found: Finding) -> str:
    """The message of a condition: whom it is about, the cause, and the way out."""
    told = _REASONS.get(found.reason, found.reason.value) if found.cause is None else cause(found.cause, found.numbers)
    about = f"{'role' if len(found.roles) == 1 else 'roles'} {_listed(found.roles)}: " if found.roles else ""
    way = "" if found.cause is None else way_out(found.cause)
    return f"{about}{told}{f'; hint: {way}' if way else ''}"


def cause(of_cause: Cause, numbers: Mapping[str, int | str]) -> str:
    """The sentence of a cause with what is known of its numbers."""
    known = {name: shown(value) for name, value in numbers.items()}
    if known.get("silence") in _SILENT:
        known["silence"] = _filled(_SILENT[Silence(known["silence"])], known)
    return _filled(_SENTENCES[of_cause], known)


def _filled(template: str, known: Mapping[str, str]) -> str:
    def fragment(found: re.Match[str]) -> str:
        return found[1] if set(_NAMED.findall(found[1])) <= set(known) else found[2] or ""

    return _OPTIONAL.sub(fragment, template).format_map(known)


def _listed(names: Iterable[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def shown(value: int | str) -> str:
    """Amounts as people write them, with three decimals at most; everything else as it is."""
    text = str(value)
    if text.endswith(_UTC):
        return f"{text.removesuffix(_UTC)}Z"
    if not _AMOUNT.fullmatch(text) or not any(each.isdigit() for each in text):
        return text
    try:
        millis = round(Quantity.parse(text).nanos / _MICRO)
    except ValueError:
        return text
    return f"{millis / 1000:.3f}".rstrip("0").rstrip(".")
