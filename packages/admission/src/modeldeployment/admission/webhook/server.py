"""The HTTPS server: bytes in and bytes out, one path per half and kind, and a proper refusal for everything else."""

import contextlib
import os
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final, TypeAlias

from aiohttp import web

from modeldeployment.admission.errors import BadReview, ListenError
from modeldeployment.admission.webhook import configurations
from modeldeployment.admission.webhook.answering import Reviewer
from modeldeployment.admission.webhook.configurations import Half

LARGEST: Final = 6 * 2**20
"""Bytes of the largest review read: API servers take requests of 3 MiB, and a review holds the stored object too."""

# API servers close idle connections after 90 s; were we to close one first, a review on its way would be lost with it.
_KEPT_SECONDS: Final = 300.0
_LAST_SECONDS: Final = 5.0
_JSON: Final = "application/json"

_Handler: TypeAlias = Callable[[web.Request], Awaitable[web.StreamResponse]]


@contextlib.asynccontextmanager
async def serving(address: tuple[str, int], context: ssl.SSLContext, reviewer: Reviewer) -> AsyncIterator[int]:
    """Serve reviews while the context is open; gives the port, which matters where 0 was asked for.

    Handshakes fail until `context` has a certificate. Raises ListenError where the address cannot be opened.
    """
    app = web.Application(client_max_size=LARGEST)
    for half in Half:
        for kind in configurations.PLURALS:
            app.router.add_post(configurations.path(half, kind), _handler(reviewer, half, kind))
    runner = web.AppRunner(app, access_log=None, keepalive_timeout=_KEPT_SECONDS, shutdown_timeout=_LAST_SECONDS)
    await runner.setup()
    host, port = address
    try:
        await web.TCPSite(runner, host, port, ssl_context=context, backlog=1024).start()
    except OSError as error:
        await runner.cleanup()
        why = os.strerror(error.errno) if error.errno is not None and error.errno > 0 else str(error)
        raise ListenError(f"cannot listen on {host}:{port}: {why}") from error
    try:
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


def _handler(reviewer: Reviewer, half: Half, kind: str) -> _Handler:
    async def handle(request: web.Request) -> web.Response:
        if request.content_type != _JSON:
            return web.Response(status=415, text=f"a review is sent as {_JSON}, not {request.content_type}\n")
        try:
            body = await reviewer.answer(half, kind, await request.read())
        except BadReview as error:
            return web.Response(status=error.status, text=f"{error}\n")
        return web.Response(body=body, content_type=_JSON)

    return handle
