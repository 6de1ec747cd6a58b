"""What an engine is to the renderer: one row of the closed catalogue.

Everything that differs between engines is data here, so no other module asks which engine it has before it.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias

from modeldeployment.api.choices import EngineName, RoleKind
from modeldeployment.render import owned
from modeldeployment.render.backend import Backend
from modeldeployment.render.compose import Fragment
from modeldeployment.render.flags import Flags
from modeldeployment.render.hubs import HUGGING_FACE, MODEL_SCOPE
from modeldeployment.render.parallelism import DegreeTable
from modeldeployment.router import Metric

if TYPE_CHECKING:
    from modeldeployment.render.context import Context

Part: TypeAlias = "Callable[[Context], Fragment]"
"""One function with one subject."""

LEADER_ADDRESS: Final = "GPUSTACK_REPLICA_LEADER_ADDRESS"
REPLICA_SIZE: Final = "GPUSTACK_REPLICA_SIZE"
MEMBER_INDEX: Final = "GPUSTACK_MEMBER_INDEX"
MEMBER_VARIABLES: Final = (LEADER_ADDRESS, REPLICA_SIZE, MEMBER_INDEX)
"""Reserved on every engine at every size (spec 1 §A minimal deployment)."""

DTYPE_FLAG: Final = "--kv-cache-dtype"
"""Owned on every engine while a cache is attached and the setting for it is on (spec 1 §Operator-owned keys)."""
SERVED_MODEL_NAME: Final = "--served-model-name"
"""On a managed role it must say exactly what `spec.model.name` says (facts admission §4 row 31)."""


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
class Opening:
    """A port that one of the operator's own listeners takes in an engine's container, and its name there."""

    name: str
    number: int


@dataclass(frozen=True, slots=True)
class Gauges:
    """Names of the gauges that say how many requests an engine has in flight.

    `always` are in every complete body; `split` count where a role of a pair exposes them.
    Source: facts shutdown §1, decisions D10.
    """

    always: tuple[str, ...]
    split: tuple[str, ...] = ()

    @property
    def every(self) -> tuple[str, ...]:
        """Answer all of them."""
        return (*self.always, *self.split)

    def expected(self, kind: RoleKind) -> tuple[str, ...]:
        """Answer those without which a body of a role of this kind is not complete."""
        return self.every if kind in (RoleKind.PREFILL, RoleKind.DECODE) else self.always


@dataclass(frozen=True, slots=True, eq=False)
class Signals:
    """What an engine calls the numbers that a scaler reads, each written once; empty where it has none.

    `running`, `waiting` and `decode_waiting` are gauges of requests, the last one of a Decode role alone; `usage` is
    the used fraction of its KV cache. `prompt`, `generation` and `hits` count tokens. `effective` counts prompt tokens
    too, by `mode`: those it `computed`, and those that a cache held. `first` and `between` are histograms of seconds,
    named without their suffixes.

    `ranks` are the labels that say which process of an engine a series is of, and `share` is that of a series which
    counts a part of another one once more. Sources: spec 3 §Engine signals, facts metrics §3.
    """

    running: str
    waiting: str
    usage: str
    prompt: str
    generation: str
    first: str
    between: str
    ranks: tuple[str, ...]
    hits: str = ""
    effective: str = ""
    mode: str = ""
    computed: str = ""
    cached: tuple[str, ...] = ()
    decode_waiting: str = ""
    share: str = ""

    @property
    def tokens(self) -> tuple[str, ...]:
        """Answer its counters of tokens."""
        return tuple(name for name in (self.prompt, self.generation, self.hits, self.effective) if name)

    def queues(self, kind: RoleKind) -> tuple[str, ...]:
        """Answer the gauges of requests that wait in a role of this kind."""
        decodes = kind is RoleKind.DECODE and self.decode_waiting
        return (self.waiting, self.decode_waiting) if decodes else (self.waiting,)


@dataclass(frozen=True, slots=True, eq=False)
class Engine:
    """One engine: how it is started, reached and read, what the operator owns on it, and the ordered Parts of its Pods.

    `tag` is its word in a runner image's tag, `signals` is what a scaler reads of it on any hardware, `metrics` what it
    calls the numbers routers score by and `block_metrics` those they guess prefix caches by, by the field of the picker
    that names each, `degrees` the flags of its parallel degrees, `backends` its rows by manufacturer with the one for
    all others under "".
    `several_names` says whether its served-name flag takes more than one value, `pairs_unrouted` whether a pair with a
    cache and no router is connected too, `bootstrap` is where the other half finds its Prefill and `encode_ports` what
    its kinds listen on beside an Encode role.

    Owned arguments come in sets that hold under different conditions (facts admission §5, facts encode §6):
    `owned_arguments` always, `DTYPE_FLAG` with a cache, `artifact_arguments` with an artifact, `encode_arguments`
    beside an Encode role and `embeds_arguments` beside one behind a router that embeds media.

    `revision_argument` names the commit of a repository the engine downloads, `model_scope_switch` is the variable that
    makes it ask ModelScope. `encoder_cache` says whether encoder output is handed on from and to a cache in the shared
    memory of one Pod (facts encode §2).
    """

    name: EngineName
    tag: str
    base_argv: Callable[[str], tuple[str, ...]]
    flags: Flags
    listen: ListenFlags
    in_flight: Gauges
    signals: Signals
    metrics: Mapping[Metric, str]
    block_metrics: Mapping[str, str]
    degrees: DegreeTable
    backends: Mapping[str, Backend]
    several_names: bool
    pairs_unrouted: bool
    bootstrap: Opening
    encode_ports: Mapping[RoleKind, tuple[Opening, ...]]
    owned_arguments: tuple[str, ...]
    artifact_arguments: tuple[str, ...]
    revision_argument: str
    model_scope_switch: str
    encode_arguments: tuple[str, ...]
    embeds_arguments: tuple[str, ...]
    owned_environment: frozenset[str]
    encode_environment: frozenset[str]
    encoder_cache: bool
    parts: tuple[Part, ...]
    _spellings: owned.Spellings = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Work out once which owned arguments every spelling can stand for."""
        every = (
            *self.owned_arguments,
            DTYPE_FLAG,
            *self.artifact_arguments,
            *self.encode_arguments,
            *self.embeds_arguments,
        )
        object.__setattr__(self, "_spellings", owned.spellings(every, self.flags))

    def owns(self, argument: str, keys: Container[str] | None = None) -> str | None:
        """Answer the owned argument that `argument` spells, up to its first ``=``; None when it is the user's.

        `keys` are those that count, out of this engine's sets; left out, `owned_arguments`. Costs the same for any
        number of keys. Source: facts admission §5, decisions D33.
        """
        return self._spellings.owned(argument, self.owned_arguments if keys is None else keys)

    def backend(self, manufacturer: str) -> Backend:
        """Answer how this engine moves blocks on that maker's hardware; a maker without a row is as any other."""
        return self.backends.get(manufacturer, self.backends[""])

    @property
    def artifact_environment(self) -> frozenset[str]:
        """Owned with an artifact: where weights come from and with whose token (facts admission §5)."""
        return HUGGING_FACE.environment | MODEL_SCOPE.environment | {self.model_scope_switch}

    @property
    def publishes_events(self) -> bool:
        """Whether it can publish KV events on any hardware."""
        return any(backend.publishes_events for backend in self.backends.values())

    def served_names(self, arguments: Sequence[str]) -> tuple[str, ...] | None:
        """Answer every name a command line serves the model under, in order; None where it says nothing about it.

        Repetitions are all collected, and a flag without a value adds none (facts admission §5).
        """
        return self.flags.values(arguments, SERVED_MODEL_NAME, several=self.several_names)
