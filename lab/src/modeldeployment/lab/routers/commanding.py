"""From a rendered router container to the command line that runs here: pure.

A rendered container is run as it is but for two things, each in one table: the executable is the one that the packaged
program installs (`ENTRIES`), and it listens on an address of its own (`Listening`), with free ports on loopback and
with the ports it is rendered with at a Pod's address. Sources: facts router-rendering §5, facts routers-measured.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from modeldeployment.lab.routers.errors import CommandUnknown

CONTAINER: Final = "router"
"""The name of the container that runs the routing program."""
HOST: Final = "127.0.0.1"
"""Where a router of the lab listens, whatever it was rendered with."""


@dataclass(frozen=True, slots=True)
class Entry:
    """How a rendered command is run: the packaged program that has it, and the words it starts with there."""

    program: str
    words: tuple[str, ...]


ENTRIES: Final[Mapping[str, Entry]] = {
    "vllm-router": Entry("vllm-router", ("vllm-router",)),
    # The image of a deployment holds the Rust binary. The wheel installs a front of the same router in Python, whose
    # parser knows the same flags and starts the router under the word `launch`.
    "sgl-model-gateway": Entry("sglang-router", ("sglang-router", "launch")),
}
"""Every command that a router container may be rendered with, by its first word."""


@dataclass(frozen=True, slots=True)
class Listening:
    """Where one router listens: `port` takes requests, `metrics` tells its metrics."""

    port: int
    metrics: int
    host: str = HOST

    def flags(self) -> dict[str, str]:
        """Answer every flag whose rendered value is replaced, and by what."""
        return {
            "--host": self.host,
            "--port": str(self.port),
            "--prometheus-host": self.host,
            "--prometheus-port": str(self.metrics),
        }


def container_of(objects: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Answer the container of the routing program among a router's rendered objects. Raises CommandUnknown."""
    for each in objects:
        if each.get("kind") == "Deployment":
            for container in each["spec"]["template"]["spec"]["containers"]:
                if container["name"] == CONTAINER:
                    found: Mapping[str, Any] = container
                    return found
    raise CommandUnknown(f"no Deployment has a container {CONTAINER!r}; only routers of one program are run here")


def entry(container: Mapping[str, Any]) -> Entry:
    """Answer how a container's command is run. Raises CommandUnknown."""
    command = tuple(container.get("command", ()))
    known = ENTRIES.get(command[0]) if len(command) == 1 else None
    if known is None:
        raise CommandUnknown(f"command {list(command)} is none of {sorted(ENTRIES)}; add its entry to ENTRIES")
    return known


def listening_at(container: Mapping[str, Any], address: str) -> Listening:
    """Answer where a container listens at a Pod's address: on the ports it is rendered with. Raises CommandUnknown."""
    given = dict(argument.split("=", 1) for argument in container.get("args", ()) if "=" in argument)
    try:
        return Listening(int(given["--port"]), int(given["--prometheus-port"]), address)
    except (KeyError, ValueError) as error:
        message = f"no --port=… and --prometheus-port=… with a number among {list(container.get('args', ()))}"
        raise CommandUnknown(f"{message}; a router at a Pod's address listens where it is rendered to") from error


def command_line(container: Mapping[str, Any], environment: Path, listening: Listening) -> list[str]:
    """Answer the words to run: the rendered ones, with the executable of `environment` and ports of its own.

    Raises CommandUnknown for another command, and where a flag that has to be replaced is not given exactly once as
    `--flag=value`: the program would then listen where its own default says.
    """
    executable, *words = entry(container).words
    replaced = listening.flags()
    given = [argument.partition("=")[0] for argument in container.get("args", ()) if "=" in argument]
    for flag in replaced:
        if given.count(flag) != 1:
            raise CommandUnknown(f"argument {flag}=… is given {given.count(flag)} times; the lab replaces exactly one")
    arguments = [_replace(argument, replaced) for argument in container.get("args", ())]
    return [str(environment / "bin" / executable), *words, *arguments]


def _replace(argument: str, replaced: Mapping[str, str]) -> str:
    flag, equals, _ = argument.partition("=")
    return f"{flag}={replaced[flag]}" if equals and flag in replaced else argument
