"""The deployments that replicas are retired from: what they are and how many of their replicas leave. Pure."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from modeldeployment.lab.bench import manifests
from modeldeployment.lab.loading import Load
from modeldeployment.lab.routers import IMAGES

GRACE: Final = 30
"""The grace period of a role: a request takes at most what fits into it after the settle and before the reserve."""
HALF_GRACE: Final = 15
"""That of a half of a pair, which is also how long each stays idle before it goes (decisions D6)."""
TOKEN_SECONDS: Final = 0.25
ROUTERS: Final = {"vllm-router": ("vLLM", "0.29.0"), "sglang-gateway": ("SGLang", "0.5.9")}
"""Each router that is one program, with the engine it fronts and a version of that."""


POLICIES: Final = ("cache_aware", "round_robin", "power_of_two")
"""How routers choose, in turn: by the first, their default, nearly everything goes to one engine, which then leaves."""


class Arrangement(StrEnum):
    """What a replica is."""

    SERVER = "Server"
    HALF = "half of a pair"
    GROUP = "replica of two Pods"


@dataclass(frozen=True, slots=True)
class Shrink:
    """One deployment behind a router, whose every role shrinks by `leaving` replicas to a single one."""

    name: str
    arrangement: Arrangement
    router: str
    policy: str
    leaving: int

    @property
    def roles(self) -> tuple[str, ...]:
        """The names of its roles."""
        return ("prefill", "decode") if self.arrangement is Arrangement.HALF else (manifests.ROLE,)

    @property
    def retirements(self) -> int:
        """How many replicas leave."""
        return self.leaving * len(self.roles)

    @property
    def pods(self) -> int:
        """How many Pods its replicas have before anything leaves."""
        return (self.leaving + 1) * len(self.roles) * self._size

    @property
    def _size(self) -> int:
        return 2 if self.arrangement is Arrangement.GROUP else 1

    @property
    def grace(self) -> int:
        """The grace period of its roles, in seconds."""
        return HALF_GRACE if self.arrangement is Arrangement.HALF else GRACE

    def manifest(self, namespace: str, instance_type: str) -> dict[str, Any]:
        """The deployment as a user writes it, with all its replicas."""
        made = manifests.deployment(
            self.name, namespace, instance_type, replicas=self.leaving + 1, size=self._size, roles=self.roles
        )
        engine, version = ROUTERS[self.router]
        made["spec"]["engine"] = {"name": engine, "version": version}
        made["spec"]["router"] = {
            "name": self.router,
            "image": IMAGES[self.router],
            "extraArgs": [f"--policy={self.policy}"],
        }
        for role in made["spec"]["roles"]:
            del role["extraArgs"]
            role["terminationGracePeriodSeconds"] = self.grace
            if self.arrangement is Arrangement.HALF:
                role["kind"] = role["name"].title()
        return made

    def load(self, seed: int) -> Load:
        """What it is sent while it shrinks; the longest requests fit the grace bound, the most of them are short."""
        longest = max(4, int((self.grace - 12) / TOKEN_SECONDS)) if seed % 5 == 0 else 12
        return Load(rate=0.7, seconds=3600, tokens=(2, longest), seed=seed)


def shrinks(retirements: int) -> tuple[Shrink, ...]:
    """Spread about so many retirements over the arrangements and the routers, those that take longest first.

    Replicas of one deployment leave one after the other, so each has few of them: about three minutes' worth.
    """
    shares = ((Arrangement.HALF, 0.2, 3), (Arrangement.GROUP, 0.2, 7), (Arrangement.SERVER, 0.6, 7))
    made: list[Shrink] = []
    for arrangement, share, at_most in shares:
        wanted = max(2, round(retirements * share))
        while wanted > 0:
            router, policy = tuple(ROUTERS)[len(made) % 2], POLICIES[len(made) // 2 % len(POLICIES)]
            halves = 2 if arrangement is Arrangement.HALF else 1
            leaving = max(1, min(at_most, wanted // halves))
            made.append(Shrink(f"shrink-{len(made)}", arrangement, router, policy, leaving))
            wanted -= leaving * halves
    return tuple(made)
