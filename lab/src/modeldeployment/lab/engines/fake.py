"""One fake engine: who it is, how it behaves, what it counts, and what it was asked."""

import asyncio
import random
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from modeldeployment.api.choices import EngineName
from modeldeployment.lab.engines.behaviour import Behaviour
from modeldeployment.lab.engines.ledger import Ledger
from modeldeployment.lab.engines.model import SGLANG_BOUNDS, VLLM_BOUNDS, EngineModel
from modeldeployment.lab.engines.telling import Telling


@dataclass(frozen=True, slots=True)
class Received:
    """One request as it arrived; header names are in lower case, `body` is its JSON, or None where it had none."""

    port: int
    method: str
    path: str
    headers: Mapping[str, str]
    body: Any


class Phase(StrEnum):
    """Where an engine is in its life."""

    SERVING = "serving"
    DRAINING = "draining"
    """It finishes what it has and takes nothing new."""
    ENDED = "ended"


@dataclass(slots=True)
class FakeEngine:
    """The engine at one Pod address. `ports` are those it listens on: the first serves, others are bootstrap ports.

    `life` counts its restarts, `ended` says how its present life ended, `handed` names the requests whose blocks wait
    for a decode half. `chance` is where it draws from, and `computing` is held by the one prompt that is computed where
    prompts are computed one after the other.
    """

    engine: EngineName
    address: str
    ports: tuple[int, ...]
    served: str
    behaviour: Behaviour
    tls: ssl.SSLContext | None = field(default=None, repr=False)
    chance: random.Random = field(default_factory=lambda: random.Random(0), repr=False)
    model: EngineModel = field(init=False)
    telling: Telling = field(default_factory=Telling)
    ledger: Ledger = field(default_factory=Ledger, repr=False)
    received: list[Received] = field(default_factory=list, repr=False)
    released: asyncio.Event = field(default_factory=asyncio.Event, repr=False)
    freed: asyncio.Event = field(default_factory=asyncio.Event, repr=False)
    computing: asyncio.Lock = field(default_factory=asyncio.Lock, repr=False)
    phase: Phase = Phase.SERVING
    life: int = 0
    ended: str = ""
    handed: set[str] = field(default_factory=set, repr=False)

    def __post_init__(self) -> None:
        self.released.set()
        self.forget()

    @property
    def url(self) -> str:
        """Where it serves."""
        return f"http{'s' if self.tls else ''}://{self.address}:{self.ports[0]}"

    @property
    def identity(self) -> str:
        """By which id it knows itself; another one after each restart."""
        return f"engine-{self.address}-{self.life}" if self.life else f"engine-{self.address}"

    def behave(self, **changes: Any) -> None:
        """Change some fields of its behaviour; requests under way keep what they started with."""
        self.behaviour = replace(self.behaviour, **changes)

    def tell(self, **changes: Any) -> None:
        """Change how it tells its metrics from now on: fields of a truthful `Telling`; none is the truth again."""
        self.telling = Telling(**changes)

    def forget(self) -> None:
        """Count from nothing, with an empty cache."""
        bounds = SGLANG_BOUNDS if self.engine is EngineName.SGLANG else VLLM_BOUNDS
        self.model = EngineModel(blocks=self.behaviour.blocks, bounds=bounds)
        self.handed.clear()

    async def take(self, seconds: float) -> None:
        """Let seconds of its own clock go by."""
        await asyncio.sleep(seconds / self.behaviour.clock)

    def hold(self) -> None:
        """Let requests run and give none its first token until `release`."""
        self.released.clear()

    def release(self) -> None:
        """Go on after `hold`."""
        self.released.set()

    def free(self) -> None:
        """Let requests that wait for a slot look again."""
        self.freed.set()
        self.freed.clear()

    def asked(self, path: str) -> list[Received]:
        """Answer the requests for a path so far, oldest first."""
        return [each for each in self.received if each.path == path]
