"""The InstanceType of a pool: what an administrator writes, and the status a reconciler observes (decisions D21)."""

from typing import Any

from modeldeployment.api import keys as api_keys
from modeldeployment.lab.fleets import keys
from modeldeployment.lab.fleets.hardware import GENERIC, card

from .names import local_queue_name
from .pools import Pool


def instance_type(pool: Pool) -> dict[str, Any]:
    """Return the InstanceType without its status (facts api-dependencies §1)."""
    kind = pool.kind
    spec: dict[str, Any] = {
        "displayName": kind.hardware,
        "generalGroup": GENERIC,
        "acceleratable": kind.accelerated,
        "os": kind.os,
        "arch": kind.arch,
        "unitResources": {"cpu": kind.unit_cpu, "ram": kind.unit_ram},
        "localStorage": kind.local_storage,
    }
    if kind.accelerated:
        spec["acceleratorGroup"] = kind.hardware
    return {
        "apiVersion": api_keys.API_VERSION,
        "kind": "InstanceType",
        "metadata": {"name": pool.name, "labels": {keys.TYPE: pool.name}},
        "spec": spec,
    }


def instance_type_status(pool: Pool) -> dict[str, Any]:
    """Return the same object with nothing but its status, as it is applied to the status subresource."""
    return {
        "apiVersion": api_keys.API_VERSION,
        "kind": "InstanceType",
        "metadata": {"name": pool.name},
        "status": {
            "phase": "Active",
            "phaseMessage": "",
            "entrance": local_queue_name(pool.name),
            "detail": _detail(pool),
            **_capacities(pool),
        },
    }


def _detail(pool: Pool) -> dict[str, Any]:
    kind = pool.kind
    if not kind.accelerated:
        return {"manufacturer": GENERIC, "product": "Generic CPU", "family": GENERIC, "cores": str(kind.cpu)}
    observed = card(kind.maker, kind.model)
    detail: dict[str, Any] = {
        "manufacturer": kind.maker,
        "product": observed.product,
        "family": observed.family,
        "memory": f"{observed.memory_mib}Mi",
        "runtimeVersions": list(pool.runtime_versions),
    }
    if observed.compute_capability:
        detail["computeCapability"] = observed.compute_capability
    if kind.slices or kind.partitions:
        detail["slicedDetail"] = {
            "logical": {"count": kind.slices},
            "physical": {
                "count": sum(each.count for each in kind.partitions),
                "profiles": [
                    {"name": each.profile, "count": each.count, "memoryMib": each.memory_mib}
                    for each in kind.partitions
                ],
            },
        }
    return detail


def _capacities(pool: Pool) -> dict[str, dict[str, str]]:
    capacities = {"cpu": _capacity(pool.cores, max(fleet.cpu for fleet in pool.fleets))}
    if pool.kind.accelerated:
        capacities["accelerator"] = _capacity(pool.cards, max(fleet.cards for fleet in pool.fleets))
    return capacities


def _capacity(total: int, on_one_node: int) -> dict[str, str]:
    return {"onceMaxRequest": str(on_one_node), "remaining": str(total), "capacity": str(total)}
