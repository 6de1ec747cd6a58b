"""How fast groups are admitted through our check, beside a loop that asks nothing, and beside no check at all.

Source: facts peers-measured §6; decisions D26.
"""

import contextlib
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from modeldeployment.api import kueue
from modeldeployment.api.modeldeployment import ModelDeployment
from modeldeployment.kube import Client, load
from modeldeployment.lab.bench import accounts, audits, goals, manifests
from modeldeployment.lab.bench.accounts import Account
from modeldeployment.lab.bench.arrivals import until_count
from modeldeployment.lab.bench.clearing import clear
from modeldeployment.lab.bench.errors import Unexpected
from modeldeployment.lab.bench.figures import Rounds
from modeldeployment.lab.bench.operating import operator
from modeldeployment.lab.bench.queueing import LOOP_CHECK, Loop, checked, following, install_loop_check
from modeldeployment.lab.bench.rows import Value
from modeldeployment.lab.bench.settling import until_quiet
from modeldeployment.lab.bench.telling import Tell
from modeldeployment.lab.bench.wire import Connection, connections, post_all
from modeldeployment.lab.bench.worlds import DEPLOYED, NAMESPACE, OPERATOR, PODS, SERVICES, STANDBY, WORKLOADS, World
from modeldeployment.render import Facts, render

ROLES: Final = ("first", "second")
_LOOP: Final = "bench-loop"
_SECONDS: Final = 300.0


class Answerer(StrEnum):
    """Who answers the check of a round."""

    NOBODY = "no check"
    LOOP = "minimal loop"
    OPERATOR = "operator"


@dataclass(frozen=True, slots=True)
class Round:
    """Groups admitted a second; until the last was, processor seconds by process and requests of who answers."""

    who: Answerer
    rate: float
    used: dict[str, float]
    asked: dict[tuple[str, str], int]

    def __str__(self) -> str:
        return (
            f"{self.who}: {self.rate:.1f} groups/s admitted; CPU s: {accounts.told(self.used)}; "
            f"requests: {audits.told(self.asked)}"
        )


async def measure(world: World, sets: int, tell: Tell) -> tuple[Value, ...]:
    """Admit sets of two groups of one Pod each, in rounds; the loop and the operator twice. Raises BenchError.

    An API server that gets slower from round to round is neither's advantage: the loop goes first and last.
    The queue is held while Pods and Workloads are made, by whomever, and the clock starts when it is opened; so no
    creation is in the number, but everything that the operator does meanwhile, status and labels included. The loop
    is a service account like the operator, so that requests of both are authorized and audited alike, and in every
    round the same Services select the Pods, so that the endpoints that Kubernetes writes for them are no difference.
    """
    await install_loop_check(world.client)
    order = (Answerer.NOBODY, Answerer.LOOP, Answerer.OPERATOR, Answerer.OPERATOR, Answerer.LOOP)
    rounds: list[Round] = []
    for turn, who in enumerate(order):
        rounds.append(await _round(world, who, turn, sets))
        tell(str(rounds[-1]))
    rates = {who: Rounds(tuple(each.rate for each in rounds if each.who is who)).median for who in Answerer}
    told = ", ".join(f"{who} {rate:.1f}/s" for who, rate in rates.items())
    spent = {each.who: sum(each.used.values()) for each in rounds}
    against = (
        f"{len(ROLES) * sets} groups in {sets} sets: {told}; to no check: operator "
        f"{rates[Answerer.OPERATOR] / rates[Answerer.NOBODY]:.2f}, loop "
        f"{rates[Answerer.LOOP] / rates[Answerer.NOBODY]:.2f}; CPU s: "
        + ", ".join(f"{who} {seconds:.0f}" for who, seconds in spent.items())
    )
    return (Value(goals.SET_ADMISSION, rates[Answerer.OPERATOR] / rates[Answerer.LOOP], against),)


async def _round(world: World, who: Answerer, turn: int, sets: int) -> Round:
    names = [f"set-{turn}-{number}" for number in range(sets)]
    groups = len(ROLES) * sets
    audit = world.audit(OPERATOR if who is Answerer.OPERATOR else STANDBY)
    async with contextlib.AsyncExitStack() as stack:
        loop = Loop(await stack.enter_async_context(Client(load(world.standby_kubeconfig), field_manager=_LOOP)))
        (sender, *senders) = await stack.enter_async_context(connections(world.driver, 9))
        await world.hold(held=True)
        pids = await stack.enter_async_context(_made(world, who, names, sender, senders))
        await until_count(world.driver, WORKLOADS, groups, _SECONDS)
        listeners = (loop.change,) if who is Answerer.LOOP else ()
        seen = await stack.enter_async_context(following(world, *listeners))
        audit.since_last()
        with Account({**world.processes(), **pids}) as account:
            began = time.perf_counter()
            await world.hold(held=False)
            await seen.until(lambda: len(seen.admitted) >= groups, _SECONDS, f"admitting {groups} groups")
            seconds = max(seen.admitted.values()) - began
        asked = audits.besides_watches_and_leases(audit.since_last())
    await clear(world)
    return Round(who, groups / seconds, dict(account.used), asked)


@contextlib.asynccontextmanager
async def _made(
    world: World, who: Answerer, names: list[str], sender: Connection, senders: list[Connection]
) -> AsyncIterator[dict[str, int]]:
    """Make deployments and their Pods, held, in a queue that asks who is to answer; yields the operator's process."""
    bodies = [
        manifests.deployment(name, NAMESPACE, world.provision.instance_type, replicas=1, roles=ROLES) for name in names
    ]
    if who is Answerer.OPERATOR:
        audit = world.audit()
        async with operator(world) as running, checked(world, kueue.JOINT_CHECK):
            await running.until_ready()
            await post_all([sender], DEPLOYED, map(manifests.compact, bodies))
            await until_count(world.driver, PODS, len(ROLES) * len(names), _SECONDS)
            await until_quiet(audit)
            yield {"operator": running.process.pid}
        return
    async with checked(world, LOOP_CHECK if who is Answerer.LOOP else ""):
        known = await world.instance_type()
        pods: list[bytes] = []
        services: list[bytes] = []
        for body in bodies:
            status, stored = await sender.call("POST", DEPLOYED, manifests.compact(body))
            if status != 201:
                raise Unexpected(f"a deployment was not created: {stored[:300].decode(errors='replace')}")
            made = render(ModelDeployment.model_validate_json(stored), Facts({known.metadata.name: known}))
            pods += [body for role in made.roles for body in manifests.bodies(role)]
            services += map(manifests.compact, made.services)
        await post_all(senders, SERVICES, services)
        await post_all(senders, PODS, pods)
        await until_quiet(world.audit())
        yield {}
