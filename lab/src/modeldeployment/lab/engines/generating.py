"""The pace at which an engine generates, and the queues a request goes through on its way."""

import asyncio
import time
from collections.abc import AsyncGenerator, Mapping
from typing import Final

from modeldeployment.api.choices import EngineName
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


async def tokens(engine: FakeEngine, asked: Asked, pairing: Pairing) -> AsyncGenerator[tuple[int, bool], None]:
    """Yield each token's number and whether it is the last, at the engine's pace; its model counts along.

    Raises HandoverLost where a pair does not come together over the request.
    """
    behaviour, model = engine.behaviour, engine.model
    half = behaviour.half if engine.engine is EngineName.SGLANG else Half.UNIFIED
    wanted = 1 if half is Half.PREFILL and asked.room else asked.limit
    count = max(1, min(behaviour.tokens, wanted or behaviour.tokens))
    entrance = Place.TRANSFER if asked.takes_over else _ENTRANCES[half]
    before = time.monotonic()
    request, finished = model.arrive(asked.prompt, entrance), False
    try:
        async with pairing.meeting(engine, asked) as room:
            await _come_in(engine, asked, request, pairing, room)
            while behaviour.slots and model.running >= behaviour.slots:
                await engine.freed.wait()
            model.start(request)
            await asyncio.sleep(behaviour.prefill_seconds)
            await engine.released.wait()
            for token in range(count):
                if token:
                    await asyncio.sleep(behaviour.token_seconds)
                now = time.monotonic()
                (model.next_token if token else model.first_token)(request, now - before)
                before = now
                yield token, token == count - 1
            if half is Half.PREFILL:
                await _hand_over(engine, request, pairing, room)
        finished = True
    finally:
        model.leave(request, finished=finished)
        engine.free()


async def _come_in(engine: FakeEngine, asked: Asked, request: Running, pairing: Pairing, room: Room | None) -> None:
    """Go through the queues before the first token, to the one that waits to run."""
    behaviour, model = engine.behaviour, engine.model
    match request.place:
        case Place.BOOTSTRAP:
            await asyncio.sleep(behaviour.bootstrap_seconds)
            await pairing.comes(room, "awaited", behaviour.partner_seconds)
        case Place.PREALLOC:
            await asyncio.sleep(behaviour.prealloc_seconds)
            if room is not None:
                room.awaited.set()
            model.move(request, Place.TRANSFER)
            await pairing.comes(room, "computed", behaviour.partner_seconds)
            await asyncio.sleep(behaviour.transfer_seconds)
            if room is not None:
                if room.lost:
                    await pairing.comes(room, "computed", 0)
                room.taken.set()
                model.received(request.prompt)
        case Place.TRANSFER:
            await asyncio.sleep(behaviour.transfer_seconds)
            pairing.take(engine, asked)
            model.received(request.prompt)
        case _:
            return
    model.move(request, Place.WAITING)


async def _hand_over(engine: FakeEngine, request: Running, pairing: Pairing, room: Room | None) -> None:
    """Stay until the blocks of a computed request have left."""
    engine.model.move(request, Place.INFLIGHT)
    await asyncio.sleep(engine.behaviour.inflight_seconds)
    if room is not None:
        room.computed.set()
        await pairing.comes(room, "taken", engine.behaviour.partner_seconds)
