"""How soon the Pods of a set may start once its last group has quota."""

from typing import Final

from modeldeployment.api import kueue
from modeldeployment.lab.bench import goals, manifests
from modeldeployment.lab.bench.clearing import clear
from modeldeployment.lab.bench.operating import operator
from modeldeployment.lab.bench.queueing import Followed, checked, following
from modeldeployment.lab.bench.rows import Value
from modeldeployment.lab.bench.telling import Tell
from modeldeployment.lab.bench.wire import connections, post_all
from modeldeployment.lab.bench.worlds import DEPLOYED, NAMESPACE, World

SETS: Final = 5
ROLES: Final = ("first", "second")
_SECONDS: Final = 120.0


async def measure(world: World, sets: int, replicas: int, tell: Tell) -> tuple[Value, ...]:
    """Make sets of two roles one after the other in a queue with our check; the slowest counts. Raises BenchError.

    From the last group's reservation to the last Pod without gates, both as one watch of the driver sees them.
    """
    taken: list[float] = []
    ours: list[float] = []
    wanted = len(ROLES) * replicas
    async with (
        operator(world) as running,
        checked(world, kueue.JOINT_CHECK),
        connections(world.driver, 1) as (sender,),
    ):
        await running.until_ready()
        for number in range(sets):
            body = manifests.deployment(
                f"set-{number}", NAMESPACE, world.provision.instance_type, replicas=replicas, roles=ROLES
            )
            async with following(world) as seen:
                known = {*seen.reserved, *seen.answered, *seen.lifted}
                await post_all([sender], DEPLOYED, [manifests.compact(body)])
                await _until_lifted(seen, len(seen.lifted) + wanted)
            reserved, answered, lifted = (
                max(at for uid, at in times.items() if uid not in known)
                for times in (seen.reserved, seen.answered, seen.lifted)
            )
            taken.append(lifted - reserved)
            tell(
                f"set {number} of {wanted} groups: gates lifted {taken[-1]:.2f} s after the last reservation, "
                f"the last answer {answered - reserved:.2f} s after it"
            )
            ours.append(answered - reserved)
    await clear(world)
    against = (
        f"slowest of {sets} sets of {len(ROLES)} x {replicas} groups; fastest {min(taken):.2f} s; "
        f"the last answer of ours within {max(ours):.2f} s of it, the rest is Kueue's"
    )
    return (Value(goals.GATE_LIFT, max(taken), against),)


async def _until_lifted(seen: Followed, wanted: int) -> None:
    await seen.until(lambda: len(seen.lifted) >= wanted, _SECONDS, "lifting the gates")
