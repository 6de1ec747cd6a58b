"""One fake engine: who it is, how it behaves, what it counts, and what it was asked."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from modeldeployment.api.choices import EngineName
from modeldeployment.lab.engines.behaviour import Behaviour
from modeldeployment.lab.engines.model import EngineModel


@dataclass(frozen=True, slots=True)
class Received:
    """One request as it arrived; header names are in lower case, `body` is its JSON, or None where it had none."""

    port: int
    method: str
    path: str
    headers: Mapping[str, str]
    body: Any


@dataclass(slots=True)
class FakeEngine:
    """The engine at one Pod address. `ports` are those it listens on: the first serves, others are bootstrap ports."""

    engine: EngineName
    address: str
    ports: tuple[int, ...]
    served: str
    behaviour: Behaviour
    model: EngineModel = field(default_factory=EngineModel)
    received: list[Received] = field(default_factory=list, repr=False)
    released: asyncio.Event = field(default_factory=asyncio.Event, repr=False)

    def __post_init__(self) -> None:
        self.released.set()

    @property
    def url(self) -> str:
        """Where it serves."""
        return f"http://{self.address}:{self.ports[0]}"

    def behave(self, **changes: Any) -> None:
        """Change some fields of its behaviour; requests under way keep what they started with."""
        self.behaviour = replace(self.behaviour, **changes)

    def hold(self) -> None:
        """Let requests run and give none its first token until `release`."""
        self.released.clear()

    def release(self) -> None:
        """Go on after `hold`."""
        self.released.set()

    def asked(self, path: str) -> list[Received]:
        """Answer the requests for a path so far, oldest first."""
        return [each for each in self.received if each.path == path]
