"""The state of one engine as its metrics tell it: pure, with no clock and no sockets.

A request `arrive`s and waits, `start`s and runs, gets its `first_token` and further ones, and `leave`s. The prefix
cache remembers whole blocks of prompts. Source: facts metrics §1 and §3.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

BLOCK_SIZE: Final = 16
"""Tokens of one block of the KV cache; a token is a word of the prompt."""
_BUCKETS: Final = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


@dataclass(slots=True)
class Histogram:
    """Observations counted by the upper bounds they fall under, in seconds."""

    bounds: tuple[float, ...] = _BUCKETS
    counts: list[int] = field(default_factory=lambda: [0] * (len(_BUCKETS) + 1))
    total: float = 0.0

    def observe(self, seconds: float) -> None:
        """Count one observation."""
        self.counts[bisect_left(self.bounds, seconds)] += 1
        self.total += seconds


@dataclass(slots=True)
class Running:
    """One request under way: how many tokens of its prompt the cache knew, and how many it holds."""

    prompt: int
    cached: int
    output: int = 0
    running: bool = False


@dataclass(slots=True)
class EngineModel:
    """What an engine counts. `blocks` is the size of its KV cache."""

    blocks: int = 4096
    waiting: int = 0
    running: int = 0
    held: int = 0
    prompt_tokens: int = 0
    generation_tokens: int = 0
    cached_tokens: int = 0
    finished: int = 0
    aborted: int = 0
    external_queries: int = 0
    external_hits: int = 0
    first: Histogram = field(default_factory=Histogram)
    between: Histogram = field(default_factory=Histogram)
    _known: set[int] = field(default_factory=set, repr=False)

    @property
    def usage(self) -> float:
        """The fraction of the KV cache that running requests hold, from 0 to 1."""
        return min(1.0, self.held / (self.blocks * BLOCK_SIZE))

    def arrive(self, prompt: Sequence[str]) -> Running:
        """Take a request in; it waits."""
        self.waiting += 1
        return Running(len(prompt), self._remember(prompt))

    def start(self, request: Running) -> None:
        """Let a waiting request run; its prompt is counted now."""
        self.waiting -= 1
        self.running += 1
        request.running = True
        self.held += request.prompt
        self.prompt_tokens += request.prompt
        self.cached_tokens += request.cached

    def first_token(self, request: Running, seconds: float) -> None:
        """Give a request its first token, so many seconds after it arrived."""
        self.first.observe(seconds)
        self._token(request)

    def next_token(self, request: Running, seconds: float) -> None:
        """Give it another one, so many seconds after the one before."""
        self.between.observe(seconds)
        self._token(request)

    def leave(self, request: Running, *, finished: bool) -> None:
        """Let a request go, finished or cut off, from wherever it is."""
        if request.running:
            self.running -= 1
            self.held -= request.prompt + request.output
        else:
            self.waiting -= 1
        self.finished += finished
        self.aborted += not finished

    def received(self, tokens: int) -> None:
        """Count the blocks another engine handed over (facts metrics §1: on a decode half hits equal queries)."""
        self.external_queries += tokens
        self.external_hits += tokens

    def _token(self, request: Running) -> None:
        request.output += 1
        self.held += 1
        self.generation_tokens += 1

    def _remember(self, prompt: Sequence[str]) -> int:
        """Tell how many leading tokens are cached, and cache the whole blocks of this prompt from now on."""
        chain, cached, unbroken = 0, 0, True
        for end in range(BLOCK_SIZE, len(prompt) + 1, BLOCK_SIZE):
            chain = hash((chain, *prompt[end - BLOCK_SIZE : end]))
            unbroken = unbroken and chain in self._known
            cached += BLOCK_SIZE if unbroken else 0
            if len(self._known) < self.blocks:
                self._known.add(chain)
        return cached
