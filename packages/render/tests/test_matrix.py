"""Every shape a deployment can have, rendered: a table of all of them, and whole objects of those that differ most.

The table has a few lines for every role of every combination, digest included, so nothing anywhere moves unseen; the
whole objects are for reading. `make golden` writes both anew, and the diff is the review.
"""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from modeldeployment.render import MAKERS, Rendering, RenderRefusal, RouterRendering, Seat, render
from modeldeployment.render.parts.drain import PROGRAM
from render_worlds import ASCEND, deployment, facts, instance_type, joined, role, store

GOLDEN = Path(__file__).parent / "golden" / "matrix"
UPDATE = bool(os.environ.get("UPDATE_GOLDEN"))

KINDS = {
    "server": ("Server",),
    "lone-prefill": ("Prefill",),
    "lone-decode": ("Decode",),
    "pair": ("Prefill", "Decode"),
    "epd": ("Encode", "Prefill", "Decode"),
}
HARDWARE: dict[str, tuple[str, dict[str, Any], str]] = {
    "vllm-nvidia": ("vLLM", {}, "tcp"),
    "vllm-ascend": ("vLLM", ASCEND, "ascend"),
    "sglang-nvidia": ("SGLang", {}, "tcp"),
}
ROUTERS = {"vLLM": ("llm-d-router", "vllm-router"), "SGLang": ("llm-d-router", "sglang-gateway")}


@dataclass(frozen=True)
class Shape:
    """One combination."""

    hardware: str
    kinds: str
    cache: bool
    router: str | None
    size: int

    def __str__(self) -> str:
        cache = "cache" if self.cache else "no-cache"
        return f"{self.hardware}.{self.kinds}.{cache}.{self.router or 'no-router'}.size-{self.size}"

    def rendered(self) -> Rendering:
        engine, status, transport = HARDWARE[self.hardware]
        roles = [
            role(kind.lower(), kind=kind, image=None, size=1 if kind == "Encode" else self.size)
            for kind in KINDS[self.kinds]
        ]
        version = {"vLLM": "0.30.0", "SGLang": "0.5.18"}[engine]
        declared = deployment(*roles, engine=engine, version=version, spec=joined(router=self.router, cache=self.cache))
        return render(declared, facts(instance_type(status=status), store=store(transport) if self.cache else None))


def shapes() -> Iterator[Shape]:
    """Every combination, those that are refused included."""
    for hardware, (engine, _, _) in HARDWARE.items():
        for kinds, cache, router, size in product(KINDS, (False, True), (None, *ROUTERS[engine]), (1, 2)):
            yield Shape(hardware, kinds, cache, router, size)


def lines(shape: Shape) -> Iterator[str]:
    """What a combination comes to, in short."""
    yield f"== {shape}"
    try:
        rendering = shape.rendered()
    except RenderRefusal as refusal:
        yield f"   refused   {refusal.reason}: {refusal.message}"
        return
    for each in rendering.roles:
        pod = each.template.pod(Seat(0, 0))
        containers = pod["spec"]["containers"]
        (main,) = [container for container in containers if container["name"] == "main"]
        yield f"   {each.name:9} digest   {each.template.digest[:16]}"
        yield f"             command  {' '.join(main['command'])}"
        yield f"             env      {' '.join(shown(variable) for variable in main.get('env', ()))}"
        yield f"             ports    {' '.join(str(port['containerPort']) for port in main['ports'])}"
        yield f"             volumes  {' '.join(volume['name'] for volume in pod['spec'].get('volumes', ()))}"
        for beside in (*pod["spec"].get("initContainers", ()), *containers):
            if beside is not main:
                yield f"             beside   {beside['name']} {' '.join(beside['args'])}"
    for service in rendering.services:
        yield f"   service   {service['metadata']['name']} {' '.join(str(p['port']) for p in service['spec']['ports'])}"
    match rendering.router:
        case RenderRefusal(message=message):
            yield f"   router    refused: {message}"
        case RouterRendering() as router:
            yield f"   router    {' '.join(token for run in router.runs for token in run.tokens)}"
        case None:
            pass


