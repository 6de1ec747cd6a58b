"""The real routers, run with the command lines we render: `vllm-router` and SGLang's gateway, from their wheels.

`container_of` finds the routing program's container among rendered objects, `entry` says which packaged program runs
it, a `RunningRouter` runs it and asks it for its `Worker`s, and `IMAGES` are images that name its version.
"""

from modeldeployment.lab.routers.commanding import ENTRIES, Entry, Listening, command_line, container_of, entry
from modeldeployment.lab.routers.errors import CommandUnknown, RouterError, RouterFailed
from modeldeployment.lab.routers.images import IMAGES
from modeldeployment.lab.routers.running import RunningRouter
from modeldeployment.lab.routers.workers import Worker, listed

__all__ = [
    "ENTRIES",
    "IMAGES",
    "CommandUnknown",
    "Entry",
    "Listening",
    "RouterError",
    "RouterFailed",
    "RunningRouter",
    "Worker",
    "command_line",
    "container_of",
    "entry",
    "listed",
]
