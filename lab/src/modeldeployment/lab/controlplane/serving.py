"""The supervisor's end of the control port: carries out commands of whoever knows the token."""

import asyncio
import json
import secrets
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, assert_never

from modeldeployment.lab.controlplane.commands import Command, Verb
from modeldeployment.lab.controlplane.options import component
from modeldeployment.lab.controlplane.starting import Starting
from modeldeployment.lab.errors import ComponentFailed, ControlPlaneError

Answer = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def answering(starting: Starting, token: str) -> Answer:
    """Return the handler of the control port: carries out commands of whoever knows the token."""
    one_at_a_time = asyncio.Lock()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with one_at_a_time:
                said = await _answer_to(starting, token, await reader.readline())
            writer.write(json.dumps(said).encode() + b"\n")
            await writer.drain()
        except ConnectionError:
            pass  # the asker went away; what it asked for is done
        finally:
            writer.close()

    return answer


async def _answer_to(starting: Starting, token: str, line: bytes) -> Mapping[str, Any]:
    try:
        asked = json.loads(line)
        if not secrets.compare_digest(asked["token"], token):
            return {"error": "the token is not this control plane's"}
        await _carry_out(starting, Command(Verb(asked["verb"]), asked["component"], tuple(asked["extra_args"])))
    except ComponentFailed as error:
        return {"error": error.why, "culprit": error.component}
    except ControlPlaneError as error:
        return {"error": str(error)}
    except (ValueError, KeyError, TypeError):
        return {"error": "the line is not a command of this lab"}
    return {}


async def _carry_out(starting: Starting, command: Command) -> None:
    part = component(command.component)
    match command.verb:
        case Verb.RESTART:
            await starting.again(part, command.extra_args)
        case Verb.KILL:
            starting.running.kill(part)
        case Verb.PAUSE:
            starting.running.pause(part)
        case Verb.RESUME:
            starting.running.resume(part)
        case other:
            assert_never(other)
