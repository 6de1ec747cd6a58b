"""The real routers, run as we render them: `vllm-router`, SGLang's gateway, and `llm-d-router` with its proxies.

`container_of` finds the routing program's container among rendered objects, `entry` says which packaged program runs
it, a `RunningRouter` runs it and asks it for its `Worker`s, and `IMAGES` are images that name its version. The two
programs of `llm-d-router` are a `RunningPicker`, and a `RunningSidecar` stands before a decoder behind it.
"""

from modeldeployment.lab.routers.commanding import ENTRIES, Entry, Listening, command_line, container_of, entry
from modeldeployment.lab.routers.errors import CommandUnknown, RouterError, RouterFailed
from modeldeployment.lab.routers.images import IMAGES, picker_image
from modeldeployment.lab.routers.pickers import Rendered, RunningPicker
from modeldeployment.lab.routers.picking import Placed
from modeldeployment.lab.routers.running import RunningRouter
from modeldeployment.lab.routers.sidecars import RunningSidecar
from modeldeployment.lab.routers.workers import Worker, listed

__all__ = [
    "ENTRIES",
    "IMAGES",
    "CommandUnknown",
    "Entry",
    "Listening",
    "Placed",
    "Rendered",
    "RouterError",
    "RouterFailed",
    "RunningPicker",
    "RunningRouter",
    "RunningSidecar",
    "Worker",
    "command_line",
    "container_of",
    "entry",
    "listed",
    "picker_image",
]
