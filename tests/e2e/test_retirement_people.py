"""Retirements as people see them: foretold, shown while they go on, counted, retried, and taken back."""

import json

import pytest
from e2e_operators import Operator
from e2e_people import ask
from e2e_retiring import busy, reaches, served_directly, servers, shrunk
from e2e_routed import create, served
from e2e_worlds import World
from modeldeployment.lab.serving import Serving

pytestmark = pytest.mark.lab

IMPOSSIBLE = 'modeldeployment_retirement_aborts_total{cause="Impossible",state="Disqualified"}'


def leads(operator: Operator) -> bool:
    """Whether this worker's operator is the one that reconciles, and so counts; workers of a run share the Lease."""
    return operator.metric("modeldeployment_leader") == 1


async def test_what_no_router_can_prove_is_foretold_shown_counted_retried_and_taken_back(
    world: World, operator: Operator
) -> None:
    manifest = servers(world, "vLLM", "vllm-router", replicas=2)
    manifest["spec"]["router"]["image"] = "registry.example/vllm-router:v9.9.9"
    await create(world, manifest)
    await served(world, "chat")

    foretold = await ask(world, "retire", "chat", "server/1", "--dry-run", "-o", "json")
    assert foretold.code == 1, foretold.err
    table = json.loads(foretold.out)
    assert (table["would"], len(table["pods"])) == ("Abort", 1)
    assert "runs vllm-router 9.9.9" in table["because"]

    await world.scale("chat", 1)
    kept = await reaches(world, "Aborted", saying="runs vllm-router 9.9.9")
    shown = await ask(world, "status", "chat")
    assert "  retirement of server/1: Aborted at " in shown.out
    assert f"    {kept['reason']}" in shown.out.splitlines()
    why = await ask(world, "why", "chat", "server/1")
    assert (why.code, why.out.splitlines()[-1]) == (
        1,
        "what helps: retry it with kubectl md retry NAME server/1, or declare the replica again",
    )

    again = await ask(world, "retry", "chat", "server/1", "--token", "once", "--wait")
    assert again.code == 1
    assert again.out.startswith("server/1 was aborted again: ")
    used = await ask(world, "retry", "chat", "server/1", "--token", "once")
    assert (used.code, used.out) == (1, "")
    assert "was used for server/1 already" in used.err
    if leads(operator):
        await operator.until(lambda: operator.metric(IMPOSSIBLE) >= 2, "both aborts are counted")
        assert operator.metric("modeldeployment_retirement_retries_total") >= 1
        assert operator.metric("modeldeployment_retirement_requests_at_delete_total") == 0

    await world.scale("chat", 2)
    await world.board.until(lambda: not world.board.status("chat").get("retirement"), what="the replica is adopted")
    assert (await ask(world, "why", "chat", "server/1")).out == "server/1 serves\n"
    none = await ask(world, "retry", "chat", "server/1")
    assert none.err == "kubectl md: no retirement of server/1 was aborted: no retirement is under way or retained\n"


async def test_a_replica_that_is_busy_is_shown_with_what_it_waits_for_until_it_has_left_and_is_counted(
    world: World, serving: Serving, operator: Operator
) -> None:
    await create(world, servers(world, "vLLM", None, replicas=2))
    async with served_directly(world, serving):
        victim = world.board.replicas("chat")[1][0].metadata.name
        foretold = await ask(world, "retire", "chat", "server/1", "--dry-run")
        assert (foretold.code, foretold.out.splitlines()[0]) == (0, "server/1 would leave")
        async with busy(serving.engine(victim)):
            await world.scale("chat", 1)
            await reaches(world, "Draining", saying="1 request")
            shown = json.loads((await ask(world, "status", "chat", "-o", "json")).out)["retirement"]
            assert (shown["replica"], shown["state"], shown["waiting"]) == ("server/1", "Draining", 0)
            assert f"Pod {victim} has 1 request" in shown["reason"]
            assert shown["phaseStartedAt"] < shown["until"] < shown["deadline"] == shown["latestEnd"]
            why = await ask(world, "why", "chat", "server/1")
            assert (why.code, why.out.partition(" until ")[0]) == (1, "server/1 is on its way out: Draining")
            early = await ask(world, "retry", "chat", "server/1")
            assert (early.code, "it is Draining until " in early.err) == (1, True)
            leaving = await ask(world, "retire", "chat", "server/1", "--dry-run", "-o", "json")
            assert (leaving.code, json.loads(leaving.out)["would"]) == (0, "Leaving")
        await shrunk(world, 1)
    if leads(operator):
        await operator.until(
            lambda: operator.metric('modeldeployment_retirement_outcomes_total{outcome="Completed"}') >= 1,
            "it is counted",
        )
        assert operator.metric('modeldeployment_retirement_deletes_total{read="Idle"}') >= 1
        assert operator.metric("modeldeployment_retirement_requests_at_delete_total") == 0
        assert operator.metric('modeldeployment_retirement_phase_seconds_count{phase="Settle"}') >= 1
