"""The pace at which an engine generates, and the queues a request goes through on its way."""

import time
from collections.abc import AsyncGenerator, Mapping
from typing import Final

from modeldeployment.api.choices import EngineName
from modeldeployment.lab.engines import pace
from modeldeployment.lab.engines.asking import Asked
from modeldeployment.lab.engines.behaviour import Half
from modeldeployment.lab.engines.fake import FakeEngine
from modeldeployment.lab.engines.model import Place, Running
from modeldeployment.lab.engines.pairing import Pairing, Room

_ENTRANCES: Final[Mapping[Half, Place]] = {
    Half.UNIFIED: Place.WAITING,
    Half.PREFILL: Place.BOOTSTRAP,
    Half.DECODE: Place.PREALLOC,
}


async def tokens(engine: FakeEngine, asked: Asked, pairing: Pairing) -> AsyncGenerator[tuple[range, bool], None]:
    """Yield the numbers of tokens that are handed over together, and whether they are the last; its model counts along.

    Raises HandoverLost where a pair does not come together over the request.
    """
    behaviour, model = engine.behaviour, engine.model
    half = behaviour.half if engine.engine is EngineName.SGLANG else Half.UNIFIED
    wanted = 1 if half is Half.PREFILL and asked.room else asked.limit
    count = max(1, min(behaviour.tokens, wanted or behaviour.tokens))
    entrance = Place.TRANSFER if asked.takes_over else _ENTRANCES[half]
    before = time.monotonic()
    request, finished = model.arrive(asked.prompt, entrance, streamed=asked.stream), False
    try:
        async with pairing.meeting(engine, asked) as room:
            await _come_in(engine, asked, request, pairing, room)
            has_blocks = entrance in (Place.TRANSFER, Place.PREALLOC)
            await _compute(engine, request, 0 if has_blocks else request.computed)
            await engine.released.wait()
            model.first_token(request, (time.monotonic() - before) * behaviour.clock)
            yield range(1), count == 1
            for given in range(1, count, max(1, behaviour.together)):
                several = range(given, min(count, given + behaviour.together))
                seconds = pace.scattered(pace.step(behaviour, model.running), behaviour, engine.chance)
                began = time.monotonic()
                await engine.take(seconds * len(several))
                took = (time.monotonic() - began) * behaviour.clock / len(several)
                model.next_token(request, took, len(several))
                yield several, several.stop == count
            if half is Half.PREFILL:
                await _hand_over(engine, request, pairing, room)
        finished = True
    finally:
        model.leave(request, finished=finished)
        engine.free()


async def _compute(engine: FakeEngine, request: Running, computed: int) -> None:
    """Begin to run once there is room, and compute so much of the prompt."""
    behaviour = engine.behaviour
    seconds = pace.scattered(pace.prefill(behaviour, computed), behaviour, engine.chance)
    if not behaviour.prefill_rate:
        await _enter(engine, request)
        await engine.take(seconds)
        return
    async with engine.computing:
        await _enter(engine, request)
        await engine.take(seconds)


async def _enter(engine: FakeEngine, request: Running) -> None:
    slots, model = engine.behaviour.slots, engine.model
    while (slots and model.running >= slots) or not model.fits(request):
        await engine.freed.wait()
    model.start(request)


async def _come_in(engine: FakeEngine, asked: Asked, request: Running, pairing: Pairing, room: Room | None) -> None:
    """Go through the queues before the first token, to the one that waits to run."""
    behaviour, model = engine.behaviour, engine.model
    match request.place:
        case Place.BOOTSTRAP:
            await engine.take(behaviour.bootstrap_seconds)
            await pairing.comes(room, "awaited", behaviour.partner_seconds / behaviour.clock)
        case Place.PREALLOC:
            await engine.take(behaviour.prealloc_seconds)
            if room is not None:
                room.awaited.set()
            model.move(request, Place.TRANSFER)
            await pairing.comes(room, "computed", behaviour.partner_seconds / behaviour.clock)
            await engine.take(behaviour.transfer_seconds)
            if room is not None:
                if room.lost:
                    await pairing.comes(room, "computed", 0)
                room.taken.set()
                model.received(request.prompt)
        case Place.TRANSFER:
            await engine.take(behaviour.transfer_seconds)
            pairing.take(engine, asked)
            model.received(request.prompt)
        case _:
            return
    model.move(request, Place.WAITING)


async def _hand_over(engine: FakeEngine, request: Running, pairing: Pairing, room: Room | None) -> None:
    """Stay until the blocks of a computed request have left."""
    engine.model.move(request, Place.INFLIGHT)
    await engine.take(engine.behaviour.inflight_seconds)
    if room is not None:
        room.computed.set()
        await pairing.comes(room, "taken", engine.behaviour.partner_seconds / engine.behaviour.clock)
