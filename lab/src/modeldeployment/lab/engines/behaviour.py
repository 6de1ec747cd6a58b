"""How one fake engine behaves: plain data that a test changes while the engine runs."""

from dataclasses import dataclass
from enum import StrEnum


class Transfer(StrEnum):
    """How the prefill half of a vLLM pair hands its blocks over (facts routers-measured §6)."""

    NONE = "none"
    """It takes no part in a pair: the parameters of a transfer are ignored."""
    NIXL = "nixl"
    """Its answer carries what the decode half needs."""
    MOONCAKE = "mooncake"
    """Its answer carries nothing: the decode half asks the bootstrap port."""


@dataclass(frozen=True, slots=True)
class Behaviour:
    """What one engine does when it is asked; seconds are of the wall clock.

    `health` is the status of its health routes, `failing` that of everything it would generate (0 lets it generate).
    A request waits `prefill_seconds` for its first token and `token_seconds` for each further one; it gets `tokens`
    of them, or fewer where it asks for fewer. `scale_out` serves the routes of vLLM's `--enable-scale-out`.
    """

    health: int = 200
    failing: int = 0
    prefill_seconds: float = 0.0
    token_seconds: float = 0.0
    tokens: int = 4
    scale_out: bool = False
    transfer: Transfer = Transfer.NONE
