"""How long rendering takes: the largest role, seat by seat; ten roles behind a router; and the package's own import.

Memory and import are measured in processes of their own, which have done nothing else.
"""

import gc
import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from modeldeployment.api.instancetype import InstanceType
from modeldeployment.api.modeldeployment import ModelDeployment
from modeldeployment.lab.bench import goals, manifests
from modeldeployment.lab.bench.errors import BenchError
from modeldeployment.lab.bench.rows import Value
from modeldeployment.lab.bench.worlds import FLEET, NAMESPACE
from modeldeployment.lab.flavors.instance_types import instance_type, instance_type_status
from modeldeployment.lab.flavors.pools import pool_of
from modeldeployment.render import Facts, Store, render

SIZE: Final = 64
TURNS: Final = 3
SHORT_TURNS: Final = 30
IMPORTS: Final = 7
UID: Final = "5f7c1f2e-0000-4000-8000-000000000001"

_IMPORTED: Final = """
import sys, time
began = time.process_time()
import modeldeployment.render
spent = time.process_time() - began
assert not {"kubernetes", "aiohttp"} & set(sys.modules)
print(spent)
"""
_HELD: Final = """
import json, resource, sys
from modeldeployment.lab.bench import rendering
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
rendering.walk(int(sys.argv[1]))
print(json.dumps([before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss]))
"""


@dataclass(frozen=True, slots=True)
class Walked:
    """One walk over every seat of a role: how many there were, and the bytes of their bodies and fingerprints."""

    seats: int
    size: int


def measure(replicas: int) -> tuple[Value, ...]:
    """Render `replicas` × 64 seats, a routed pair of ten roles, and import the package; the best of several turns.

    Raises BenchError where a process of its own did not finish.
    """
    walked = walk(replicas)
    seconds = _best(lambda: walk(replicas), TURNS)
    pair, facts = ten_halves()
    each = _best(lambda: render(pair, facts), SHORT_TURNS)
    before, peak = json.loads(_alone(_HELD, str(replicas)))
    imported = min(float(_alone(_IMPORTED)) for _ in range(IMPORTS))
    seats = f"{walked.seats} seats, {walked.size / 2**20:.0f} MiB of bodies"
    return (
        Value(goals.RENDER_SECONDS, seconds, f"{seats}, best of {TURNS}"),
        Value(
            goals.RENDER_MEMORY, peak / 1024, f"{seats}; peak of a whole process, {before / 1024:.0f} before the first"
        ),
        Value(goals.RENDER_PAIR, each * 1000, f"ten halves, a cache and llm-d-router, best of {SHORT_TURNS}"),
        Value(goals.RENDER_IMPORT, imported * 1000, f"CPU time in a new process, best of {IMPORTS}"),
    )


def walk(replicas: int) -> Walked:
    """Make every body and every fingerprint of one role, from the deployment on."""
    seen, type_name = known()
    manifest = manifests.deployment("largest", NAMESPACE, type_name, replicas=replicas, size=SIZE)
    manifest["metadata"]["uid"] = UID
    role = manifests.rendered(ModelDeployment.model_validate(manifest), seen)
    size = sum(len(role.template.body(seat)) + len(role.template.fingerprint(seat)) for seat in role.seats())
    return Walked(replicas * SIZE, size)


def ten_halves() -> tuple[ModelDeployment, Facts]:
    """Five Prefill and five Decode roles behind a router that takes the most rendering, with a shared store.

    Admission would let one of each kind in; ten is what the renderer's own limit is stated for.
    """
    seen, type_name = known()
    manifest: dict[str, Any] = manifests.deployment("pairs", NAMESPACE, type_name, replicas=4)
    manifest["metadata"]["uid"] = UID
    spec = manifest["spec"]
    (role,) = spec["roles"]
    kinds = [kind for kind in ("Prefill", "Decode") for _ in range(5)]
    spec["roles"] = [{**role, "name": f"{kind.lower()}-{index}", "kind": kind} for index, kind in enumerate(kinds)]
    spec |= {"router": {"name": "llm-d-router"}, "kvCache": {"poolRef": {"name": "shared"}}}
    store = Store("shared-leader.gpustack-system.svc:50051", ("tcp",), "shared", "bfloat16", 16)
    return ModelDeployment.model_validate(manifest), Facts({type_name: seen}, store=store)


def known() -> tuple[InstanceType, str]:
    """The fleet's InstanceType as an API server has it, and its name."""
    pool = pool_of([FLEET])
    body = {**instance_type(pool), "status": instance_type_status(pool)["status"]}
    return InstanceType.model_validate(body), pool.name


def _best(work: Callable[[], object], turns: int) -> float:
    """Seconds of the fastest turn."""
    taken = []
    for _ in range(turns):
        gc.collect()
        began = time.perf_counter()
        work()
        taken.append(time.perf_counter() - began)
    return min(taken)


def _alone(program: str, *arguments: str) -> str:
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise BenchError(f"a measuring process ended with {done.returncode}: {done.stderr.strip()[-500:]}")
    return done.stdout
