"""The state of one engine as its metrics tell it: pure, with no clock and no sockets.

A request `arrive`s and waits, may `move` through the queues of a pair, `start`s and runs, gets its `first_token` and
further ones, and `leave`s. The prefix cache remembers whole blocks of prompts. Source: facts metrics §1 and §3, facts
shutdown §1.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Final

BLOCK_SIZE: Final = 16
"""Tokens of one block of the KV cache; a token is a word of the prompt."""
_BUCKETS: Final = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Place(Enum):
    """Where in an engine a request is."""

    WAITING = auto()
    BOOTSTRAP = auto()
    """A prefill half waits for its decode half to say where blocks go."""
    PREALLOC = auto()
    """A decode half waits for room for blocks."""
    TRANSFER = auto()
    """A decode half waits for the blocks."""
    RUNNING = auto()
    INFLIGHT = auto()
    """A prefill half has computed and sends."""


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
    """One request under way: where it is, how many tokens of its prompt the cache knew, and how many it has got."""

    prompt: int
    cached: int
    place: Place
    output: int = 0
    started: bool = False


@dataclass(slots=True)
class EngineModel:
    """What an engine counts. `blocks` is the size of its KV cache."""

    blocks: int = 4096
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
    _at: Counter[Place] = field(default_factory=Counter, repr=False)

    @property
    def waiting(self) -> int:
        """How many wait to run."""
        return self._at[Place.WAITING]

    @property
    def running(self) -> int:
        """How many run."""
        return self._at[Place.RUNNING]

    @property
    def under_way(self) -> int:
        """How many are anywhere in the engine."""
        return self._at.total()

    def at(self, place: Place) -> int:
        """How many are at a place."""
        return self._at[place]

    @property
    def usage(self) -> float:
        """The fraction of the KV cache that running requests hold, from 0 to 1."""
        return min(1.0, self.held / (self.blocks * BLOCK_SIZE))

    def arrive(self, prompt: Sequence[str], place: Place = Place.WAITING) -> Running:
        """Take a request in, at the end of a queue."""
        self._at[place] += 1
        return Running(len(prompt), self._remember(prompt), place)

    def move(self, request: Running, place: Place) -> None:
        """Let a request go on to another place."""
        self._at[request.place] -= 1
        self._at[place] += 1
        request.place = place

    def start(self, request: Running) -> None:
        """Let a request run; its prompt is counted now."""
        self.move(request, Place.RUNNING)
        request.started = True
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
        self._at[request.place] -= 1
        if request.started:
            self.held -= request.prompt + request.output
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
