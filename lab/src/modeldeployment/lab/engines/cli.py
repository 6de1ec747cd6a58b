"""The `md-lab engines` command."""

import asyncio
import signal
from enum import StrEnum
from typing import Annotated

import typer

from modeldeployment.api.choices import EngineName
from modeldeployment.lab.engines.behaviour import Behaviour
from modeldeployment.lab.engines.serving import SERVING_PORT, EngineServer
from modeldeployment.lab.terminal import say


class _Word(StrEnum):
    """An engine as it is written in a shell."""

    VLLM = "vllm"
    SGLANG = "sglang"

    @property
    def engine(self) -> EngineName:
        return EngineName[self.name]


def engines(
    engine: Annotated[_Word, typer.Option(help="Whose routes, metrics and answers they have.")] = _Word.VLLM,
    address: Annotated[
        list[str] | None, typer.Option(help="A Pod address inside 127.1.0.0/16. Repeatable; free ones without it.")
    ] = None,
    count: Annotated[int, typer.Option(min=1, help="How many, where no addresses are given.")] = 1,
    port: Annotated[
        list[int] | None, typer.Option(min=1, max=65535, help="The serving port, then bootstrap ports. Repeatable.")
    ] = None,
    model: Annotated[str, typer.Option(help="The name the model is served under.")] = "model",
    prefill_seconds: Annotated[float, typer.Option(min=0, help="Seconds until the first token.")] = 0.0,
    token_seconds: Annotated[float, typer.Option(min=0, help="Seconds between two tokens.")] = 0.0,
    tokens: Annotated[int, typer.Option(min=1, help="Tokens of an answer, unless the request wants fewer.")] = 4,
    scale_out: Annotated[bool, typer.Option("--scale-out", help="Serve vLLM's routes that count tokens.")] = False,
) -> None:
    """Answer as engines would, at many Pod addresses from one process, until interrupted; prints where."""
    behaviour = Behaviour(
        prefill_seconds=prefill_seconds, token_seconds=token_seconds, tokens=tokens, scale_out=scale_out
    )
    wanted: list[str | None] = [*address] if address else [None] * count
    asyncio.run(_serve(engine.engine, wanted, tuple(port or (SERVING_PORT,)), model, behaviour))


async def _serve(
    engine: EngineName, addresses: list[str | None], ports: tuple[int, ...], served: str, behaviour: Behaviour
) -> None:
    told = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, told.set)
    async with EngineServer() as server:
        for address in addresses:
            fake = await server.open(engine, address=address, ports=ports, served=served, behaviour=behaviour)
            print(fake.url, flush=True)
        await told.wait()
        say(f"md-lab engines: ended; {sum(len(each.received) for each in server.engines)} requests arrived")
