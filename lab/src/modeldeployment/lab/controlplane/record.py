"""What the supervisor says about itself on disk: written atomically, read by anybody."""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Self

from modeldeployment.lab.controlplane.options import Component, Options, Ports


class Phase(StrEnum):
    """Where a control plane is in its life."""

    STARTING = "Starting"
    READY = "Ready"
    DEGRADED = "Degraded"
    """A component is not running; the others are, so that logs and objects can still be read."""
    FAILED = "Failed"
    """It did not start; nothing runs any more."""
    STOPPING = "Stopping"
    STOPPED = "Stopped"
    LOST = "Lost"
    """The supervisor was killed; its components ended with it."""


class ComponentPhase(StrEnum):
    """What one component is doing."""

    WAITING = "Waiting"
    STARTING = "Starting"
    RUNNING = "Running"
    PAUSED = "Paused"
    KILLED = "Killed"
    """Ended because somebody asked for it."""
    DIED = "Died"
    """Ended by itself."""
    STOPPED = "Stopped"


@dataclass(frozen=True, slots=True)
class ComponentRecord:
    """One component; `pid` is 0 while no process exists, `exit_code` is meaningful after it ended."""

    phase: ComponentPhase = ComponentPhase.WAITING
    pid: int = 0
    exit_code: int | None = None
    starts: int = 0


@dataclass(frozen=True, slots=True)
class Record:
    """The whole state; `token` opens the control port.

    `failure` is a sentence for people, empty while all is well; `culprit` is the component it is about, or empty.
    """

    phase: Phase
    options: Options
    bin: Path
    ports: Ports | None
    supervisor: int
    token: str
    components: Mapping[Component, ComponentRecord]
    failure: str = ""
    culprit: str = ""

    def write(self, path: Path) -> None:
        """Replace the file at once, readable by its owner only."""
        value = asdict(self) | {
            "options": self.options.as_json(),
            "bin": str(self.bin),
            "components": {str(part): asdict(entry) for part, entry in self.components.items()},
        }
        staging = path.with_name(f"{path.name}.new")
        descriptor = os.open(staging, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w") as file:
            json.dump(value, file, indent=2)
        staging.replace(path)

    @classmethod
    def read(cls, path: Path) -> Self | None:
        """Return what is on disk; None if there is nothing, or something else."""
        try:
            value: dict[str, Any] = json.loads(path.read_text())
            components = {
                Component(part): ComponentRecord(**{**entry, "phase": ComponentPhase(entry["phase"])})
                for part, entry in value["components"].items()
            }
            return cls(
                **{
                    **value,
                    "phase": Phase(value["phase"]),
                    "options": Options.from_json(value["options"]),
                    "bin": Path(value["bin"]),
                    "ports": Ports.of(value["ports"]) if value["ports"] else None,
                    "components": components,
                }
            )
        except (OSError, ValueError, KeyError, TypeError):
            return None
