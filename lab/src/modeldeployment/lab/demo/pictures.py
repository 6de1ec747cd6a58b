"""Pictures of a world for a terminal: how the deployment stands, all there is, what a command printed. Pure."""

from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from modeldeployment.api import ConditionType
from modeldeployment.lab.demo.history import DeploymentSeen, PodSeen, RouterSeen, ServiceSeen, WorkloadSeen, World

_STYLES = {"Ready": "green", "Degraded": "yellow", "Starting": "cyan", "Deleting": "magenta"}
_COLOURS = {True: "green", False: "yellow"}
_BULLET = "* "


def line(world: World) -> str:
    """Return how the deployment stands, or what it left behind, as one line."""
    deployment = world.deployment
    if deployment is None:
        return _left(world)
    return "  ".join(f"{head} {cell}" for head, cell in _cells(deployment))


def table(world: World) -> Table:
    """Return how the deployment stands as a table."""
    picture = Table()
    deployment = world.deployment
    if deployment is None:
        picture.add_column("the deployment is gone")
        picture.add_row(_left(world))
        return picture
    leaving = sum(pod.leaving for pod in world.pods)
    pods = f"{len(world.pods)}" + (f" ({leaving} leaving)" if leaving else "")
    cells = (*_cells(deployment), ("Pods", pods))
    for head, _ in cells:
        picture.add_column(head)
    picture.add_row(*(Text(cell, _STYLES.get(cell, "")) for _, cell in cells))
    return picture


def tree(world: World) -> Tree:
    """Return deployment → role → replica → Pod → Workload → node, and the router's objects."""
    deployment = world.deployment
    root = Tree(Text(f"ModelDeployment {deployment.name}" if deployment else "no ModelDeployment", "bold"))
    roles: dict[str, Tree] = {}
    for pod in world.pods:
        if pod.role not in roles:
            roles[pod.role] = root.add(Text(f"role {pod.role}"))
        replica = roles[pod.role].add(Text(f"replica {pod.ordinal}"))
        beside = f", {' and '.join(pod.sidecars)} beside it" if pod.sidecars else ""
        branch = replica.add(Text(f"Pod {pod.name} {_state(pod)}{beside}", _COLOURS[pod.serving]))
        for workload in world.workloads_of(pod):
            flavors = ", ".join(f"{resource} of {flavor}" for resource, flavor in workload.flavors.items())
            words = f"admitted: {flavors}" if workload.admitted else "not admitted"
            branch = branch.add(Text(f"Workload {workload.name} {words}"))
        branch.add(Text(f"node {pod.node or 'not chosen'}"))
    if deployment and deployment.router:
        branch = root.add(Text(f"router {deployment.router}"))
        for each in sorted(world.of(RouterSeen), key=lambda each: (each.kind, each.name)):
            branch.add(Text(f"{each.kind} {each.name}{'' if each.ready else ' not Ready'}", _COLOURS[each.ready]))
    return root


def printed(line: str) -> Table:
    """Return a line that kubectl printed, folded under its own beginning, field and code set off."""
    picture = Table.grid(padding=(0, 1, 0, 0))
    if not line.startswith(_BULLET):
        picture.add_row(" ", line.rstrip())
        return picture
    reason = Text(line.removeprefix(_BULLET))
    reason.highlight_regex(r"^\S+(?=:)|\(MD\w+\)$", "bold")
    picture.add_row(" ", _BULLET.strip(), reason)
    return picture


def _cells(deployment: DeploymentSeen) -> tuple[tuple[str, str], ...]:
    rollout = deployment.condition(ConditionType.REPLICAS_UP_TO_DATE)
    return (
        *((("roles", deployment.summary or "none yet"),) if deployment.router else ()),
        ("phase", deployment.phase or "new"),
        ("ready", f"{deployment.ready}/{deployment.replicas}"),
        ("quota", f"{deployment.reserved}/{deployment.replicas}"),
        ("rollout", rollout.message or rollout.reason or "not observed"),
        *((("leaves", str(deployment.retirement)),) if deployment.retirement else ()),
    )


def _left(world: World) -> str:
    # Services go last: the garbage collector learns of a new kind within half a minute of its definition.
    pods, workloads, services = len(world.pods), len(world.of(WorkloadSeen)), len(world.of(ServiceSeen))
    routers = len(world.of(RouterSeen))
    more = f", {routers} of the router" if routers else ""
    return f"left: {pods} Pods, {workloads} Workloads, {services} Services{more}"


def _state(pod: PodSeen) -> str:
    if pod.leaving:
        return "leaving"
    return "Ready" if pod.ready else "not Ready"
