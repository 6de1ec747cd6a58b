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


class Half(StrEnum):
    """Which part of a pair an SGLang engine is; its queues follow from it (facts shutdown §1)."""

    UNIFIED = "unified"
    PREFILL = "prefill"
    DECODE = "decode"


@dataclass(frozen=True, slots=True)
class Behaviour:
    """What one engine does when it is asked; seconds are of the engine's clock, `clock` of which go by in a real one.

    `health` is the status of its health routes, `failing` that of everything it would generate (0 lets it generate).
    A request waits `prefill_seconds` for its first token and `token_seconds` for each further one; it gets `tokens`
    of them, or fewer where it asks for fewer. At most `slots` run at once (0: any number), others wait.
    `scale_out` serves the routes of vLLM's `--enable-scale-out`.

    Under load it slows down: it computes at most `prefill_rate` tokens of prompts a second that its cache does not
    know, one request after the other, and gives at most `decode_rate` tokens a second to all that run together (0: no
    bound). Its KV cache has `blocks`; a request whose prompt does not fit waits. Times are stretched or shrunk by up to
    the share `spread`, the same way for the same seed. Tokens are handed over `together` so many at a time, for the
    sake of whoever has to carry them.

    In a pair: a prefill half keeps a request `bootstrap_seconds` before it queues and `inflight_seconds` after it was
    computed, a decode half `prealloc_seconds` and `transfer_seconds` before it runs. A half waits `partner_seconds` for
    the other one and then gives the request up. After SIGTERM, with nothing in flight, it takes `exit_seconds` to end.
    """

    health: int = 200
    failing: int = 0
    prefill_seconds: float = 0.0
    token_seconds: float = 0.0
    tokens: int = 4
    slots: int = 0
    scale_out: bool = False
    transfer: Transfer = Transfer.NONE
    half: Half = Half.UNIFIED
    bootstrap_seconds: float = 0.0
    inflight_seconds: float = 0.0
    prealloc_seconds: float = 0.0
    transfer_seconds: float = 0.0
    partner_seconds: float = 30.0
    exit_seconds: float = 0.0
    clock: float = 1.0
    prefill_rate: int = 0
    decode_rate: int = 0
    blocks: int = 4096
    spread: float = 0.0
    together: int = 1
