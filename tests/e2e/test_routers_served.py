"""Status counts what every process of a real router sends requests to (facts status §6)."""

from typing import Any

import pytest
from e2e_people import ask
from e2e_retiring import EACH, routed, servers
from e2e_routed import create
from e2e_worlds import World
from modeldeployment.lab.routers import RunningRouter
from modeldeployment.lab.serving import Serving

pytestmark = pytest.mark.lab


def served(world: World) -> dict[str, Any]:
    """What status says that the routers send requests to."""
    (role,) = world.board.status("chat")["roles"]
    said: dict[str, Any] = role["endpoints"]["serving"]
    return said


async def comes_to(world: World, state: str, value: int | None = None) -> None:
    """Wait until status says so."""
    expected = {"state": state} | ({} if value is None else {"value": value})
    await world.board.until(lambda: served(world) == expected, what=f"status says {expected}")


@EACH
async def test_status_counts_endpoints_while_all_processes_of_the_router_say_the_same(
    world: World, serving: Serving, engine: str, router: str
) -> None:
    await create(world, servers(world, engine, router, replicas=2))
    await routed(world, serving)
    await comes_to(world, "Confirmed", 2)
    assert "server: requests go to 2 endpoints, 2 eligible" in (await ask(world, "status", "chat")).out

    await world.edit("chat", "/spec/router/replicas", 2)
    await world.board.until(lambda: len(serving.routers("chat")) == 2, what="two routers run")
    await comes_to(world, "Confirmed", 2)

    one = next(iter(serving.routers("chat").values()))
    assert isinstance(one, RunningRouter)
    await one.remove((await one.workers())[0].url)
    await comes_to(world, "NotConverged")
    told = (await ask(world, "status", "chat")).out
    assert "server: its processes do not send requests to the same endpoints" in told

    await world.scale("chat", 3)
    await world.settled("chat")
    assert served(world)["state"] == "NotConverged"
