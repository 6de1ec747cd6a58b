"""How long one admission review takes, and how its time grows with the command line."""

import gc
import time
from collections.abc import Mapping
from typing import Any, Final

from modeldeployment.admission import Facts, Policy, from_manifests, review
from modeldeployment.admission.examples import CLUSTER, DEPLOYMENT, changed
from modeldeployment.lab.bench import goals
from modeldeployment.lab.bench.rows import Value

ROLES: Final = 10
TURNS: Final = 7
LONG: Final = 10_000
SHORT: Final = 1_000


def ten_roles() -> dict[str, Any]:
    """A deployment at the shape limit: ten roles of two types and two command lines, each set up as a real one is."""
    return changed(DEPLOYMENT, {f"spec.roles[{index}]": _role(index) for index in range(ROLES)})


def _role(index: int) -> dict[str, Any]:
    return {
        "name": f"server-{index}",
        "replicas": 4,
        "instanceType": ("h20-8x", "h20-other")[index % 2],
        "resources": {"accelerator": 4},
        "extraArgs": [
            "--tensor-parallel-size=2",
            "--pipeline-parallel-size",
            "2",
            "--max-model-len=32768",
            "--gpu-memory-utilization",
            "0.92",
            "--enable-prefix-caching",
            "--served-model-name",
            "Qwen/Qwen2.5-72B-Instruct",
            f"--max-num-seqs={(128, 256)[index % 2]}",
        ],
        "env": [{"name": "MC_TE_METRIC", "value": "1"}, {"name": "VLLM_LOGGING_LEVEL", "value": "INFO"}],
        "ports": [{"port": 8000}],
        "additionalVolumes": [{"mountPath": "/models", "secret": {"name": "weights"}}],
    }


def with_arguments(count: int) -> dict[str, Any]:
    """One role whose command line has `count` entries, none of which is known to any rule."""
    line = [f"--some-flag-{index}" if index % 2 else f"--tensor-parallel-{index}=x" for index in range(count)]
    return changed(DEPLOYMENT, {"spec.roles[0].extraArgs": line})


def measure() -> tuple[Value, ...]:
    """Review a deployment of ten roles, and one role with a long and a short command line; best of several turns."""
    facts = from_manifests(CLUSTER, Policy())
    whole = _best(ten_roles(), facts, 50)
    long, short = _best(with_arguments(LONG), facts, 3), _best(with_arguments(SHORT), facts, 10)
    growth = long / short / (LONG / SHORT)
    return (
        Value(goals.REVIEW_TIME, whole * 1000, f"{ROLES} roles, an update, best of {TURNS} turns of 50"),
        Value(
            goals.REVIEW_GROWTH,
            growth,
            f"{LONG} arguments {long * 1000:.1f} ms against {SHORT} in {short * 1000:.1f} ms; 1 is linear",
        ),
    )


def _best(body: Mapping[str, Any], facts: Facts, times: int) -> float:
    """Seconds of one review of an update that changes nothing."""
    taken = []
    for _ in range(TURNS):
        gc.collect()
        began = time.perf_counter()
        for _ in range(times):
            review(body, body, facts)
        taken.append((time.perf_counter() - began) / times)
    return min(taken)
