"""The state of one engine as its metrics tell it: pure, with no clock and no sockets.

A request `arrive`s and waits, may `move` through the queues of a pair, `start`s and runs, gets its `first_token` and
further ones, and `leave`s. The prefix cache remembers whole blocks of prompts, the least recently used of which make
room for new ones. Source: facts metrics §1 and §3, facts shutdown §1.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Final

BLOCK_SIZE: Final = 16
"""Tokens of one block of the KV cache; a token is a word of the prompt."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """The upper bounds of an engine's histograms in seconds, without the infinite one."""

    first: tuple[float, ...]
    """Of the time to the first token."""
    between: tuple[float, ...]
    """Of the time between two tokens, and of its mean over a request."""


VLLM_BOUNDS: Final = Bounds(
    first=(
        *(0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0),
        *(20.0, 40.0, 80.0, 160.0, 640.0, 2560.0),
    ),
    between=(
        *(0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0),
        *(20.0, 40.0, 80.0),
    ),
)
"""As recorded of vLLM 0.32.0."""
SGLANG_BOUNDS: Final = Bounds(
    first=(0.1, 0.2, 0.4, 0.6, 0.8, 1, 2, 4, 6, 8, 10, 20, 40, 60, 80, 100, 200, 400),
    between=(
        *(0.002, 0.004, 0.006, 0.008, 0.01, 0.015, 0.02, 0.025, 0.03, 0.035, 0.04, 0.06, 0.08, 0.1),
        *(0.2, 0.4, 0.6, 0.8, 1, 2, 4, 6, 8),
    ),
)
"""Those of SGLang 0.5.23 where its command line names no others."""


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

    bounds: tuple[float, ...]
    counts: list[int] = field(default_factory=list)
    total: float = 0.0

    def __post_init__(self) -> None:
        self.counts = self.counts or [0] * (len(self.bounds) + 1)

    def observe(self, seconds: float, times: int = 1) -> None:
        """Count an observation that was made so many times."""
        self.counts[bisect_left(self.bounds, seconds)] += times
        self.total += seconds * times

    def __add__(self, other: "Histogram") -> "Histogram":
        counts = [one + more for one, more in zip(self.counts, other.counts, strict=True)]
        return Histogram(self.bounds, counts, self.total + other.total)


@dataclass(slots=True)
class Running:
    """One request under way: where it is, how many tokens of its prompt the cache knew, and how many it has got.

    `decoding` is how many seconds its tokens beyond the first took.
    """

    prompt: int
    cached: int
    place: Place
    streamed: bool = True
    output: int = 0
    decoding: float = 0.0
    started: bool = False

    @property
    def computed(self) -> int:
        """How many tokens of its prompt the cache did not know."""
        return self.prompt - self.cached


@dataclass(slots=True)
class Served:
    """What was counted of the requests that stream, or of those that do not."""

    first: Histogram
    prompt_tokens: int = 0
    generation_tokens: int = 0


@dataclass(slots=True)
class EngineModel:
    """What an engine counts. `blocks` is the size of its KV cache."""

    blocks: int = 4096
    bounds: Bounds = VLLM_BOUNDS
    held: int = 0
    cached_tokens: int = 0
    finished: int = 0
    aborted: int = 0
    external_queries: int = 0
    external_hits: int = 0
    served: dict[bool, Served] = field(init=False)
    """By whether its answer streams."""
    between: Histogram = field(init=False)
    per_token: Histogram = field(init=False)
    """The mean time between the tokens of one request."""
    _known: dict[int, None] = field(default_factory=dict, repr=False)
    _at: Counter[Place] = field(default_factory=Counter, repr=False)

    def __post_init__(self) -> None:
        self.served = {streamed: Served(Histogram(self.bounds.first)) for streamed in (True, False)}
        self.between, self.per_token = Histogram(self.bounds.between), Histogram(self.bounds.between)

    @property
    def prompt_tokens(self) -> int:
        """How many tokens of prompts have been taken up."""
        return sum(each.prompt_tokens for each in self.served.values())

    @property
    def generation_tokens(self) -> int:
        """How many tokens have been given."""
        return sum(each.generation_tokens for each in self.served.values())

    @property
    def first(self) -> Histogram:
        """The times to the first token of all requests."""
        return self.served[True].first + self.served[False].first

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

    def fits(self, request: Running) -> bool:
        """Whether the KV cache has room for the prompt of a request; an engine with nothing to do takes any."""
        return not self.held or self.held + request.prompt <= self.blocks * BLOCK_SIZE

    def arrive(self, prompt: Sequence[str], place: Place = Place.WAITING, *, streamed: bool = True) -> Running:
        """Take a request in, at the end of a queue."""
        self._at[place] += 1
        return Running(len(prompt), self._remember(prompt), place, streamed)

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
        self.served[request.streamed].prompt_tokens += request.prompt
        self.cached_tokens += request.cached

    def first_token(self, request: Running, seconds: float) -> None:
        """Give a request its first token, so many seconds after it arrived."""
        self.served[request.streamed].first.observe(seconds)
        self._give(request, 1)

    def next_token(self, request: Running, seconds: float, count: int = 1) -> None:
        """Give it another one, so many seconds after the one before; or several of them, each as long after."""
        self.between.observe(seconds, count)
        request.decoding += seconds * count
        self._give(request, count)

    def leave(self, request: Running, *, finished: bool) -> None:
        """Let a request go, finished or cut off, from wherever it is."""
        self._at[request.place] -= 1
        if request.started:
            self.held -= request.prompt + request.output
        if finished:
            # Zero for an answer of one token (facts metrics §1).
            self.per_token.observe(request.decoding / max(1, request.output - 1))
        self.finished += finished
        self.aborted += not finished

    def received(self, tokens: int) -> None:
        """Count the blocks another engine handed over (facts metrics §1: on a decode half hits equal queries)."""
        self.external_queries += tokens
        self.external_hits += tokens

    def _give(self, request: Running, count: int) -> None:
        request.output += count
        self.held += count
        self.served[request.streamed].generation_tokens += count

    def _remember(self, prompt: Sequence[str]) -> int:
        """Tell how many leading tokens are cached, and cache the whole blocks of this prompt from now on."""
        chain, cached, unbroken = 0, 0, True
        for end in range(BLOCK_SIZE, len(prompt) + 1, BLOCK_SIZE):
            chain = hash((chain, *prompt[end - BLOCK_SIZE : end]))
            unbroken = unbroken and chain in self._known
            cached += BLOCK_SIZE if unbroken else 0
            self._known.pop(chain, None)
            self._known[chain] = None
            if len(self._known) > self.blocks:
                self._known.pop(next(iter(self._known)))
        return cached
