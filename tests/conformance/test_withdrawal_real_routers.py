"""The witness's proof with the programs themselves: nothing comes to a member after it, and nothing is lost.

Sources: facts routers-measured §5 and §7, decisions D8.
"""

import asyncio

import pytest
from conformance_routers import EACH, counted, halves, lists, servers, until
from conformance_withdrawing import Start, proven, restored, withdrawn
from modeldeployment.lab.engines import Behaviour
from modeldeployment.reconcile.retiring.evidence import Stage
from modeldeployment.router.withdrawal import Verdict

ROUND_ROBIN = "--policy=round_robin"
SLOW = Behaviour(prefill_seconds=0.05, token_seconds=0.02, tokens=10)


@EACH
@pytest.mark.parametrize("policy", [(), (ROUND_ROBIN,)], ids=["by-default", "round-robin"])
async def test_nothing_comes_to_a_server_after_the_proof_and_nothing_is_lost(
    cluster: Start, engine: str, router: str, policy: tuple[str, ...]
) -> None:
    world = await cluster(servers(engine, router, *policy, replicas=3))
    first, second, goes = [await world.member("server", ordinal, SLOW) for ordinal in range(3)]
    running = await world.router()
    await lists(running, first, second, goes)
    async with world.load(running, abreast=6) as statuses:
        await asyncio.sleep(0.5)
        world.retire(goes)
        await world.until(proven, "the member is withdrawn and idle")
        served = goes.served
        assert goes.engine.model.running == 0
        await asyncio.sleep(1)
    assert goes.served == served
    assert len(statuses) > 20
    assert set(statuses) == {200}
    await lists(running, first, second)
    assert len(world.woken) < 12


@EACH
@pytest.mark.parametrize("half", ["prefill", "decode"])
async def test_nothing_comes_to_a_half_after_the_proof_and_nothing_is_lost(
    cluster: Start, engine: str, router: str, half: str
) -> None:
    world = await cluster(halves(engine, router, ROUND_ROBIN, prefill=2, decode=2))
    members = {
        name: [await world.member(name, ordinal, SLOW) for ordinal in range(2)] for name in ("prefill", "decode")
    }
    goes = members[half][1]
    running = await world.router()
    await lists(running, *members["prefill"], *members["decode"])
    async with world.load(running) as statuses:
        await asyncio.sleep(0.5)
        world.retire(goes)
        await world.until(proven, "the half is withdrawn and idle")
        served = goes.served
        await asyncio.sleep(1)
    assert goes.served == served
    assert len(statuses) > 20
    assert set(statuses) == {200}


async def test_a_decode_half_is_not_withdrawn_while_vllm_router_has_yet_to_send_what_it_chose_it_for(
    cluster: Start,
) -> None:
    world = await cluster(halves("vLLM", "vllm-router", ROUND_ROBIN, decode=2))
    prefill = await world.member("prefill")
    stays, goes = await world.member("decode", 0), await world.member("decode", 1)
    running = await world.router()
    await lists(running, prefill, stays, goes)
    prefill.engine.hold()
    async with world.load(running) as statuses:
        await asyncio.sleep(0.5)
        world.retire(goes)
        evidence = await world.until(lambda seen: "have yet to come to it" in seen.withdrawal.reason, "requests pend")
        await lists(running, prefill, stays)
        assert (evidence.withdrawal.verdict, goes.served) == (Verdict.WAITING, 0)
        assert await counted(running, "vllm_router_pd_pending_decode_requests", goes) == 2
        prefill.engine.release()
        await world.until(proven, "the half is withdrawn and idle")
        served = goes.served
        await asyncio.sleep(1)
    assert (served, goes.served) == (2, 2)
    assert set(statuses) == {200}


@EACH
async def test_what_is_under_way_is_waited_for_after_the_withdrawal(cluster: Start, engine: str, router: str) -> None:
    world = await cluster(servers(engine, router, ROUND_ROBIN, replicas=2))
    stays, goes = await world.member("server", 0), await world.member("server", 1)
    running = await world.router()
    await lists(running, stays, goes)
    goes.engine.hold()
    async with world.load(running) as statuses:
        await asyncio.sleep(0.5)
        world.retire(goes)
        evidence = await world.until(withdrawn, "the member is withdrawn")
        assert (evidence.idle.verdict, evidence.in_flight) == (Verdict.WAITING, goes.engine.model.running)
        assert goes.engine.model.running > 0
        world.inquire(goes, Stage.DRAINING)
        goes.engine.release()
        await world.until(proven, "the member is idle")
    assert set(statuses) == {200}


