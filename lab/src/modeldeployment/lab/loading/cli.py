"""The `md-lab load` and `md-lab trace` commands."""

import asyncio
import json
from pathlib import Path
from typing import Annotated

import typer

from modeldeployment.lab.loading import traces
from modeldeployment.lab.loading.accounts import Account
from modeldeployment.lab.loading.planning import Load
from modeldeployment.lab.loading.sending import deliver, send
from modeldeployment.lab.loading.traces import Tempo
from modeldeployment.lab.terminal import say


def load(
    url: Annotated[str, typer.Argument(help="A router or an engine, such as http://127.1.128.1:8081.")],
    model: Annotated[str, typer.Option(help="The name the model is served under.")] = "model",
    rate: Annotated[float, typer.Option(help="Requests a second, in the mean.")] = 10.0,
    seconds: Annotated[float, typer.Option(help="For how long new ones begin.")] = 10.0,
    count: Annotated[int, typer.Option(min=0, help="At most so many; 0 is no bound.")] = 0,
    streamed: Annotated[float, typer.Option(help="The share of those that stream, from 0 to 1.")] = 0.5,
    tokens: Annotated[tuple[int, int], typer.Option(help="Fewest and most tokens that one asks for.")] = (4, 16),
    patience: Annotated[float, typer.Option(help="Seconds after which a request is given up.")] = 120.0,
    seed: Annotated[int, typer.Option(help="The same seed sends the same.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the account as JSON.")] = False,
) -> None:
    """Send chats at a rate, whatever becomes of them, and account for every one; exit code 1 if any was lost."""
    try:
        planned = Load(rate, seconds, count, streamed, tokens, patience=patience, seed=seed)
    except ValueError as error:
        say(f"md-lab: {error}")
        raise typer.Exit(2) from error
    _tell(asyncio.run(send(planned, url, model)), as_json=as_json)


def trace(
    url: Annotated[str, typer.Argument(help="A router or an engine, such as http://127.1.128.1:8081.")],
    file: Annotated[Path, typer.Argument(help="CSV, gzipped or not: t_s, input_tokens, output_tokens.")],
    model: Annotated[str, typer.Option(help="The name the model is served under.")] = "model",
    compress: Annotated[float, typer.Option(help="How many times as fast it is played.")] = 1.0,
    thin: Annotated[int, typer.Option(help="Send one request in so many; as many as --compress keeps rates.")] = 1,
    begin: Annotated[float, typer.Option(help="The recorded second at which it begins.")] = 0.0,
    end: Annotated[float, typer.Option(help="The recorded second at which it ends; 0 is the end.")] = 0.0,
    shared: Annotated[float, typer.Option(help="The share of every prompt that is the same, from 0 to 1.")] = 0.0,
    streamed: Annotated[float, typer.Option(help="The share of those that stream, from 0 to 1.")] = 0.5,
    patience: Annotated[float, typer.Option(help="Seconds after which a request is given up.")] = 120.0,
    seed: Annotated[int, typer.Option(help="The same seed sends the same.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the account as JSON.")] = False,
) -> None:
    """Send what a recorded trace holds, when it is due, and account for every request; exit code 1 if any was lost."""
    try:
        tempo = Tempo(compress, thin, begin, end, shared, streamed, patience, seed)
        planned = traces.played(traces.read(file), tempo)
    except (ValueError, OSError) as error:
        say(f"md-lab: {error}")
        raise typer.Exit(2) from error
    _tell(asyncio.run(deliver(planned, patience, url, model)), as_json=as_json)


def _tell(account: Account, *, as_json: bool) -> None:
    print(json.dumps(account.tree(), indent=2) if as_json else account.text())
    raise typer.Exit(1 if account.lost else 0)
