"""What must be true of every deployment once all is still, told by its own spec alone."""

from collections.abc import Iterator
from typing import Any

from modeldeployment.api import keys, names
from modeldeployment.lab.crashes.scenes import Pod, Role, owner, roles
from modeldeployment.lab.model import Server
from modeldeployment.lab.model.resources import JSON


def upset(server: Server) -> Iterator[str]:
    """Everything that is not as the spec of its deployment has it."""
    for deployment in server.items("modeldeployments"):
        if "deletionTimestamp" not in deployment["metadata"]:
            declared = roles(deployment["spec"])
            yield from _pods(server, deployment, declared)
            yield from _services(server, deployment, declared)
            yield from _router(server, deployment)


def _pods(server: Server, deployment: JSON, declared: tuple[Role, ...]) -> Iterator[str]:
    uid = deployment["metadata"]["uid"]
    live = [pod for pod in map(Pod, server.items("pods")) if pod.owner == uid and pod.live]
    wanted = {
        f"{role.name}/{ordinal}.{member}"
        for role in declared
        for ordinal in range(role.replicas)
        for member in range(role.size)
    }
    if sorted(pod.seat for pod in live) != sorted(wanted):
        yield f"{', '.join(sorted(pod.seat for pod in live))} stand, not {', '.join(sorted(wanted))}"
    for pod in live:
        eligible = pod.body["metadata"]["labels"].get(keys.ELIGIBLE) == keys.TRUE
        if eligible != (pod.index == 0):
            yield f"{pod.seat} {'is' if eligible else 'is not'} to be sent requests"
    for role in declared:
        ready = sum(
            all(_ready(pod) for pod in members)
            for ordinal in range(role.replicas)
            if (members := [pod for pod in live if (pod.role, pod.ordinal) == (role.name, ordinal)])
        )
        said: JSON = next(
            (each for each in deployment.get("status", {}).get("roles", ()) if each["name"] == role.name), {}
        )
        if (said.get("desired", 0), said.get("ready", 0)) != (role.replicas, ready):
            yield f"status says {said.get('ready', 0)} of {said.get('desired', 0)} {role.name}: {ready} are ready"


def _services(server: Server, deployment: JSON, declared: tuple[Role, ...]) -> Iterator[str]:
    meta = deployment["metadata"]
    name = meta["name"]
    wanted = {name, *(names.role_service(name, role.name) for role in declared)}
    for role in declared:
        if role.size > 1:
            wanted |= {names.replica_service(name, role.name, ordinal) for ordinal in range(role.replicas)}
    standing = {each["metadata"]["name"]: each for each in server.items("services", meta["namespace"])}
    mine = {each for each, service in standing.items() if owner(service) == meta["uid"]} - {names.router(name)}
    taken = {each for each, service in standing.items() if owner(service) != meta["uid"]}
    if mine != wanted - taken:
        yield f"Services {', '.join(sorted(mine))} stand, not {', '.join(sorted(wanted - taken))}"
    for each in sorted(mine):
        labels = standing[each]["metadata"].get("labels") or {}
        selector = standing[each]["spec"].get("selector") or {}
        if (labels.get(keys.NAME), labels.get(keys.INSTANCE)) != (keys.NAME_VALUE, name):
            yield f"Service {each} does not say whose it is"
        if selector.get(keys.INSTANCE) != name or selector.get(keys.NAME) != keys.NAME_VALUE:
            yield f"Service {each} selects {selector}"


def _router(server: Server, deployment: JSON) -> Iterator[str]:
    meta = deployment["metadata"]
    name = names.router(meta["name"])
    wanted = "router" in deployment["spec"]
    for plural in ("deployments", "services", "serviceaccounts", "configmaps", "roles", "rolebindings"):
        there = any(
            each["metadata"]["name"] == name and owner(each) == meta["uid"]
            for each in server.items(plural, meta["namespace"])
        )
        if there and not wanted:
            yield f"{plural} {name} stands although no router is declared"
        if wanted and not there and plural in ("deployments", "services"):
            yield f"{plural} {name} is missing"


def _ready(pod: Pod) -> bool:
    conditions: list[Any] = pod.body.get("status", {}).get("conditions") or []
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)
