"""What engines can do to who samples them, over real sockets: nothing but not be read (decisions D23)."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from aiohttp import web
from modeldeployment.api.scalerstatus import SignalState
from modeldeployment.kube.fetching import LARGEST
from modeldeployment.scaler.planning.observed import Reading, Silence, Unread
from modeldeployment.scaler.sampling import AT_ONCE, MOST, Engine, Pace
from sampling_engines import after, engine, vllm
from sampling_listeners import (
    HURRIED,
    Answer,
    Listener,
    Sampled,
    endless,
    huge,
    listening,
    sampling,
    saying,
    silent,
    until,
)

POD = "chat-server-0"


@pytest.fixture
async def listener() -> AsyncIterator[Listener]:
    async with listening(Listener()) as made:
        yield made


@pytest.fixture
async def sampled() -> AsyncIterator[Sampled]:
    async with sampling() as made:
        yield made


async def test_two_readings_tell_requests_and_rates(listener: Listener, sampled: Sampled) -> None:
    listener.answer = saying(vllm(running=1, prompt=1000))
    assert (await sampled.at(0, listener.engine())).state is SignalState.MISSING
    listener.answer = saying(vllm(running=4, waiting=2, prompt=1300, generation=30))
    found = await sampled.at(15, listener.engine())
    assert (found.state, found.complete, found.running_requests, found.waiting_requests) == (
        SignalState.FRESH,
        True,
        4,
        2,
    )
    assert (str(found.prompt_tokens_per_second), str(found.generation_tokens_per_second)) == ("20", "2")
    assert listener.paths == ["/metrics", "/metrics"]


async def test_an_instant_is_told_to_the_second(listener: Listener, sampled: Sampled) -> None:
    assert (await sampled.at(3, listener.engine())).at == after(3)


@pytest.mark.parametrize(
    ("answer", "unread"),
    [
        (saying("no such page", 404), Unread(pod=POD, silence=Silence.REFUSED, number=404)),
        (saying(vllm(), 500), Unread(pod=POD, silence=Silence.REFUSED, number=500)),
        (saying(vllm(), 302, Location="/elsewhere"), Unread(pod=POD, silence=Silence.REFUSED, number=302)),
        (saying(""), Unread(pod=POD, silence=Silence.INCOMPLETE, series="vllm:num_requests_running")),
        (saying("<html>"), Unread(pod=POD, silence=Silence.INCOMPLETE, series="vllm:num_requests_running")),
        (saying(b"\xff\x00" * 5000), Unread(pod=POD, silence=Silence.INCOMPLETE, series="vllm:num_requests_running")),
        (saying(vllm() + "vllm:num_requests_running{"), Unread(pod=POD, silence=Silence.GARBLED)),
        (saying(vllm() + vllm()), Unread(pod=POD, silence=Silence.REPEATED)),
        (saying(vllm(running=float("nan"))), Unread(pod=POD, silence=Silence.ODD, series="vllm:num_requests_running")),
        (saying(vllm(running=float("inf"))), Unread(pod=POD, silence=Silence.ODD, series="vllm:num_requests_running")),
        (saying(vllm(prompt=-5)), Unread(pod=POD, silence=Silence.ODD, series="vllm:prompt_tokens_total")),
        (huge, Unread(pod=POD, silence=Silence.TOO_LARGE, number=LARGEST)),
    ],
    ids=lambda value: value.silence.value if isinstance(value, Unread) else "",
)
async def test_an_engine_that_answers_amiss_is_not_read_and_is_no_zero(
    listener: Listener, sampled: Sampled, answer: Answer, unread: Unread
) -> None:
    listener.answer = answer
    found = await sampled.at(0, listener.engine())
    assert found.unread == (unread,)
    assert (found.state, found.complete, found.running_requests, found.read) == (SignalState.MISSING, False, None, 0)


@pytest.mark.parametrize("answer", [endless, silent])
async def test_an_engine_that_does_not_come_to_an_end_is_late(listener: Listener, answer: Answer) -> None:
    listener.answer = answer
    async with sampling(HURRIED) as sampled:
        found = await sampled.at(0, listener.engine())
    assert (found.state, found.unread) == (
        SignalState.MISSING,
        (Unread(pod=POD, silence=Silence.LATE, number=1),),
    )


async def test_a_redirect_is_not_followed(listener: Listener, sampled: Sampled) -> None:
    listener.answer = saying(vllm(), 307, Location="/metrics2")
    await sampled.at(0, listener.engine())
    assert listener.paths == ["/metrics"]


async def test_an_engine_where_nobody_listens_is_not_read(sampled: Sampled) -> None:
    found = await sampled.at(0, engine(url="http://127.0.0.1:1/metrics"))
    assert found.unread == (Unread(pod=POD, silence=Silence.UNREACHABLE),)


async def test_an_engine_that_does_not_say_where_it_is_read_is_not_asked(sampled: Sampled) -> None:
    assert (await sampled.at(0, engine(url=None))).unread == (Unread(pod=POD, silence=Silence.NOT_SAYING),)


async def test_one_engine_that_answers_amiss_leaves_what_the_others_say(listener: Listener, sampled: Sampled) -> None:
    listener.answer = saying(vllm(running=3))
    async with listening(Listener(), "127.0.0.2") as bad:
        bad.answer = saying("", 503)
        found = await sampled.at(0, listener.engine(), bad.engine("chat-server-1", address="127.0.0.2"))
    assert (found.running_requests, found.read, found.complete) == (3, 1, False)
    assert [each.pod for each in found.unread] == ["chat-server-1"]


async def test_no_target_is_read_again_before_its_interval_has_passed(listener: Listener, sampled: Sampled) -> None:
    listener.answer = saying(vllm(running=1))
    first = await sampled.reading(100, listener.engine())
    listener.answer = saying(vllm(running=9))
    again = [await sampled.reading(seconds, listener.engine()) for seconds in (100, 101, 114.9)]
    assert again == [first, first, first]
    assert len(listener.paths) == 1
    assert (await sampled.at(115, listener.engine())).running_requests == 9


async def test_how_long_to_rest_is_told(listener: Listener, sampled: Sampled) -> None:
    assert sampled.sampler.rest("team/chat", 15) == 0
    await sampled.at(100, listener.engine())
    sampled.clock[0] = 104
    assert (sampled.sampler.rest("team/chat", 15), sampled.sampler.rest("team/other", 15)) == (11, 0)
    sampled.clock[0] = 999
    assert sampled.sampler.rest("team/chat", 15) == 0


async def test_a_pass_that_is_cut_off_undercuts_no_interval(listener: Listener, sampled: Sampled) -> None:
    listener.answer = silent
    pass_ = asyncio.ensure_future(sampled.reading(0, listener.engine()))
    await until(lambda: bool(listener.paths))
    pass_.cancel()
    with pytest.raises(asyncio.CancelledError):
        await pass_
    assert await sampled.reading(1, listener.engine()) == Reading(roles={})
    assert len(listener.paths) == 1


async def test_who_asks_while_a_round_is_under_way_gets_the_reading_before(
    listener: Listener, sampled: Sampled
) -> None:
    first, second = await asyncio.gather(sampled.reading(0, listener.engine()), sampled.reading(0, listener.engine()))
    assert (list(first.roles), list(second.roles), len(listener.paths)) == (["server"], [], 1)


async def test_scalers_are_read_apart(listener: Listener, sampled: Sampled) -> None:
    await sampled.at(0, listener.engine())
    await sampled.sampler.sample(
        "team/other", 15, [listener.engine()], after(0), ready={"server": 1}, standing=lambda _: True
    )
    assert len(listener.paths) == 2


async def test_a_scaler_that_is_forgotten_begins_anew(listener: Listener, sampled: Sampled) -> None:
    await sampled.at(0, listener.engine())
    sampled.sampler.forget("team/chat")
    assert (await sampled.at(1, listener.engine())).rated == 0
    assert len(listener.paths) == 2


async def test_a_scaler_that_is_forgotten_while_it_is_read_leaves_nothing(listener: Listener, sampled: Sampled) -> None:
    async def answer(_: web.Request) -> web.Response:
        sampled.sampler.forget("team/chat")
        return web.Response(text=vllm())

    listener.answer = answer
    await sampled.at(0, listener.engine())
    assert sampled.sampler.rest("team/chat", 15) == 0


async def test_an_engine_that_was_replaced_while_it_was_read_is_not_read(listener: Listener, sampled: Sampled) -> None:
    asked: list[Engine] = []

    def standing(one: Engine) -> bool:
        asked.append(one)
        return False

    found = await sampled.at(0, listener.engine(), standing=standing)
    assert found.unread == (Unread(pod=POD, silence=Silence.REPLACED),)
    assert (asked, listener.paths) == ([listener.engine()], ["/metrics"])


async def test_a_few_are_asked_at_once_and_sixty_four_of_a_role_at_most(listener: Listener, sampled: Sampled) -> None:
    now = most = 0

    async def answer(_: web.Request) -> web.Response:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.01)
        now -= 1
        return web.Response(text=vllm(running=1))

    listener.answer = answer
    found = await sampled.at(0, *(listener.engine(f"p{index:03}") for index in range(70)))
    assert (found.read, found.running_requests, found.complete, len(listener.paths)) == (MOST, 64, False, 64)
    assert found.unread[0] == Unread(pod="p064", silence=Silence.BEYOND, number=64)
    assert most <= AT_ONCE


async def test_silent_engines_of_one_scaler_delay_no_other(listener: Listener, sampled: Sampled) -> None:
    async with listening(Listener(), "127.0.0.2") as mute:
        mute.answer = silent
        members = [mute.engine(f"p{index:02}", address="127.0.0.2") for index in range(60)]
        slow = asyncio.ensure_future(
            sampled.sampler.sample("team/slow", 15, members, after(0), ready={"server": 60}, standing=lambda _: True)
        )
        await until(lambda: len(mute.paths) == AT_ONCE)
        assert (await sampled.at(0, listener.engine())).read == 1
        assert not slow.done()
        slow.cancel()
        with pytest.raises(asyncio.CancelledError):
            await slow


async def test_whoever_is_not_asked_in_time_is_late() -> None:
    async with sampling(Pace(each=5, round=0.3, at_once=1)) as sampled, listening(Listener()) as mute:
        mute.answer = silent
        found = await sampled.at(0, mute.engine("a"), mute.engine("b"))
    assert found.unread == (
        Unread(pod="a", silence=Silence.LATE, number=1),
        Unread(pod="b", silence=Silence.LATE, number=1),
    )
    assert mute.paths == ["/metrics"]
