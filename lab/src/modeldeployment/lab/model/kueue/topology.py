"""Which nodes a group is assigned, where its flavor has a topology (facts kueue §7)."""

from collections.abc import Mapping, Sequence

from modeldeployment.api import keys
from modeldeployment.lab.model import nodes
from modeldeployment.lab.model.kueue import workloads
from modeldeployment.lab.model.resources import JSON
from modeldeployment.lab.model.server import Server


def assign(server: Server, flavor: JSON, workload: JSON) -> JSON | None:
    """Assign a node to every member: an empty table without a topology, None where they do not fit.

    A required level keeps all members in one domain of it. What reserved Workloads were assigned counts as taken,
    whether or not their Pods stand there yet.
    """
    if not flavor["spec"].get("topologyName"):
        return {}
    pod_set = workload["spec"]["podSets"][0]
    asked = nodes.requests(pod_set["template"]["spec"])
    level = (pod_set.get("topologyRequest") or {}).get("required", "")
    left = _left(server, flavor)
    domains: dict[str, list[str]] = {}
    for name, node in left.items():
        domains.setdefault(node[0].get(level, "") if level else "", []).append(name)
    fitting = {
        domain: {name: nodes.room(left[name][1], asked) for name in sorted(names)} for domain, names in domains.items()
    }
    rooms = [each for _, each in sorted(fitting.items()) if sum(each.values()) >= pod_set["count"]]
    if not rooms:
        return None
    chosen = min(rooms, key=lambda each: sum(each.values())) if level else rooms[0]
    return _levels(_spread(chosen, pod_set["count"]))


def hosts(assignment: Mapping[str, object]) -> Sequence[str]:
    """The nodes of an assignment, one entry for each member; none without a topology."""
    given = assignment.get("topologyAssignment")
    if not isinstance(given, Mapping):
        return ()
    part = given["slices"][0]
    names: list[str] = part["valuesPerLevel"][0]["individual"]["roots"]
    counts: list[int] = part["podCounts"]["individual"]
    return [name for name, count in zip(names, counts, strict=True) for _ in range(count)]


def _spread(rooms: Mapping[str, int], count: int) -> dict[str, int]:
    """Fill as few nodes as possible: the fullest that takes what is left, else the emptiest."""
    given: dict[str, int] = {}
    left = dict(rooms)
    while count:
        enough = {name: room for name, room in left.items() if room >= count}
        name = min(enough, key=lambda name: enough[name]) if enough else max(left, key=lambda name: left[name])
        given[name] = min(count, left.pop(name))
        count -= given[name]
    return given


def _levels(given: Mapping[str, int]) -> JSON:
    names = sorted(given)
    part = {
        "domainCount": len(names),
        "podCounts": {"individual": [given[name] for name in names]},
        "valuesPerLevel": [{"individual": {"roots": names}}],
    }
    return {"levels": [keys.HOSTNAME], "slices": [part]}


def _left(server: Server, flavor: JSON) -> dict[str, tuple[Mapping[str, str], dict[str, int]]]:
    """Labels and what is left of each usable node of a flavor."""
    wanted = flavor["spec"].get("nodeLabels") or {}
    fit = {
        node["metadata"]["name"]: node
        for node in server.items("nodes")
        if nodes.usable(node) and nodes.matches(node, wanted)
    }
    left = {
        name: (
            node["metadata"].get("labels") or {},
            {resource: nodes.milli(amount) for resource, amount in node["status"]["allocatable"].items()},
        )
        for name, node in fit.items()
    }
    for workload in server.items("workloads"):
        for assigned in workloads.assignments(workload):
            asked = nodes.requests(workload["spec"]["podSets"][0]["template"]["spec"])
            for host in hosts(assigned):
                if host in left:
                    nodes.take(left[host][1], asked)
    return left
