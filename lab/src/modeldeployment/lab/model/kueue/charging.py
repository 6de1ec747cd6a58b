"""What Workloads cost and what queues give, in whole units of a resource (facts kueue §7, decisions D28)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from modeldeployment.api.quantity import Quantity
from modeldeployment.lab.controlplane.quota import transformations
from modeldeployment.lab.model import nodes
from modeldeployment.lab.model.kueue import workloads
from modeldeployment.lab.model.resources import JSON
from modeldeployment.lab.model.server import Server

Cell: TypeAlias = tuple[str, str]
"""A flavor and a resource."""

_RULES: Final = {each["input"]: each for each in transformations()}


def cost(workload: JSON) -> dict[str, int]:
    """What all members ask for, in thousandths, with the lab's transformations applied."""
    pod_set = workload["spec"]["podSets"][0]
    asked = nodes.requests(pod_set["template"]["spec"])
    total: dict[str, int] = {}
    for name, amount in asked.items():
        rule = _RULES.get(name)
        if rule is None:
            total[name] = total.get(name, 0) + amount * pod_set["count"]
            continue
        factor = asked.get(rule["multiplyBy"], 0) // 1000 if "multiplyBy" in rule else 1
        for output, each in rule["outputs"].items():
            charged = amount * Quantity.parse(each).units * factor * pod_set["count"]
            total[output] = total.get(output, 0) + charged
    return total


@dataclass(slots=True)
class Ledger:
    """Quota and usage of one ClusterQueue, by flavor and resource, in thousandths."""

    name: str
    cohort: str
    nominal: dict[Cell, int] = field(default_factory=dict)
    borrowing: dict[Cell, int] = field(default_factory=dict)
    lending: dict[Cell, int] = field(default_factory=dict)
    used: dict[Cell, int] = field(default_factory=dict)


def ledgers(server: Server) -> dict[str, Ledger]:
    """The accounts of all ClusterQueues."""
    found = {}
    for queue in server.items("clusterqueues"):
        ledger = found[queue["metadata"]["name"]] = Ledger(queue["metadata"]["name"], _root(server, queue))
        for flavor, resource in _quotas(queue):
            cell = flavor, resource["name"]
            ledger.nominal[cell] = nodes.milli(resource.get("nominalQuota", 0))
            for limit, table in (("borrowingLimit", ledger.borrowing), ("lendingLimit", ledger.lending)):
                if resource.get(limit) is not None:
                    table[cell] = nodes.milli(resource[limit])
    for workload in server.items("workloads"):
        account = found.get(((workload.get("status") or {}).get("admission") or {}).get("clusterQueue", ""))
        if account is not None:
            charge(account, usage(workload))
    return found


def usage(workload: JSON) -> dict[Cell, int]:
    """What a reservation holds."""
    held: dict[Cell, int] = {}
    for assigned in workloads.assignments(workload):
        for resource, flavor in assigned["flavors"].items():
            held[flavor, resource] = held.get((flavor, resource), 0) + nodes.milli(assigned["resourceUsage"][resource])
    return held


def charge(ledger: Ledger, held: Mapping[Cell, int], sign: int = 1) -> None:
    """Put what is held on an account, or take it off."""
    for cell, amount in held.items():
        ledger.used[cell] = ledger.used.get(cell, 0) + sign * amount


def fits(ledger: Ledger, everybody: Mapping[str, Ledger], cell: Cell, amount: int) -> bool:
    """Whether so much more fits into a queue, with what its cohort lends it."""
    wanted = ledger.used.get(cell, 0) + amount
    own = ledger.nominal.get(cell, 0)
    if wanted <= own and (not ledger.cohort or _shared(ledger, everybody, cell) >= amount):
        return True
    if not ledger.cohort or wanted > own + ledger.borrowing.get(cell, wanted):
        return False
    return _shared(ledger, everybody, cell) >= amount


def _shared(ledger: Ledger, everybody: Mapping[str, Ledger], cell: Cell) -> int:
    """What a queue can still take in its cohort: its own quota and what the others lend, less what is used of it."""
    total = 0
    for other in everybody.values():
        if other.cohort != ledger.cohort:
            continue
        own, used = other.nominal.get(cell, 0), other.used.get(cell, 0)
        lent = own if other is ledger else min(own, other.lending.get(cell, own))
        total += lent - (used if other is ledger else max(0, used - (own - lent)))
    return total


def _quotas(queue: JSON) -> Iterator[tuple[str, JSON]]:
    for group in queue["spec"].get("resourceGroups") or ():
        for flavor in group["flavors"]:
            for resource in flavor["resources"]:
                yield flavor["name"], resource


def _root(server: Server, queue: JSON) -> str:
    """The uppermost cohort of a queue; empty where it has none."""
    name: str = queue["spec"].get("cohortName") or ""
    seen: set[str] = set()
    while name not in seen and (found := server.find("cohorts", name)) is not None:
        seen.add(name)
        name = (found.get("spec") or {}).get("parentName") or name
    return name
