"""How fast the operator makes the Pods of one deployment, beside the raw ceiling and the Job controller.

Source: facts peers-measured §1, §2 and its traps.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from modeldeployment.api.modeldeployment import ModelDeployment
from modeldeployment.lab.bench import accounts, audits, goals, manifests
from modeldeployment.lab.bench.accounts import Account
from modeldeployment.lab.bench.arrivals import Arrivals, arrivals
from modeldeployment.lab.bench.clearing import clear
from modeldeployment.lab.bench.errors import Unexpected
from modeldeployment.lab.bench.figures import Rounds, medians
from modeldeployment.lab.bench.operating import operator
from modeldeployment.lab.bench.rows import Value
from modeldeployment.lab.bench.telling import Tell
from modeldeployment.lab.bench.wire import Connection, connections, post_all
from modeldeployment.lab.bench.worlds import DEPLOYED, JOBS, NAMESPACE, PODS, World
from modeldeployment.render import RoleRendering

CONNECTIONS: Final = 32
ROUNDS: Final = 2
_SECONDS: Final = 300.0


@dataclass(frozen=True, slots=True)
class Round:
    """One thousand Pods made: Pods a second, processor seconds by process, and what the operator asked for.

    Both until the last Pod was seen; `asked` is empty where no operator ran.
    """

    rate: float
    used: Mapping[str, float]
    asked: Mapping[tuple[str, str], int]


async def measure(world: World, replicas: int, tell: Tell) -> tuple[Value, ...]:
    """Warm up, then raw and operator in turn, then the Job; the ClusterQueue is held, so no Pod is ever admitted.

    Every Pod passes Kueue's webhooks and gets its Workload, in every round alike; none reaches the scheduler, so a
    round is taken away in seconds. Raises BenchError.
    """
    await world.hold(held=True)
    raw: list[Round] = []
    ours: list[Round] = []
    tell(f"warming the API server with {replicas} Pods")
    await _raw(world, "warm-up", replicas)
    for turn in range(ROUNDS):
        raw.append(await _raw(world, f"raw-{turn}", replicas))
        tell(_line("raw", raw[-1]))
        ours.append(await _ours(world, f"ours-{turn}", replicas))
        tell(_line("operator", ours[-1]))
    job = await _job(world, "job", replicas)
    tell(_line("Job controller (for the record)", job))
    await world.hold(held=False)
    ceiling, reached = (Rounds(tuple(each.rate for each in rounds)) for rounds in (raw, ours))
    used = accounts.told(medians(each.used for each in ours))
    against = (
        f"operator {reached.median:.0f}/s (best {reached.highest:.0f}), "
        f"raw {ceiling.median:.0f}/s (best {ceiling.highest:.0f}) over {CONNECTIONS} connections, "
        f"Job {job.rate:.0f}/s; CPU s: {used}"
    )
    return (Value(goals.CREATE_RATIO, reached.median / ceiling.median, against),)


async def _raw(world: World, name: str, replicas: int) -> Round:
    """POST the bodies of a deployment that exists, so that its Pods have an owner and are not collected."""
    async with connections(world.driver, CONNECTIONS) as senders:
        role = await _owner(world, senders[0], name, replicas)
        bodies = manifests.bodies(role)
        async with arrivals(world.driver, PODS) as seen:
            with Account(world.processes()) as account:
                began = time.perf_counter()
                await post_all(senders, f"{PODS}?fieldManager=modeldeployment-operator", bodies)
                ended = await seen.until(replicas, _SECONDS)
    await clear(world)
    return Round(replicas / (ended - began), account.used, {})


async def _ours(world: World, name: str, replicas: int) -> Round:
    """Create a deployment while the operator runs and has nothing to do."""
    body = manifests.compact(_deployment(world, name, replicas))
    async with operator(world) as running, connections(world.driver, 1) as (sender,):
        await running.until_ready()
        audit = world.audit()
        async with arrivals(world.driver, PODS) as seen:
            with Account({**world.processes(), "operator": running.process.pid}) as account:
                ended_after = await _posted(sender, DEPLOYED, body, seen, replicas)
        asked = audit.since_last()
    await clear(world)
    return Round(replicas / ended_after, account.used, asked)


async def _job(world: World, name: str, replicas: int) -> Round:
    """Let the built-in Job controller make the same Pods; its client limits are the lab's (1,000/s, burst 2,000)."""
    async with connections(world.driver, 1) as (sender,):
        role = await _owner(world, sender, name, replicas)
        body = manifests.compact(manifests.job(name, NAMESPACE, role))
        async with arrivals(world.driver, PODS) as seen:
            with Account(world.processes()) as account:
                ended_after = await _posted(sender, JOBS, body, seen, replicas)
        await sender.call("DELETE", f"{JOBS}/{name}?propagationPolicy=Background")
    await clear(world)
    return Round(replicas / ended_after, account.used, {})


async def _posted(sender: Connection, path: str, body: bytes, seen: Arrivals, replicas: int) -> float:
    """POST an owner and wait for its last Pod: the seconds between."""
    began = time.perf_counter()
    await post_all([sender], path, [body])
    return await seen.until(replicas, _SECONDS) - began


async def _owner(world: World, sender: Connection, name: str, replicas: int) -> RoleRendering:
    """Create a deployment that no operator looks after and render it as the operator would."""
    status, stored = await sender.call("POST", DEPLOYED, manifests.compact(_deployment(world, name, replicas)))
    if status != 201:
        raise Unexpected(f"deployment {name} was not created: {stored[:300].decode(errors='replace')}")
    return manifests.rendered(ModelDeployment.model_validate_json(stored), await world.instance_type())


def _deployment(world: World, name: str, replicas: int) -> dict[str, object]:
    return manifests.deployment(name, NAMESPACE, world.provision.instance_type, replicas=replicas)


def _line(who: str, made: Round) -> str:
    asked = f"; requests: {audits.told(made.asked)}" if made.asked else ""
    return f"{who}: {made.rate:.0f} Pods/s; CPU s: {accounts.told(made.used)}{asked}"
