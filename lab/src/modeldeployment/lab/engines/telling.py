"""How an engine tells its gauges when somebody reads them: the truth, or one of the ways in which that goes wrong."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from aiohttp import web

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
"""The type of the text."""
_PIECE: Final = b"# a line of no meaning whatever, to fill up the space that a reader has for it\n" * 1024
_PIECES: Final = 2048
_TRICKLE_SECONDS: Final = 0.1


class Manner(StrEnum):
    """What happens to the connection on which metrics are read."""

    WHOLE = "whole"
    """The text, and the end of it."""
    HANG = "hang"
    """Nothing, for ever."""
    TRICKLE = "trickle"
    """A byte now and then, for ever."""
    CUT = "cut"
    """Half of the text, and then the connection is lost."""
    ENDLESS = "endless"
    """More than any reader wants: about 160 MB."""
    REDIRECT = "redirect"
    """Go and ask elsewhere."""


@dataclass(frozen=True, slots=True)
class Telling:
    """How metrics are told: `status` is of the answer, `text` replaces all of it, a redirect leads `elsewhere`.

    `lies` gives series another value, as text, such as `0` or `NaN`; those in `without` are not there. `ranks` repeats
    every series for as many data-parallel ranks, and says each of the first again where `twice`.
    """

    manner: Manner = Manner.WHOLE
    status: int = 200
    text: str | None = None
    elsewhere: str = ""
    lies: Mapping[str, str] = field(default_factory=dict)
    without: frozenset[str] = frozenset()
    ranks: int = 1
    twice: bool = False


async def tell(request: web.Request, telling: Telling, text: str) -> web.StreamResponse:
    """Answer a reader of metrics; `text` is what would be told."""
    body = (text if telling.text is None else telling.text).encode()
    headers = {"Content-Type": CONTENT_TYPE}
    match telling.manner:
        case Manner.WHOLE:
            return web.Response(body=body, headers=headers, status=telling.status)
        case Manner.REDIRECT:
            return web.Response(status=302, headers={"Location": telling.elsewhere})
        case Manner.HANG:
            await asyncio.Event().wait()
        case Manner.TRICKLE | Manner.CUT | Manner.ENDLESS:
            response = web.StreamResponse(headers=headers, status=telling.status)
            await response.prepare(request)
            await _badly(request, response, telling.manner, body)
            return response
    raise AssertionError(telling.manner)


async def _badly(request: web.Request, response: web.StreamResponse, manner: Manner, body: bytes) -> None:
    if manner is Manner.ENDLESS:
        for _ in range(_PIECES):
            await response.write(_PIECE)
    elif manner is Manner.TRICKLE:
        while True:
            await response.write(b"\n")
            await asyncio.sleep(_TRICKLE_SECONDS)
    else:
        await response.write(body[: len(body) // 2])
        if request.transport is not None:
            request.transport.abort()
