"""The rim of a load: sends what is planned when it is due, and writes down what becomes of it."""

import asyncio
import contextlib
import time
from collections.abc import Iterable
from typing import Final

import httpx

from modeldeployment.lab.loading import judging
from modeldeployment.lab.loading.accounts import Account, Answer, Outcome
from modeldeployment.lab.loading.judging import Reading
from modeldeployment.lab.loading.planning import Load, Request, requests

PATH: Final = "/v1/chat/completions"
"""Where requests are sent."""
# No connection is kept: one that the server closes between two requests would look like a request that was cut.
_LIMITS: Final = httpx.Limits(max_connections=None, max_keepalive_connections=0)


async def send(load: Load, url: str, model: str, enough: asyncio.Event | None = None) -> Account:
    """Send a load to a router or an engine, and return once each request has come to something; see `deliver`."""
    return await deliver(requests(load), load.patience, url, model, enough)


async def deliver(
    planned: Iterable[Request], patience: float, url: str, model: str, enough: asyncio.Event | None = None
) -> Account:
    """Send requests, each when it is due, and return once each of them has come to something.

    No request begins once somebody said that it is `enough`. It ends at the latest `patience` seconds after the last
    request began. Nobody's proxy is used. Sending that is cancelled cuts what is under way.
    """
    start = time.monotonic()
    sent: list[asyncio.Task[Answer]] = []
    enough = enough or asyncio.Event()
    client = httpx.AsyncClient(base_url=url, limits=_LIMITS, timeout=None, trust_env=False)
    async with client as http, asyncio.TaskGroup() as group:
        for request in planned:
            if await _said(enough, start + request.due - time.monotonic()):
                break
            sent.append(group.create_task(_one(http, request, model, start, patience)))
    return Account(tuple(task.result() for task in sent))


async def _said(enough: asyncio.Event, within: float) -> bool:
    """Wait so long, and no longer once it is said; tell whether it is."""
    if within <= 0:
        await asyncio.sleep(0)
        return enough.is_set()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(within):
            await enough.wait()
    return enough.is_set()


async def _one(http: httpx.AsyncClient, request: Request, model: str, start: float, patience: float) -> Answer:
    began, reading, status = time.monotonic(), Reading(), 0
    try:
        async with asyncio.timeout(patience):
            async with http.stream("POST", PATH, json=request.body(model)) as response:
                status = response.status_code
                if status != httpx.codes.OK:
                    outcome, cause = judging.refusal(status, (await response.aread()).decode(errors="replace"))
                else:
                    await _read(response, reading, stream=request.stream)
                    outcome, cause = judging.verdict(reading, request.tokens)
    except httpx.ConnectError as error:
        outcome, cause = Outcome.REFUSED, f"not connected: {_root(error)}"
    except httpx.TransportError as error:
        where = "before its answer began" if not status else "within its answer"
        outcome, cause = Outcome.CUT, f"connection lost {where}: {_root(error)}"
    except TimeoutError:
        outcome, cause = Outcome.GIVEN_UP, f"no end within {patience:g} s"
    took = time.monotonic() - began
    mark, stream = request.mark, request.stream
    return Answer(mark, stream, outcome, cause, reading.engine, status, reading.tokens, began - start, took)


async def _read(response: httpx.Response, reading: Reading, *, stream: bool) -> None:
    if stream:
        async for line in response.aiter_lines():
            reading.line(line)
    else:
        reading.whole((await response.aread()).decode(errors="replace"))


def _root(error: BaseException) -> str:
    """What lies at the bottom of an error, without addresses that differ from one to the next."""
    while (below := error.__cause__ or error.__context__) is not None:
        error = below
    return type(error).__name__
