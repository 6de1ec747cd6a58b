"""What an engine is to the renderer: one row of the closed catalogue.

Everything that differs between engines is data here, so no other module asks which engine it has before it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from modeldeployment.api.modeldeployment import EngineName
from modeldeployment.render.compose import Fragment
from modeldeployment.render.flags import Flags

if TYPE_CHECKING:
    from modeldeployment.render.context import Context

Part: TypeAlias = "Callable[[Context], Fragment]"
"""One function with one subject."""

LEADER_ADDRESS: Final = "GPUSTACK_REPLICA_LEADER_ADDRESS"
REPLICA_SIZE: Final = "GPUSTACK_REPLICA_SIZE"
MEMBER_INDEX: Final = "GPUSTACK_MEMBER_INDEX"
MEMBER_VARIABLES: Final = (LEADER_ADDRESS, REPLICA_SIZE, MEMBER_INDEX)
"""Reserved on every engine at every size (spec 1 §A minimal deployment)."""


@dataclass(frozen=True, slots=True)
class ListenFlags:
    """The full spellings of the flags that say where an engine listens; empty where it has none."""

    host: str = "--host"
    port: str = "--port"
    certificate: str = "--ssl-certfile"
    key: str = "--ssl-keyfile"
    client_certificates: str = ""

    def all(self) -> tuple[str, ...]:
        """Answer every spelling there is."""
        flags = (self.host, self.port, self.certificate, self.key, self.client_certificates)
        return tuple(flag for flag in flags if flag)


@dataclass(frozen=True, slots=True)
class Gauges:
    """Names of the gauges that say how many requests an engine has in flight.

    `always` are in every complete body; `split` count where a role of a pair exposes them.
    Source: facts shutdown §1, decisions D10.
    """

    always: tuple[str, ...]
    split: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Engine:
    """One engine: how it is started, reached and read, what the operator owns on it, and the ordered Parts of its Pods.

    `tag` is its word in a runner image's tag.
    """

    name: EngineName
    tag: str
    base_argv: Callable[[str], tuple[str, ...]]
    flags: Flags
    listen: ListenFlags
    in_flight: Gauges
    owned_arguments: tuple[str, ...]
    owned_environment: frozenset[str]
    parts: tuple[Part, ...]
