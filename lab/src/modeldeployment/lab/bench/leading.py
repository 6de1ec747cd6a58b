"""What a leader's sudden end costs: how long nobody writes, and whether the next one makes anything twice."""

import asyncio
import json
import time
from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from modeldeployment.api import keys
from modeldeployment.lab.bench import audits, goals, manifests
from modeldeployment.lab.bench.arrivals import arrivals
from modeldeployment.lab.bench.clearing import clear
from modeldeployment.lab.bench.errors import BenchError, TooSlow
from modeldeployment.lab.bench.operating import Operator, operator
from modeldeployment.lab.bench.rows import Value
from modeldeployment.lab.bench.settling import until_quiet
from modeldeployment.lab.bench.telling import Tell
from modeldeployment.lab.bench.wire import Connection, connections, post_all
from modeldeployment.lab.bench.worlds import DEPLOYED, NAMESPACE, OPERATOR, PODS, STANDBY, World, user

LEASE_SECONDS: Final = 15.0
"""The default, which an administrator gets who sets nothing."""


@dataclass(frozen=True, slots=True)
class Home:
    """Where the second operator runs."""

    folder: Path
    operator_kubeconfig: Path


_SECONDS: Final = 120.0
_SEAT: Final = (keys.INSTANCE, keys.COMPONENT, keys.ORDINAL, keys.MEMBER_INDEX)


async def measure(world: World, replicas: int, lease: float, tell: Tell) -> tuple[Value, ...]:
    """Kill the leader of two operators when a third of the Pods is made; the other one makes the rest.

    The ClusterQueue is held, so that nobody but operators has a hand in the Pods' number. Raises BenchError.
    """
    settings = {"GPUSTACK_LEASE_SECONDS": str(lease)}
    body = manifests.deployment("led", NAMESPACE, world.provision.instance_type, replicas=replicas)
    async with (
        world.held(),
        operator(world, settings=settings) as first,
        operator(Home(world.folder, world.standby_kubeconfig), settings=settings, name=STANDBY) as second,
        connections(world.driver, 1) as (sender,),
    ):
        leader = await _leader(first, second)
        other, account = (second, STANDBY) if leader is first else (first, OPERATOR)
        await other.until_ready()
        audit = world.audit(account)
        async with arrivals(world.driver, PODS) as seen:
            await post_all([sender], DEPLOYED, [manifests.compact(body)])
            await seen.until(max(1, replicas // 3), _SECONDS)
            leader.process.kill()
            killed = time.time()
            made = seen.added
            await seen.until(replicas, _SECONDS)
        await until_quiet(audit)
        seats = await _seats(sender)
    gap = _first_write(world, account, killed) - killed
    doubles = sum(count - 1 for count in seats.values())
    missing = replicas - len(seats)
    tell(f"leader killed after {made} of {replicas} Pods: {gap:.1f} s until the other wrote; {doubles} seats twice")
    await clear(world)
    if missing:
        raise BenchError(f"{missing} of {replicas} replicas were never made after the leader was killed")
    against = f"lease {lease:g} s, {made} of {replicas} Pods made before"
    return (
        Value(goals.LEADER_GAP, gap, against),
        Value(goals.LEADER_DOUBLES, doubles, f"{against}; {len(seats)} seats, {sum(seats.values())} Pods"),
    )


async def _leader(*operators: Operator) -> Operator:
    try:
        async with asyncio.timeout(_SECONDS):
            while True:
                for each in operators:
                    if (await each.metrics()).get("leader", 0) == 1:
                        return each
                await asyncio.sleep(0.1)
    except TimeoutError as error:
        raise TooSlow(f"neither of two operators led within {_SECONDS:.0f} s") from error


async def _seats(connection: Connection) -> Counter[tuple[str, ...]]:
    """How many Pods each seat has."""
    _, listing = await connection.call("GET", PODS)
    pods: list[dict[str, Any]] = json.loads(listing)["items"]
    return Counter(tuple(pod["metadata"]["labels"].get(key, "") for key in _SEAT) for pod in pods)


def _first_write(world: World, account: str, after: float) -> float:
    """When an account's first write besides Leases reached the API server after a time. Raises BenchError.

    Accounts are told apart, since what the killed one had sent already arrives after its end.
    """
    for line in world.audit_log.read_bytes().splitlines():
        entry = json.loads(line)
        if entry["user"]["username"] == user(account) and audits.writes(audits.requests([line], user(account))):
            at = datetime.fromisoformat(entry["requestReceivedTimestamp"]).timestamp()
            if at > after:
                return at
    raise BenchError("nobody wrote after the leader was killed")