def shown(variable: dict[str, Any]) -> str:
    """A variable in one word."""
    return f"{variable['name']}={variable.get('value', '<reference>')}"


def whole(rendering: Rendering) -> str:
    """Every object of one rendering; the hook's program is named, not repeated."""
    router = rendering.router
    shown = {
        "endpoint": rendering.endpoint,
        "services": rendering.services,
        "pods": [each.template.pod(Seat(0, member)) for each in rendering.roles for member in range(each.size)],
        "router": router.objects if isinstance(router, RouterRendering) else None,
    }
    return json.dumps(shown, indent=2).replace(json.dumps(PROGRAM), '"<programs/drain_hook.py>"') + "\n"


def agrees(name: str, now: str) -> None:
    """Compare with the file of that name, or write it."""
    file = GOLDEN / name
    if UPDATE:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(now)
    assert file.read_text() == now, f"{file.name} differs: if it should, run make golden and read the diff"


@pytest.mark.parametrize("hardware", HARDWARE)
def test_every_combination_renders_as_the_golden_table_says(hardware: str) -> None:
    told = [line for shape in shapes() if shape.hardware == hardware for line in lines(shape)]
    agrees(f"{hardware}.txt", "\n".join(told) + "\n")


READ = (
    Shape("vllm-nvidia", "server", True, "llm-d-router", 1),
    Shape("vllm-nvidia", "pair", False, None, 1),
    Shape("vllm-nvidia", "pair", False, "llm-d-router", 1),
    Shape("vllm-nvidia", "pair", True, "llm-d-router", 2),
    Shape("vllm-nvidia", "pair", True, "vllm-router", 1),
    Shape("vllm-nvidia", "epd", False, "llm-d-router", 1),
    Shape("vllm-nvidia", "epd", False, "vllm-router", 1),
    Shape("vllm-ascend", "pair", False, "llm-d-router", 1),
    Shape("vllm-ascend", "pair", True, "llm-d-router", 1),
    Shape("vllm-ascend", "pair", True, "vllm-router", 1),
    Shape("sglang-nvidia", "server", True, None, 1),
    Shape("sglang-nvidia", "pair", False, "sglang-gateway", 1),
    Shape("sglang-nvidia", "pair", True, "sglang-gateway", 2),
    Shape("sglang-nvidia", "pair", True, "llm-d-router", 1),
    Shape("sglang-nvidia", "epd", False, "sglang-gateway", 1),
)


@pytest.mark.parametrize("shape", READ, ids=str)
def test_whole_objects_are_what_their_golden_file_shows(shape: Shape) -> None:
    agrees(f"{shape}.json", whole(shape.rendered()))


def test_every_maker_renders_as_the_golden_table_says() -> None:
    """One card of each, with the image its cluster's runtime asks for."""
    told = []
    for maker in MAKERS.values():
        family = next(iter(maker.variants or ("",)))
        status = {"manufacturer": maker.name, "family": family, "runtimeVersions": ["12.9", "12.10"]}
        known = facts(instance_type(status=status), runtime_classes=frozenset({maker.name}))
        for engine, version in (("vLLM", "0.30.0"), ("SGLang", "0.5.18")):
            try:
                (only,) = render(deployment(role(image=None), engine=engine, version=version), known).roles
            except RenderRefusal as refusal:
                told.append(f"{maker.name:10} {engine:7} refused {refusal.reason}: {refusal.message}")
                continue
            spec = only.template.pod(Seat(0, 0))["spec"]
            (main,) = spec["containers"]
            asked = " ".join(f"{key}={count}" for key, count in main["resources"]["limits"].items())
            told.append(f"{maker.name:10} {engine:7} {main['image']} {spec.get('runtimeClassName', '-')} {asked}")
    agrees("makers.txt", "\n".join(told) + "\n")
