"""Engines that do nothing but tell their metrics, thousands of them, in a process of their own.

Run as `python -m modeldeployment.lab.bench.exporting COUNT FILE`. It prints the addresses as one line of JSON once all
of them listen, and answers until it is told to end. Then the file is written: pairs of 64-bit integers, which engine
was asked (its place in the list) and when, in microseconds of the monotonic clock (`stubbing.now`).

Every body is as large as one recorded of vLLM 0.32.0. Counters grow as if each engine served the same load for ever.
"""

import asyncio
import json
import secrets
import signal
import sys
from array import array
from pathlib import Path
from typing import Final

from modeldeployment.api.choices import EngineName
from modeldeployment.lab.bench import stubbing
from modeldeployment.lab.engines import EngineModel, addresses
from modeldeployment.lab.engines.errors import AddressTaken
from modeldeployment.lab.engines.exposition import metrics

PORT: Final = 8000
BODY: Final = 42_000
"""Bytes of a body at least, those of a recorded one."""
PROMPT_RATE: Final = 640
"""Prompt tokens a second of one engine."""
GENERATION_RATE: Final = 160
"""Tokens a second that it gives."""
REQUEST_RATE: Final = 1
"""Requests a second."""
FIRST_SECONDS: Final = 0.2
BETWEEN_SECONDS: Final = 0.02
RUNNING: Final = 4
_HEAD: Final = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: %d\r\n\r\n"
_GROWING: Final = {9_000_001: PROMPT_RATE, 9_000_002: GENERATION_RATE, 9_000_003: REQUEST_RATE}
"""Numbers of a body that stand for a count, and by how much each grows in a second."""
_END: Final = b"\r\n\r\n"


class Bodies:
    """What an engine has to tell, by how long it has served."""

    def __init__(self) -> None:
        prompts, tokens, requests = _GROWING
        model = EngineModel()
        for _ in range(RUNNING):
            model.start(model.arrive(("word",) * 16))
        served = model.served[True]
        served.prompt_tokens, served.generation_tokens = prompts, tokens
        model.finished, model.cached_tokens = requests, 0
        served.first.observe(FIRST_SECONDS, requests)
        model.between.observe(BETWEEN_SECONDS, tokens)
        text = metrics(EngineName.VLLM, "model", model)
        more = [line for line in text.splitlines(keepends=True) if "time_to_first_token" in line]
        number = 0
        while len(text) < BODY:
            number += 1
            text += "".join(more).replace("time_to_first_token", f"nobody_asks_for_{number}")
        self._text = text.encode()
        self._last = (-1, b"")

    def at(self, tenths: int) -> bytes:
        """Answer the body that is told so many tenths of a second after the start."""
        if self._last[0] != tenths:
            text = self._text
            for number, rate in _GROWING.items():
                text = text.replace(b"%d.0" % number, b"%d.0" % (rate * tenths // 10))
            self._last = (tenths, text)
        return self._last[1]


class _Exporter(asyncio.Protocol):
    """One connection: whatever is asked, metrics are answered."""

    def __init__(self, number: int, bodies: Bodies, asked: "array[int]") -> None:
        self._number = number
        self._bodies = bodies
        self._asked = asked
        self._heard = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._heard += data
        while _END in self._heard:
            _, _, self._heard = self._heard.partition(_END)
            at = stubbing.now()
            self._asked.extend((self._number, at))
            body = self._bodies.at(at // 100_000)
            assert self._transport is not None
            self._transport.write(_HEAD % len(body) + body)


async def export(count: int) -> bytes:
    """Listen at so many addresses, say where, and answer who was asked when once told to end."""
    told, asked, bodies = asyncio.Event(), array(stubbing.TYPECODE), Bodies()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, told.set)
    where: list[str] = []
    for address in addresses.candidates(secrets.randbits(32)):
        if len(where) == count:
            break
        try:
            (listening,) = addresses.listen(address, (PORT,))
        except AddressTaken:
            continue
        place = len(where)
        await loop.create_server(lambda place=place: _Exporter(place, bodies, asked), sock=listening)  # type: ignore[misc]
        where.append(address)
    print(json.dumps(where), flush=True)
    await told.wait()
    return asked.tobytes()


if __name__ == "__main__":
    Path(sys.argv[2]).write_bytes(asyncio.run(export(int(sys.argv[1]))))
