"""What a control plane is asked to be: its components, options and ports, as plain data."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, Self

import platformdirs

from modeldeployment.lab.errors import StateUnusable, UnknownComponent

HOST: Final = "127.0.0.1"
DEFAULT_NAME: Final = "default"
_NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")


class Component(StrEnum):
    """The programs of a control plane, in start order; they stop in reverse (clients first)."""

    ETCD = "etcd"
    API_SERVER = "kube-apiserver"
    CONTROLLER_MANAGER = "kube-controller-manager"
    SCHEDULER = "kube-scheduler"
    KWOK = "kwok"
    KUEUE = "kueue"


def component(name: str) -> Component:
    """Return the component of that name, or raise UnknownComponent listing the names."""
    try:
        return Component(name)
    except ValueError:
        raise UnknownComponent(
            f"component {name!r} does not exist; the components are {', '.join(Component)}"
        ) from None


@dataclass(frozen=True, slots=True)
class Options:
    """How to start a control plane.

    `api_port` 0 takes any free port. `extra_args` are appended to a component's own arguments (the last one wins).
    `lifeline` is a process id: when that process ends, the control plane ends. `ready_seconds` bounds the wait for
    readiness. `state` defaults to the user's state directory, by name.
    """

    name: str = DEFAULT_NAME
    state: Path | None = None
    kueue: bool = True
    api_port: int = 0
    pod_cidr: str = "127.1.0.0/16"
    extra_args: Mapping[Component, tuple[str, ...]] = field(default_factory=dict)
    lifeline: int | None = None
    ready_seconds: float = 120.0

    @property
    def components(self) -> tuple[Component, ...]:
        """The components of this control plane in start order."""
        return tuple(part for part in Component if self.kueue or part is not Component.KUEUE)

    @property
    def folder(self) -> Path:
        """The absolute state directory."""
        return state_folder(self.name, self.state)

    def as_json(self) -> dict[str, Any]:
        """Return the options as JSON values."""
        return asdict(self) | {
            "state": str(self.folder),
            "extra_args": {str(part): list(arguments) for part, arguments in self.extra_args.items()},
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """Read what `as_json` wrote."""
        extra = {Component(part): tuple(arguments) for part, arguments in value["extra_args"].items()}
        return cls(**{**value, "state": Path(value["state"]), "extra_args": extra})


def state_folder(name: str = DEFAULT_NAME, state: Path | None = None) -> Path:
    """Return the absolute state directory of a control plane; raise StateUnusable for a name that cannot be one."""
    if state is not None:
        return state.expanduser().absolute()
    if not _NAME.fullmatch(name):
        raise StateUnusable(
            f"name {name!r} cannot name a control plane; use 1 to 63 lower-case letters, digits and inner hyphens"
        )
    return platformdirs.user_state_path("modeldeployment") / "lab" / name


@dataclass(frozen=True, slots=True)
class Ports:
    """The TCP ports on 127.0.0.1 of one control plane; `control` is the supervisor's own."""

    api_server: int
    control: int
    controller_manager: int
    etcd: int
    etcd_peer: int
    kueue_health: int
    kueue_metrics: int
    kueue_webhook: int
    kwok: int
    scheduler: int

    @classmethod
    def of(cls, numbers: Mapping[str, int]) -> Self:
        """Build from a mapping of exactly these names."""
        return cls(**numbers)

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """The names of the ports."""
        return tuple(entry.name for entry in fields(cls))

    def url(self, port: int, *, scheme: str = "http") -> str:
        """Return the loopback URL of a port."""
        return f"{scheme}://{HOST}:{port}"
