"""The preStop hook of a rendered Pod as it runs here: pure.

In a Pod, loopback is the Pod's own. In the lab that is the Pod's address, and nothing else of the command changes.
"""

from collections.abc import Mapping
from typing import Any, Final

ENGINE: Final = "main"
"""The name of the container that runs the engine."""
_LOOPBACK: Final = "://127.0.0.1:"


def hook(pod: Mapping[str, Any], address: str) -> list[str] | None:
    """Answer the command of the engine's preStop hook, to be run for a Pod at an address; None where it has none."""
    (engine,) = (each for each in pod["spec"]["containers"] if each["name"] == ENGINE)
    command = engine.get("lifecycle", {}).get("preStop", {}).get("exec", {}).get("command")
    return None if command is None else [word.replace(_LOOPBACK, f"://{address}:") for word in command]
