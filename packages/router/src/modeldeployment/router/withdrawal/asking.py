"""What is said between a proof and one router process: requests, answers, and what follows from them.

Plain data: whoever carries requests out does it elsewhere, and hands every answer back with the request it is for.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, StrEnum, auto
from http import HTTPStatus
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from modeldeployment.api.choices import RoleKind


class Verdict(StrEnum):
    """What is known. IMPOSSIBLE: it can never be proven as things stand, so the capacity stays."""

    PROVEN = "Proven"
    WAITING = "Waiting"
    IMPOSSIBLE = "Impossible"


class Door(Enum):
    """Which of a router's ports a request is for: the one that takes callers' requests, or the one of its numbers."""

    REQUESTS = auto()
    NUMBERS = auto()


@dataclass(frozen=True, slots=True)
class Ask:
    """One request to a router process. `path` is encoded already, `body` is JSON, empty where there is none."""

    method: str
    path: str
    door: Door = Door.REQUESTS
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Heard:
    """What came back for a request. `status` is None where nothing did that could be read, and `why` says why."""

    ask: Ask
    status: int | None = None
    body: bytes = b""
    why: str = ""

    @property
    def answered(self) -> bool:
        """Whether it is a plain 200."""
        return self.status == HTTPStatus.OK

    @property
    def forbidden(self) -> bool:
        """Whether the router wants to know who asks."""
        return self.status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)

    def __str__(self) -> str:
        """Say what was asked and what came back, for a sentence."""
        said = f"nothing that can be read ({self.why})" if self.status is None else f"HTTP {self.status}"
        return f"{said} to {self.ask.method} {self.ask.path}"


LIST: Final = Ask("GET", "/workers")
"""Asks for the workers of a router."""
NUMBERS: Final = Ask("GET", "/metrics", Door.NUMBERS)
"""Asks for its numbers."""


@dataclass(frozen=True, slots=True)
class Subject:
    """One member as one router process sees it.

    `router` names the router Pod and its program for sentences. `address` is the member's, `port` where the router
    reaches it, `name` its Pod's name. `paired` says whether both halves of a pair are behind the router, `peers`
    whether other members of this kind should be listed there, `encodes` whether an Encode role is beside it. `keyed`
    says whether requests carry a key, `fresh` whether this process began only after the member's label was off.
    """

    router: str
    name: str
    address: str
    port: int
    kind: RoleKind
    paired: bool = False
    peers: bool = True
    encodes: bool = False
    keyed: bool = False
    fresh: bool = False
    bootstrap_port: int | None = None

    @property
    def url(self) -> str:
        """How routers name the member."""
        host = f"[{self.address}]" if ":" in self.address else self.address
        return f"http://{host}:{self.port}"

    @property
    def word(self) -> str:
        """How routers name its kind: only a pair's halves are told apart."""
        return self.kind.label if self.paired else "regular"


@dataclass(frozen=True, slots=True)
class State:
    """What is remembered of one router process between two rounds of requests.

    `since` is when it was asked first. `tried` is when it was first told to remove the member, `asked` when it was told
    last, and `told` when it first agreed. `trouble` is since when its answers are of no use. `still` is since when
    nothing has spoken against the proof, unbroken, and `counted` what its counter of picks said then.
    """

    since: datetime
    tried: datetime | None = None
    told: datetime | None = None
    asked: datetime | None = None
    trouble: datetime | None = None
    still: datetime | None = None
    counted: float = 0.0


@dataclass(frozen=True, slots=True)
class Step:
    """What follows from the answers so far.

    `asks` are the next requests, in order, to be sent `rest` seconds from now. `verdict` says whether the router has
    let go of the member (or, where it is restored, taken it back), and `reason` is a sentence on it without a full
    stop; `until` is when it can hold at the earliest. `quiet` says whether nothing of what the router has sent is still
    under way, None where only the engine knows.
    """

    state: State
    asks: tuple[Ask, ...]
    rest: float
    verdict: Verdict
    reason: str
    quiet: bool | None = None
    until: datetime | None = None


class Advance(Protocol):
    """A function from the state before, None at first, and the answers to the last requests to what follows."""

    def __call__(self, state: State | None, heard: Sequence[Heard], subject: Subject, now: datetime) -> Step:
        """Say what follows."""
