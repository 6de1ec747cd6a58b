"""How long the largest role takes to render: every body and fingerprint of 65,536 seats."""

import gc
import time
from typing import Final

from modeldeployment.api.instancetype import InstanceType
from modeldeployment.api.modeldeployment import ModelDeployment
from modeldeployment.lab.bench import goals, manifests
from modeldeployment.lab.bench.rows import Value
from modeldeployment.lab.bench.worlds import FLEET, NAMESPACE
from modeldeployment.lab.flavors.instance_types import instance_type, instance_type_status
from modeldeployment.lab.flavors.pools import pool_of

SIZE: Final = 64
TURNS: Final = 3


def measure(replicas: int) -> tuple[Value, ...]:
    """Render `replicas` × 64 seats from the deployment on, and take the best of three."""
    pool = pool_of([FLEET])
    known = InstanceType.model_validate({**instance_type(pool), "status": instance_type_status(pool)["status"]})
    manifest = manifests.deployment("largest", NAMESPACE, pool.name, replicas=replicas, size=SIZE)
    manifest["metadata"]["uid"] = "5f7c1f2e-0000-4000-8000-000000000001"
    deployment = ModelDeployment.model_validate(manifest)
    taken, size = [], 0
    for _ in range(TURNS):
        gc.collect()
        began = time.perf_counter()
        role = manifests.rendered(deployment, known)
        size = 0
        for seat in role.seats():
            size += len(role.template.body(seat)) + len(role.template.fingerprint(seat))
        taken.append(time.perf_counter() - began)
    seats = replicas * SIZE
    against = f"{seats} seats, {size / 2**20:.0f} MiB of bodies, best of {TURNS}; slowest {max(taken):.2f} s"
    return (Value(goals.RENDER_SECONDS, min(taken), against),)