@EACH
async def test_a_member_that_is_restored_is_sent_requests_again(cluster: Start, engine: str, router: str) -> None:
    world = await cluster(servers(engine, router, ROUND_ROBIN, replicas=2))
    stays, goes = await world.member("server", 0), await world.member("server", 1)
    running = await world.router()
    await lists(running, stays, goes)
    world.retire(goes)
    await world.until(withdrawn, "the member is withdrawn")
    served = goes.served
    world.label(goes, eligible=True)
    world.inquire(goes, Stage.RESTORING)
    await world.until(restored, "the router lists the member again")
    async with world.load(running) as statuses:
        await asyncio.sleep(0.5)
    assert goes.served > served
    assert set(statuses) == {200}


@pytest.mark.parametrize("half", ["prefill", "decode"])
async def test_a_half_behind_the_gateway_is_restored_as_what_it_was(cluster: Start, half: str) -> None:
    world = await cluster(halves("SGLang", "sglang-gateway", ROUND_ROBIN, prefill=2, decode=2))
    members = {name: [await world.member(name, ordinal) for ordinal in range(2)] for name in ("prefill", "decode")}
    running = await world.router()
    before = await lists(running, *members["prefill"], *members["decode"])
    goes = members[half][1]
    world.retire(goes)
    await world.until(withdrawn, "the half is withdrawn")
    world.label(goes, eligible=True)
    world.inquire(goes, Stage.RESTORING)
    await world.until(restored, "the gateway lists the half again")
    after = await lists(running, *members["prefill"], *members["decode"])
    assert {(each.url, each.kind, each.bootstrap_port) for each in after} == {
        (each.url, each.kind, each.bootstrap_port) for each in before
    }


@EACH
async def test_a_router_that_restarts_proves_it_again(cluster: Start, engine: str, router: str) -> None:
    world = await cluster(servers(engine, router, replicas=2))
    stays, goes = await world.member("server", 0), await world.member("server", 1)
    running = await world.router()
    await lists(running, stays, goes)
    world.retire(goes)
    await world.until(withdrawn, "the member is withdrawn")
    again = await world.restarted(running)
    await world.until(lambda seen: not withdrawn(seen), "the process that began anew is asked")
    await world.until(proven, "it has proven it too")
    await lists(again, stays)
    second = await world.router(1)
    await world.until(lambda seen: not withdrawn(seen), "another router Pod is asked")
    await world.until(proven, "it has proven it too")
    await lists(second, stays)


@EACH
async def test_a_router_that_is_blind_is_told(cluster: Start, engine: str, router: str) -> None:
    world = await cluster(servers(engine, router, ROUND_ROBIN, replicas=2))
    stays, goes = await world.member("server", 0), await world.member("server", 1)
    running = await world.router()
    await lists(running, stays, goes)
    world.pods.mute = True
    async with world.load(running) as statuses:
        world.retire(goes)
        await world.until(proven, "the member is withdrawn and idle")
        served = goes.served
        await asyncio.sleep(1)
    assert goes.served == served
    assert set(statuses) == {200}
    world.label(goes, eligible=True)
    world.inquire(goes, Stage.RESTORING)
    await world.until(restored, "the blind router lists the member again")
    await lists(running, stays, goes)


async def test_a_witness_that_begins_anew_knows_what_the_gateway_dropped_before(cluster: Start) -> None:
    world = await cluster(servers("SGLang", "sglang-gateway", replicas=2))
    stays, goes = await world.member("server", 0), await world.member("server", 1)
    running = await world.router()
    await lists(running, stays, goes)
    world.retire(goes)
    await world.until(withdrawn, "the member is withdrawn")
    world.witness.inquire(world.key, None)
    world.inquire(goes)
    await world.until(withdrawn, "the member is withdrawn for whoever asks anew")


@pytest.mark.parametrize("argument", ["--api-key=secret", "--control-plane-api-keys=a:b:admin:secret"])
async def test_a_gateway_behind_a_key_of_its_own_is_asked_with_it(cluster: Start, argument: str) -> None:
    world = await cluster(servers("SGLang", "sglang-gateway", argument, replicas=2))
    stays, goes = await world.member("server", 0), await world.member("server", 1)
    running = await world.router()

    async def listed() -> set[str]:
        status, answer = await running.ask("GET", "/workers", headers={"Authorization": "Bearer secret"})
        assert status == 200
        return {each["url"] for each in answer["workers"]}

    async def both() -> bool:
        return await listed() == {stays.url, goes.url}

    await until(both, what="both are listed")
    assert (await running.ask("GET", "/workers"))[0] == 401
    world.retire(goes)
    await world.until(withdrawn, "the member is withdrawn")
    assert await listed() == {stays.url}
