"""How two halves hand a request over: the room of an SGLang pair, and the blocks of a vLLM prefill half.

Source: facts shutdown §3, facts routers-measured §4 and §6.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from modeldeployment.lab.engines.asking import Asked
from modeldeployment.lab.engines.behaviour import Half, Transfer
from modeldeployment.lab.engines.fake import FakeEngine, Phase


class HandoverLost(Exception):
    """The other half went away or never came; the message says which."""


@dataclass(slots=True)
class Room:
    """Where two halves meet over one request: each event says that a half has come that far."""

    awaited: asyncio.Event = field(default_factory=asyncio.Event)
    computed: asyncio.Event = field(default_factory=asyncio.Event)
    taken: asyncio.Event = field(default_factory=asyncio.Event)
    lost: str = ""
    halves: int = 0

    def abandon(self, why: str) -> None:
        """Give the request up for both halves."""
        self.lost = self.lost or why
        for event in (self.awaited, self.computed, self.taken):
            event.set()


class Pairing:
    """The meetings of all engines of one process; `find` answers the engine at an address."""

    def __init__(self, find: Callable[[str], FakeEngine | None]) -> None:
        self._find = find
        self._rooms: dict[str, Room] = {}

    @asynccontextmanager
    async def meeting(self, engine: FakeEngine, asked: Asked) -> AsyncIterator[Room | None]:
        """Meet the other half over a request, or None where it has none; leaving early gives it up for both."""
        half = engine.behaviour.half
        if half is Half.UNIFIED or not asked.room:
            yield None
            return
        room = self._rooms.setdefault(asked.room, Room())
        room.halves += 1
        try:
            yield room
        except BaseException:
            room.abandon(f"the {half.value} half at {engine.address} gave the request up")
            raise
        finally:
            room.halves -= 1
            if not room.halves and (room.lost or room.taken.is_set()):
                self._rooms.pop(asked.room, None)

    async def comes(self, room: Room | None, name: str, patience: float) -> None:
        """Wait until the other half has come as far as an event of the room. Raises HandoverLost."""
        if room is None:
            return
        event: asyncio.Event = getattr(room, name)
        try:
            async with asyncio.timeout(patience):
                await event.wait()
        except TimeoutError:
            room.abandon(f"after {patience:g} s the other half had not come as far as {name}")
        if room.lost:
            raise HandoverLost(room.lost)

    def take(self, engine: FakeEngine, asked: Asked) -> None:
        """Fetch the blocks that a prefill half handed to a vLLM decode half. Raises HandoverLost."""
        told = asked.transfer
        if engine.behaviour.transfer is not Transfer.NIXL or told is None:
            return
        where, identity, name = (told.get(key) for key in ("remote_host", "remote_engine_id", "remote_request_id"))
        other = self._find(str(where))
        if other is None or other.phase is Phase.ENDED or other.identity != identity or name not in other.handed:
            raise HandoverLost(f"the blocks of {_shown(name)} are no longer at {_shown(where)}")
        other.handed.discard(str(name))


def _shown(value: Any) -> str:
    return str(value)[:100]
