"""A back-test for people and for programs: what every contender came to, beside what could have been had."""

import dataclasses
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, Final

from modeldeployment.api import RoleKind
from modeldeployment.api.scaler import ScalerSpec
from modeldeployment.operator.errors import UsageError
from modeldeployment.operator.people import manifests
from modeldeployment.operator.people.printing import count
from modeldeployment.scaler.backtesting import contenders
from modeldeployment.scaler.backtesting.contests import Contest, contest
from modeldeployment.scaler.backtesting.fleets import Fleet, Group
from modeldeployment.scaler.backtesting.traces import Trace
from modeldeployment.scaler.planning import Policy, policy_of

_HUNDRED: Final = 100
_COLUMN: Final = 18


@dataclasses.dataclass(frozen=True, slots=True)
class Wish:
    """The fleet that is imagined, and how the algorithms are set up where no scaler is given."""

    pair: bool
    server: int
    prefill: int
    decode: int
    minimum: int
    maximum: int
    cold: int
    leaving: int
    limit: int
    interval: int
    utilization: Fraction

    def fleet(self) -> Fleet:
        """The fleet: one role that does everything, or a pair."""
        bounds = {"minimum": self.minimum, "maximum": self.maximum}
        groups = (
            (
                Group("prefill", RoleKind.PREFILL, self.prefill, **bounds),
                Group("decode", RoleKind.DECODE, self.decode, **bounds),
            )
            if self.pair
            else (Group("server", RoleKind.SERVER, self.server, **bounds),)
        )
        return Fleet(groups, cold_seconds=self.cold, leaving_seconds=self.leaving, limit_seconds=self.limit)


def run(trace: Trace, wish: Wish, scalers: Mapping[str, ScalerSpec]) -> Contest:
    """Play a trace with the scalers that are given, or with the three algorithms; raises UsageError for other roles."""
    fleet = wish.fleet()
    if not scalers:
        specs = contenders.of(fleet, trace, wish.interval, wish.utilization)
        scalers = {name: ScalerSpec.model_validate(spec) for name, spec in specs.items()}
        return contest(trace, fleet, _policies(scalers), wish.utilization)
    for name, spec in scalers.items():
        wanted, there = [group.name for group in fleet.groups], [role.name for role in spec.roles]
        if sorted(wanted) != sorted(there):
            raise UsageError(
                f"ModelDeploymentScaler {name} scales {', '.join(there)}, and the back-test has {', '.join(wanted)}; "
                "give --roles pair for prefill and decode, --roles server for server"
            )
    policies = _policies(scalers)
    groups = tuple(
        dataclasses.replace(
            group,
            minimum=min(policy.bounds[group.name].minimum for policy in policies.values()),
            maximum=max(policy.bounds[group.name].maximum for policy in policies.values()),
        )
        for group in fleet.groups
    )
    return contest(trace, dataclasses.replace(fleet, groups=groups), policies, wish.utilization)


def scalers(files: list[str]) -> dict[str, ScalerSpec]:
    """The scalers in files, by name; raises UsageError where there is none, or one that cannot be read."""
    from pydantic import ValidationError

    found: dict[str, ScalerSpec] = {}
    for each in manifests.read(files):
        if each.kind != "ModelDeploymentScaler":
            continue
        try:
            found[each.name] = ScalerSpec.model_validate(each.body.get("spec"))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            steps = ("spec", *first["loc"])
            line, column = each.position(steps)
            field = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps).removeprefix(".")
            raise UsageError(f"{each.file}:{line}:{column}: {field}: {first['msg']}") from error
    if not found:
        raise UsageError(f"{', '.join(files)}: there is no ModelDeploymentScaler")
    return found


def lines(told: Contest) -> Iterator[str]:
    """A trace in a line, the fleet in another, and a row for every contender."""
    total, fleet = told.trace.total, told.fleet
    yield (
        f"{told.trace.name}: {len(told.trace.seconds)} s, {count(total.requests, 'request')}, "
        f"{total.prompt} prompt and {total.generation} generated tokens"
    )
    groups = ", ".join(
        f"{group.name} {group.minimum} to {group.maximum} of {group.peak} tokens/s" for group in fleet.groups
    )
    yield f"  {groups}; cold start {fleet.cold_seconds} s, in time within {fleet.limit_seconds} s"
    yield f"  {'':<{_COLUMN}}{'in time':>10}{'replica hours':>16}{'changes':>10}{'most':>7}"
    for name, score in told.scores.items():
        yield (
            f"  {name:<{_COLUMN}}{_percent(score.attainment):>10}{_decimal(score.replica_hours):>16}"
            f"{score.changes:>10}{score.most:>7}"
        )


def table(told: Contest) -> dict[str, Any]:
    """The same for programs, with the vector of every change."""
    total = told.trace.total
    return {
        "trace": told.trace.name,
        "seconds": len(told.trace.seconds),
        "requests": total.requests,
        "promptTokens": total.prompt,
        "generatedTokens": total.generation,
        "coldSeconds": told.fleet.cold_seconds,
        "limitSeconds": told.fleet.limit_seconds,
        "roles": [
            {
                "name": group.name,
                "kind": group.kind.value,
                "tokensPerSecond": group.peak,
                "minReplicas": group.minimum,
                "maxReplicas": group.maximum,
            }
            for group in told.fleet.groups
        ],
        "contenders": [
            {
                "name": name,
                "requestsInTime": score.in_time,
                "attainment": round(float(score.attainment), 6),
                "replicaSeconds": score.replica_seconds,
                "replicaHours": round(float(score.replica_hours), 4),
                "changes": score.changes,
                "most": score.most,
                "vectors": [
                    {"second": each.second, "vector": dict(each.vector)}
                    for before, each in zip((None, *score.passes), score.passes, strict=False)
                    if before is None or before.vector != each.vector
                ],
            }
            for name, score in told.scores.items()
        ],
    }


def _policies(specs: Mapping[str, ScalerSpec]) -> dict[str, Policy]:
    return {name: policy_of(spec, 1) for name, spec in specs.items()}


def _percent(share: Fraction) -> str:
    return f"{_decimal(share * _HUNDRED)} %"


def _decimal(value: Fraction) -> str:
    """Two decimals, rounded down: nothing that is not whole is told as 100."""
    hundredths = int(value * _HUNDRED)
    return f"{hundredths // _HUNDRED}.{hundredths % _HUNDRED:02}"
