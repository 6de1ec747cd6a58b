"""Every command line that is rendered: engine, maker, kinds, cache, router and transport, one Pod of each role."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any, Final

from modeldeployment.render import MAKERS, RenderRefusal, Seat, render
from render_artifacts import BY_NODE, CLAIM, HUGGING_FACE, MODEL_SCOPE, PINNED, artifact, known, served
from render_worlds import ASCEND, deployment, facts, instance_type, joined, role, store

KINDS: Final = {
    "server": ("Server",),
    "lone-prefill": ("Prefill",),
    "lone-decode": ("Decode",),
    "pair": ("Prefill", "Decode"),
    "encode": ("Encode", "Server"),
    "encode-pair": ("Encode", "Prefill", "Decode"),
}
ROUTERS: Final = {"vLLM": (None, "llm-d-router", "vllm-router"), "SGLang": (None, "llm-d-router", "sglang-gateway")}
VERSIONS: Final = {"vLLM": "0.30.0", "SGLang": "0.5.22"}


@dataclass(frozen=True)
class Rendered:
    """One role of one combination: what it is, and its Pod."""

    engine: str
    maker: str
    kinds: str
    kind: str
    cache: bool
    router: str | None
    protocol: str | None
    pod: dict[str, Any]

    def __str__(self) -> str:
        words = (self.engine, self.maker, self.kinds, self.kind, self.router or "unrouted", self.protocol or "any")
        return "-".join((*words, "cache" if self.cache else "no-cache"))

    @property
    def ascend(self) -> bool:
        """Whether it runs on Ascend."""
        return self.maker == "ascend"

    @property
    def container(self) -> dict[str, Any]:
        """The engine's container."""
        (main,) = [each for each in self.pod["spec"]["containers"] if each["name"] == "main"]
        found: dict[str, Any] = main
        return found

    @property
    def argv(self) -> list[str]:
        """The engine's command line."""
        return [*self.container["command"], *self.container.get("args", ())]


@cache
def matrix(engine: str) -> tuple[Rendered, ...]:
    """Render every combination of an engine that is not refused."""
    return tuple(_matrix(engine))


def _matrix(engine: str) -> Iterator[Rendered]:
    for maker, kinds, cached, router, protocol in product(
        MAKERS, KINDS, (False, True), ROUTERS[engine], (None, "RDMA")
    ):
        status = ASCEND if maker == "ascend" else {"manufacturer": maker}
        roles = [role(kind.lower(), kind=kind) for kind in KINDS[kinds]]
        spec = joined(router=router, cache=cached, protocol=protocol)
        declared = deployment(*roles, engine=engine, version=VERSIONS[engine], spec=spec)
        shared = store("ascend" if maker == "ascend" else "tcp") if cached else None
        try:
            rendering = render(declared, facts(instance_type(status=status), store=shared))
        except RenderRefusal:
            continue
        for each in rendering.roles:
            pod = each.template.pod(Seat(0, 0))
            yield Rendered(engine, maker, kinds, each.kind.value, cached, router, protocol, pod)


@cache
def weights(engine: str) -> dict[str, tuple[str, ...]]:
    """Render a cached Server of every source of weights; the command lines by source, and by who brings the weights."""
    sources: tuple[dict[str, Any], ...] = (HUGGING_FACE, MODEL_SCOPE, CLAIM, PINNED)
    lines = {}
    for source, policy in product(sources, (None, BY_NODE)):
        cluster = known(artifact(source), policy, store=store())
        pod = render(served(role(), engine=engine, **joined(cache=True)), cluster).roles[0].template.pod(Seat(0, 0))
        (main,) = pod["spec"]["containers"]
        (name,) = source
        lines[f"{name}-by-{'node' if policy else 'engine'}"] = tuple(main["command"])
    return lines
