"""What a router is to everybody else: one row of the closed catalogue.

Everything that differs between routers is data here, so no other module asks which router it has before it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from modeldeployment.api.choices import EngineName, RouterName

if TYPE_CHECKING:
    from modeldeployment.router.front import Front
    from modeldeployment.router.workload import Workload


class Metric(StrEnum):
    """Numbers a router may score an engine by, in the words a refusal names them with (facts router-rendering §3)."""

    QUEUED_REQUESTS = "queued requests"
    RUNNING_REQUESTS = "running requests"
    KV_CACHE_UTILIZATION = "KV cache utilization"


@dataclass(frozen=True, slots=True)
class Policies:
    """The routing policies a router can be told to follow.

    `everywhere`, `prefill` and `decode` are the flags that set one, `default` is what holds where none is given,
    `prefix` are the policies that score prefix caches. Admission judges no value: a wrong one stops the router.
    Source: facts routing §6.
    """

    everywhere: str
    prefill: str
    decode: str
    default: str
    prefix: frozenset[str]

    def in_force(self, arguments: Sequence[str], *, pair: bool) -> frozenset[str]:
        """Answer every policy by which this command line picks a replica; of a flag given twice the last one counts."""
        given: dict[str, str] = {}
        for index, argument in enumerate(arguments):
            flag, equals, value = argument.partition("=")
            if flag in (self.everywhere, self.prefill, self.decode):
                given[flag] = value if equals else next(iter(arguments[index + 1 : index + 2]), "")
        everywhere = given.get(self.everywhere, self.default)
        if not pair:
            return frozenset({everywhere})
        return frozenset({given.get(self.prefill, everywhere), given.get(self.decode, everywhere)})


@dataclass(frozen=True, slots=True)
class FixedProfile:
    """A router that scores by a profile nobody chooses; `prefix` says whether prefix caches are part of it."""

    prefix: bool


@dataclass(frozen=True, slots=True)
class RouterRow:
    """One router: whom it serves, what the operator derives on its command line, and what it asks of engine Pods.

    `engines` are those it accepts, `owned_arguments` the flags refused in `spec.router.extraArgs`. `thresholds` says
    whether `disaggregationThresholdTokens` means anything. `metrics` is what it scores engines by, `kv_events` whether
    it subscribes to the engines' KV events, `proxies_decode` whether its proxy takes the serving port of a managed
    Decode Pod, `counts_tokens` whether it asks a vLLM engine to count tokens (`--enable-scale-out`) where no Encode
    role is declared, `pairs_ascend` whether a vLLM pair on Ascend hands its blocks over behind it, `embeds` whether it
    turns media into embeddings, which the engines behind it must then accept, `bootstrap_annotation` the one on a vLLM
    Prefill Pod in which its discovery reads the bootstrap port, empty where it reads none, `timeout_argument` the flag
    that `requestTimeoutSeconds` is written to, empty where it is no argument.
    Sources: facts admission §5, facts routing §1 and §5 to §7, facts encode §3 to §6, spec 2 §Router configuration.
    """

    name: RouterName
    engines: frozenset[EngineName]
    owned_arguments: frozenset[str]
    thresholds: bool
    metrics: tuple[Metric, ...]
    kv_events: bool
    proxies_decode: bool
    counts_tokens: bool
    pairs_ascend: bool
    embeds: bool
    policy: Policies | FixedProfile
    workload: Callable[[Front, str], Workload] = field(repr=False, compare=False)
    bootstrap_annotation: str = ""
    timeout_argument: str = ""

    @property
    def needs_metrics(self) -> bool:
        """Whether it can only front an engine whose numbers have names (facts admission §4 row 25)."""
        return bool(self.metrics)

    def lacks(self, names: Mapping[Metric, str]) -> tuple[Metric, ...]:
        """Answer what it needs and `names`, what an engine calls its numbers, does not hold."""
        return tuple(metric for metric in self.metrics if not names.get(metric))

    def owns(self, argument: str) -> str | None:
        """Answer the owned flag an argument spells, exactly up to the first ``=``; None when it is the user's.

        Neither prefixes nor underscores are read as the flag (facts admission §5).
        """
        flag = argument.partition("=")[0]
        return flag if flag in self.owned_arguments else None

    def prefix_policies(self, arguments: Sequence[str], *, pair: bool) -> frozenset[str]:
        """Answer by which policies in force prefix caches are scored; ``{"fixed"}`` for a profile nobody chooses.

        What they remember is not shared between the router's own replicas (spec 2 §Router configuration).
        """
        match self.policy:
            case FixedProfile(prefix=scored):
                return frozenset({"fixed"} if scored else ())
            case Policies(prefix=prefix):
                return self.policy.in_force(arguments, pair=pair) & prefix
