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
    slots: Annotated[int, typer.Option(min=0, help="Most requests that run at once; 0 is any number.")] = 0,
    prefill_rate: Annotated[
        int, typer.Option(min=0, help="Most prompt tokens a second that no cache knows, a prompt at a time; 0: any.")
    ] = 0,
    decode_rate: Annotated[
        int, typer.Option(min=0, help="Most tokens a second that all requests get together; 0: any.")
    ] = 0,
    blocks: Annotated[int, typer.Option(min=1, help="Blocks of 16 tokens in the KV cache.")] = 4096,
    spread: Annotated[float, typer.Option(min=0, max=1, help="The share by which times vary by chance.")] = 0.0,
    together: Annotated[int, typer.Option(min=1, help="Tokens that a stream hands over at once.")] = 1,
    clock: Annotated[float, typer.Option(min=0.001, help="Seconds of an engine in a second of ours.")] = 1.0,
    seed: Annotated[int | None, typer.Option(help="The same seed gives the same addresses and chances.")] = None,
    scale_out: Annotated[bool, typer.Option("--scale-out", help="Serve vLLM's routes that count tokens.")] = False,
) -> None:
    """Answer as engines would, at many Pod addresses from one process, until interrupted; prints where."""
    behaviour = Behaviour(
        prefill_seconds=prefill_seconds,
        token_seconds=token_seconds,
        tokens=tokens,
        slots=slots,
        prefill_rate=prefill_rate,
        decode_rate=decode_rate,
        blocks=blocks,
        spread=spread,
        together=together,
        clock=clock,
        scale_out=scale_out,
    )
    wanted: list[str | None] = [*address] if address else [None] * count
    asyncio.run(_serve(engine.engine, wanted, tuple(port or (SERVING_PORT,)), model, behaviour, seed))


async def _serve(
    engine: EngineName,
    addresses: list[str | None],
    ports: tuple[int, ...],
    served: str,
    behaviour: Behaviour,
    seed: int | None,
) -> None:
    told = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, told.set)
    async with EngineServer(seed=seed) as server:
        for address in addresses:
            fake = await server.open(engine, address=address, ports=ports, served=served, behaviour=behaviour)
            print(fake.url, flush=True)
        await told.wait()
        say(f"md-lab engines: ended; {sum(len(each.received) for each in server.engines)} requests arrived")
