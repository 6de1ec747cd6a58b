"""The order of the suite, and what scenarios share: one control plane, and a thousand settled Pods."""

import asyncio
import contextlib
import os
from collections.abc import AsyncGenerator, Collection, Sequence

from modeldeployment.lab import toolchain
from modeldeployment.lab.bench import (
    admitting,
    audits,
    creating,
    goals,
    idling,
    leading,
    lifting,
    parsing,
    plans,
    populating,
    rendering,
    restarting,
    retiring,
    reviewing,
    scaling,
    shrinking,
    storing,
    storming,
    tearing,
    webhooks,
    writing,
)
from modeldeployment.lab.bench.goals import Measurement, Scenario, scenarios
from modeldeployment.lab.bench.making import Shape
from modeldeployment.lab.bench.operating import operator
from modeldeployment.lab.bench.rows import Value
from modeldeployment.lab.bench.settling import settled, until_quiet
from modeldeployment.lab.bench.telling import Tell
from modeldeployment.lab.bench.worlds import World, world
from modeldeployment.lab.toolchain.groups import ensure_groups

REPLICAS = 1000
GANGS = 64
GANG_SIZE = 16
DEPLOYMENTS = 200
FLEET_DEPLOYMENTS = 1000
LARGEST = 1024
LAUNCHED = 200
ROLLED = 4
LIFTED = 4
SETS = 100
RETIREMENTS = 1000
SCALERS = 200
SCALER_REPLICAS = 16
SHADOWS = 1000
SHADOW_REPLICAS = 3

_ALONE = frozenset(
    {
        Scenario.RENDER,
        Scenario.REVIEW,
        Scenario.PLAN,
        Scenario.PARSE,
        Scenario.SCALE,
        Scenario.SHADOW,
        Scenario.SHRINK,
        Scenario.STORM,
    }
)
"""What needs no control plane."""
_APART = frozenset({Scenario.WRITES, Scenario.FLEET})
"""What needs one of its own."""


async def run(
    wanted: Sequence[Measurement], scale: float, report: toolchain.Report, tell: Tell
) -> AsyncGenerator[tuple[Value, ...], None]:
    """Yield the values of each scenario as soon as they are measured; `scale` shrinks every count, for development.

    Raises LabError and the client's errors.
    """
    chosen = scenarios(wanted)
    if Scenario.RENDER in chosen:
        tell("rendering")
        yield rendering.measure(_scaled(LARGEST, scale))
    if Scenario.REVIEW in chosen:
        tell("reviewing")
        yield reviewing.measure()
    if Scenario.PLAN in chosen:
        tell("planning")
        yield plans.measure(_scaled(plans.QUESTIONS, scale))
    if Scenario.PARSE in chosen:
        tell("reading numbers")
        yield parsing.measure()
    if Scenario.SCALE in chosen:
        yield await scaling.active(_size(SCALERS, SCALER_REPLICAS, scale), tell)
    if Scenario.SHADOW in chosen:
        yield await scaling.shadow(_size(SHADOWS, SHADOW_REPLICAS, scale), tell)
    if Scenario.STORM in chosen:
        # One change a second and deployment, however many there are: a busier one is made to rest.
        rate, seconds = storming.RATE * scale, _short(storming.SECONDS, scale)
        yield await storming.measure(_scaled(FLEET_DEPLOYMENTS, scale), rate, seconds, tell)
    if Scenario.SHRINK in chosen:
        yield await shrinking.measure(_scaled(LARGEST, scale), _scaled(DEPLOYMENTS, scale), tell)
    if set(chosen) - _ALONE - _APART:
        tell("starting a control plane")
        async with world(report) as started, contextlib.aclosing(_on(started, chosen, scale, report, tell)) as values:
            async for measured in values:
                yield measured
    if Scenario.WRITES in chosen:
        tell("starting a control plane that audits every write")
        async with world(report, audits.whole_policy()) as started:
            idle = _short(writing.IDLE_SECONDS, scale)
            yield await writing.measure(started, _scaled(LAUNCHED, scale), _scaled(ROLLED, scale), idle, tell)

    if Scenario.FLEET in chosen:
        yield await _fleet(_scaled(FLEET_DEPLOYMENTS, scale), _short(restarting.AFTER_SECONDS, scale), report, tell)


async def _on(
    started: World, chosen: Collection[Scenario], scale: float, report: toolchain.Report, tell: Tell
) -> AsyncGenerator[tuple[Value, ...], None]:
    replicas = _scaled(REPLICAS, scale)
    if Scenario.WEBHOOK in chosen:
        yield await webhooks.measure(started, _scaled(webhooks.REVIEWS, scale), tell)
    if Scenario.IDLE in chosen:
        yield await idling.measure(started, _scaled(DEPLOYMENTS, scale), _short(idling.SECONDS, scale), tell)
    if Scenario.CREATE in chosen:
        yield await creating.single(started, replicas, tell)
    if Scenario.GANG in chosen:
        groups = await asyncio.to_thread(ensure_groups, os.environ, report)
        yield await creating.gangs(started, groups, Shape(_scaled(GANGS, scale), GANG_SIZE), tell)
    if Scenario.TEARDOWN in chosen:
        yield await tearing.measure(started, _scaled(LARGEST, scale), tell)
    if Scenario.LEADER in chosen:
        lease = leading.LEASE_SECONDS if scale == 1.0 else 2.0
        yield await leading.measure(started, replicas, lease, tell)
    if Scenario.LIFT in chosen:
        yield await lifting.measure(started, max(2, round(_short(lifting.SETS, scale))), LIFTED, tell)
    if Scenario.SETS in chosen:
        yield await admitting.measure(started, _scaled(SETS, scale), tell)
    if Scenario.RETIRE in chosen:
        yield await retiring.measure(started, _scaled(RETIREMENTS, scale), tell)
    if Scenario.RESTART in chosen or Scenario.STORE in chosen:
        async with settled(started, "settled", deployments=1, replicas=replicas, tell=tell):
            pass
        if Scenario.RESTART in chosen:
            asked = (goals.RESTART_RATIO, goals.RESTART_WRITES)
            yield await restarting.measure(started, replicas, 1, _short(restarting.AFTER_SECONDS, scale), asked, tell)
        if Scenario.STORE in chosen:
            yield await storing.measure(started, tell)


async def _fleet(deployments: int, after: float, report: toolchain.Report, tell: Tell) -> tuple[Value, ...]:
    kept = await populating.database(deployments, report, tell)
    tell("starting etcd and API server over a prepared database")
    async with world(report, restored=kept) as started:
        audit = started.audit()
        async with operator(started) as running:
            # What a newer operator writes otherwise than the one that settled the database is no part of a restart.
            await running.until_passes(deployments, populating.SECONDS)
            await until_quiet(audit)
        pods = deployments * populating.REPLICAS * populating.SIZE
        asked = (goals.FLEET_RESTART_RATIO, goals.FLEET_RESTART_WRITES)
        return await restarting.measure(started, pods, deployments, after, asked, tell)


def _scaled(count: int, scale: float) -> int:
    return max(1, round(count * scale))


def _size(scalers: int, replicas: int, scale: float) -> scaling.Size:
    """Two windows of a few intervals, which do not shrink."""
    return scaling.Size(_scaled(scalers, scale), replicas)


def _short(seconds: float, scale: float) -> float:
    return seconds * min(1.0, 10 * scale)
