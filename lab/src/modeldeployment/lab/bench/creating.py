"""How fast the operator makes Pods, single ones and gangs, beside the raw ceiling and beside its peers."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from modeldeployment.lab.bench import accounts, goals, grouping, making, peering
from modeldeployment.lab.bench.figures import Rounds, medians
from modeldeployment.lab.bench.goals import Measurement
from modeldeployment.lab.bench.making import CONNECTIONS, Round, Shape
from modeldeployment.lab.bench.rows import Value
from modeldeployment.lab.bench.telling import Tell
from modeldeployment.lab.bench.worlds import World
from modeldeployment.lab.toolchain.groups import GroupController

ROUNDS: Final = 2


async def single(world: World, replicas: int, tell: Tell) -> tuple[Value, ...]:
    """One deployment of so many replicas of one Pod; then a Job and a StatefulSet through the same queue.

    Raises BenchError.
    """
    shape = Shape(replicas)
    async with world.held():
        raw, ours = await _in_turn(world, "single", shape, tell)
        beside = []
        for peer in (peering.JOB, peering.STATEFUL_SET):
            beside.append(await making.peer(world, peer, peer.name.lower(), shape, queued=True))
            tell(str(beside[-1]))
    return _values((goals.CREATE_RATIO, goals.CREATE_PEER), raw, ours, beside)


async def gangs(world: World, groups: GroupController, shape: Shape, tell: Tell) -> tuple[Value, ...]:
    """One deployment of replicas of several Pods; then a LeaderWorkerSet of the same shape.

    Its Pods are held by a gate of their own: our groups become a Workload each, and as Pods of one template cannot name
    their group, its Pods would become one each. So Kueue leaves them alone, in its favour. Raises BenchError.
    """
    async with world.held():
        raw, ours = await _in_turn(world, "gang", shape, tell)
        beside = []
        async with grouping.running(world, groups) as pid:
            own: Mapping[str, int] = {"lws": pid}
            beside.append(await making.peer(world, peering.LEADER_WORKER_SET, "lws", shape, queued=False, pids=own))
            tell(str(beside[-1]))
    return _values((goals.GANG_RATIO, goals.GANG_PEER), raw, ours, beside)


async def _in_turn(world: World, name: str, shape: Shape, tell: Tell) -> tuple[list[Round], list[Round]]:
    """Warm up, then raw and operator in turn."""
    raw: list[Round] = []
    ours: list[Round] = []
    tell(f"warming the API server with {shape.pods} Pods")
    await making.raw(world, f"{name}-warm-up", shape)
    for turn in range(ROUNDS):
        raw.append(await making.raw(world, f"{name}-raw-{turn}", shape))
        tell(str(raw[-1]))
        ours.append(await making.ours(world, f"{name}-ours-{turn}", shape))
        tell(str(ours[-1]))
    return raw, ours


def _values(
    asked: tuple[Measurement, Measurement], raw: Iterable[Round], ours: Sequence[Round], beside: Iterable[Round]
) -> tuple[Value, Value]:
    ceiling, reached = (Rounds(tuple(each.rate for each in rounds)) for rounds in (raw, ours))
    used = medians(each.used for each in ours)
    best = max(beside, key=lambda each: each.rate)
    against = (
        f"operator {reached.median:.0f}/s (best {reached.highest:.0f}), "
        f"raw {ceiling.median:.0f}/s (best {ceiling.highest:.0f}) over {CONNECTIONS} connections"
    )
    compared = "; ".join(
        f"{who} {rate:.0f}/s, CPU s: {sum(spent.values()):.1f} ({accounts.told(spent)})"
        for who, rate, spent in [
            ("operator", reached.median, used),
            *((each.who, each.rate, each.used) for each in beside),
        ]
    )
    to_raw, to_peer = asked
    return (
        Value(to_raw, reached.median / ceiling.median, against),
        Value(to_peer, reached.median / best.rate, f"best peer {best.who}; {compared}"),
    )
