"""What others take, break and claim."""

from typing import Final

from modeldeployment.api import keys, kueue, names
from modeldeployment.lab.crashes.scenarios.scenario import (
    Ends,
    Scenario,
    cluster,
    creates,
    deletes,
    edits,
    quota,
    standing,
)
from modeldeployment.lab.model import World
from modeldeployment.lab.model.resources import JSON

_HOLD: Final = "example.com/hold"


def _pod(world: World, ordinal: int, member: int = 0) -> JSON:
    """The live Pod of a seat of the role `server`."""
    return next(
        pod
        for pod in world.pods("chat")
        if "deletionTimestamp" not in pod["metadata"]
        and pod["metadata"]["labels"].get(keys.ORDINAL) == str(ordinal)
        and pod["metadata"]["labels"].get(keys.MEMBER_INDEX, "0") == str(member)
        and keys.COMPONENT in pod["metadata"]["labels"]
    )


def _outranked(world: World) -> None:
    """A queue of two cards that gives way to higher priority."""
    cluster()(world)
    quota(2)(world)
    (queue,) = world.server.items("clusterqueues")
    policy = {"spec": {"preemption": {"withinClusterQueue": "LowerPriority"}}}
    world.server.merge("clusterqueues", queue["metadata"]["name"], "", policy, by="admin")


def _intrudes(world: World) -> None:
    """Somebody's Workload of higher priority takes a card."""
    like = _pod(world, 1)
    workload = world.server.get("workloads", like["metadata"]["labels"][keys.GROUP_NAME], world.namespace)
    spec = {**workload["spec"], "priority": 1000}
    world.create({"apiVersion": kueue.API_VERSION, "kind": "Workload", "metadata": {"name": "intruder"}, "spec": spec})


def _drains(world: World) -> None:
    world.drain(_pod(world, 1)["spec"]["nodeName"])


def _fails(world: World) -> None:
    """A Pod ends for good, evicted by its node."""

    def ended(held: JSON) -> JSON:
        conditions = [{**each, "status": "False"} for each in held["status"].get("conditions") or ()]
        return {**held, "status": {**held["status"], "phase": "Failed", "reason": "Evicted", "conditions": conditions}}

    pod = _pod(world, 0)
    world.server.update("pods", pod["metadata"]["name"], world.namespace, ended, by="kubelet", subresource="status")


def _loses_a_member(world: World) -> None:
    world.delete(_pod(world, 0, 1)["metadata"]["name"], "Pod")


def _loses_its_workload(world: World) -> None:
    world.delete(_pod(world, 1)["metadata"]["labels"][keys.GROUP_NAME], "Workload")


def _shrinks_under_a_hold(world: World) -> None:
    """Three replicas become one, and somebody holds the Workload of the first that leaves."""
    name = _pod(world, 2)["metadata"]["labels"][keys.GROUP_NAME]
    held = world.server.get("workloads", name, world.namespace)["metadata"].get("finalizers") or []
    _holds_with(world, name, [*held, _HOLD])
    world.edit("chat", "/spec/roles/0/replicas", 1)


def _lets_its_workload_go(world: World) -> None:
    for each in world.server.items("workloads", world.namespace):
        held = each["metadata"].get("finalizers") or []
        if _HOLD in held:
            _holds_with(world, each["metadata"]["name"], [one for one in held if one != _HOLD])


def _holds_with(world: World, workload: str, finalizers: list[str]) -> None:
    patch = {"metadata": {"finalizers": finalizers}}
    world.server.merge("workloads", workload, world.namespace, patch, by="somebody")


def _strangers(world: World) -> None:
    """Objects that look like ours and are not."""
    cluster()(world)
    labels = {
        keys.NAME: keys.NAME_VALUE,
        keys.INSTANCE: "chat",
        keys.COMPONENT: "server",
        keys.RESOURCE_TYPE: keys.RESOURCE_TYPE_VALUE,
    }
    marks = {keys.ORDINAL: "0", keys.ROUTER: keys.TRUE}
    held = [{"name": "example.com/hold"}]
    pod = {"containers": [{"name": "main", "image": "stranger:1"}], "schedulingGates": held}
    _stands(world, "v1", "Pod", "stranger", labels | marks, {"spec": pod})
    _stands(world, "v1", "Service", "stranger", labels, {"spec": {"ports": [{"port": 80}]}})
    _stands(world, "v1", "ConfigMap", "stranger", labels | marks, {"data": {"key": "value"}})
    _stands(world, "v1", "Service", "chat-server", {}, {"spec": {"ports": [{"port": 80}]}})


def _stands(world: World, version: str, kind: str, name: str, labels: dict[str, str], body: JSON) -> None:
    world.create({"apiVersion": version, "kind": kind, "metadata": {"name": name, "labels": labels}, **body})


def _with_a_finalizer(world: World) -> None:
    """A deployment that somebody else holds too."""
    manifest = world.manifest(replicas=2)
    manifest["metadata"]["finalizers"] = ["example.com/hold"]
    world.create(manifest)


def _attaches(world: World) -> None:
    """Somebody hangs a ConfigMap of his own on the deployment, with our labels but not our note."""
    held = world.server.get("modeldeployments", "chat", world.namespace)["metadata"]
    reference = {
        "apiVersion": keys.API_VERSION,
        "kind": "ModelDeployment",
        "name": "chat",
        "uid": held["uid"],
        "controller": True,
    }
    marks = {keys.NAME: keys.NAME_VALUE, keys.INSTANCE: "chat", keys.ROUTER: keys.TRUE}
    metadata = {"name": "attached", "labels": marks, "ownerReferences": [reference]}
    world.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"key": "value"}})
    labels = marks | {keys.COMPONENT: "server", keys.ORDINAL: "1"}
    loosely = {"name": "loose", "labels": labels, "ownerReferences": [reference | {"controller": False}]}
    spec = {"containers": [{"name": "main", "image": "stranger:1"}], "schedulingGates": [{"name": "example.com/hold"}]}
    world.create({"apiVersion": "v1", "kind": "Pod", "metadata": loosely, "spec": spec})


def _squats(world: World) -> None:
    """Somebody's Pod carries the group of a replica that is yet to come."""
    labels = {keys.GROUP_NAME: names.group_name(world.namespace, "chat", "server", 1)}
    spec = {"containers": [{"name": "main", "image": "stranger:1"}], "schedulingGates": [{"name": "example.com/hold"}]}
    _stands(world, "v1", "Pod", "squatter", labels, {"spec": spec})


def _makes_room(world: World) -> None:
    patch = {"metadata": {"labels": {keys.GROUP_NAME: None}}}
    world.server.merge("pods", "squatter", world.namespace, patch, by="somebody")


def _doubles(world: World) -> None:
    """Somebody copies a Pod, all its marks included."""
    pod = _pod(world, 1)
    labels = {k: v for k, v in pod["metadata"]["labels"].items() if k != kueue.MANAGED}
    metadata = {
        "name": f"{pod['metadata']['name']}-again",
        "labels": labels,
        "annotations": pod["metadata"]["annotations"],
        "ownerReferences": pod["metadata"]["ownerReferences"],
    }
    spec = {key: value for key, value in pod["spec"].items() if key not in ("nodeName", "schedulingGates")}
    world.create({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})


def _unlabels(world: World) -> None:
    """Somebody takes the ordinal off one Pod, and the eligibility and the deployment's name off another."""
    _marks(world, 0, {keys.ORDINAL: None})
    _marks(world, 1, {keys.ELIGIBLE: None, keys.INSTANCE: "other"})


def _hides(world: World) -> None:
    """Somebody takes off a member what it is watched by, and gives its leader the ordinal of another replica."""
    _marks(world, 1, {keys.NAME: None}, member=1)
    _marks(world, 1, {keys.ORDINAL: "0"})


def _marks(world: World, ordinal: int, labels: dict[str, str | None], *, member: int = 0) -> None:
    name = _pod(world, ordinal, member)["metadata"]["name"]
    world.server.merge("pods", name, world.namespace, {"metadata": {"labels": labels}}, by="user")


def _orphans(world: World) -> None:
    """Somebody hangs a Pod on the deployment that holds no seat of it, in a group of its own."""
    world.create(_orphan_like(_pod(world, 1)))


def _inherits(world: World) -> None:
    """Somebody deletes a Pod and hangs one on the deployment that is like it in all but seat and group."""
    pod = _pod(world, 0)
    world.delete(pod["metadata"]["name"], "Pod")
    world.create(_orphan_like(pod))


def _orphan_like(pod: JSON) -> JSON:
    labels = pod["metadata"]["labels"] | {keys.GROUP_NAME: "a-group-of-its-own"}
    metadata = {
        "name": "orphan",
        "labels": {key: value for key, value in labels.items() if key not in (kueue.MANAGED, keys.ORDINAL)},
        "annotations": pod["metadata"]["annotations"],
        "ownerReferences": pod["metadata"]["ownerReferences"],
    }
    spec = {key: value for key, value in pod["spec"].items() if key not in ("nodeName", "schedulingGates")}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def _labels_a_member(world: World) -> None:
    """Somebody says of a member that answers nothing that it may be sent requests."""
    name = _pod(world, 0, 1)["metadata"]["name"]
    world.server.merge("pods", name, world.namespace, {"metadata": {"labels": {keys.ELIGIBLE: keys.TRUE}}}, by="user")


def _unlabels_a_service(world: World) -> None:
    """Somebody takes the marks off a Service, and bends the selector of another."""
    marks = {keys.NAME: None, keys.INSTANCE: None}
    world.server.merge("services", "chat", world.namespace, {"metadata": {"labels": marks}}, by="user")
    world.server.merge(
        "services", "chat-server", world.namespace, {"spec": {"selector": {keys.INSTANCE: "x"}}}, by="user"
    )


def _usurps(world: World) -> None:
    """Somebody takes the router out of the spec, its account by hand, and its Service's name for himself."""
    world.delete("chat-router", "ServiceAccount")
    world.delete("chat-router", "Service")
    _stands(world, "v1", "Service", "chat-router", {}, {"spec": {"ports": [{"port": 80}]}})
    world.remove("chat", "/spec/router")


def _usurped(world: World) -> None:
    world.create(world.manifest(router="vllm-router"))


LOSING: Final = (
    Scenario(
        "usurped",
        "a router goes while somebody takes the name of its Service for himself",
        standing(cluster(), _usurped),
        (_usurps,),
        Ends(survivors=("server/0.0",)),
        strangers=1,
        spare=1,
    ),
    Scenario(
        "preemption",
        "a higher priority takes the quota of one of two replicas, and goes again",
        standing(_outranked, creates(replicas=1), edits("/spec/roles/0/replicas", 2)),
        (_intrudes, deletes("intruder", "Workload")),
        Ends(pods=(1, 0), survivors=("server/0.0",)),
    ),
    Scenario(
        "node-drain",
        "the node of one of two replicas is drained",
        standing(cluster(nodes=2, cards=1), creates(replicas=2)),
        (_drains,),
        Ends(("Degraded",), (1, 0), ("server/0.0",)),
    ),
    Scenario(
        "failed-pod",
        "a Pod ends for good",
        standing(cluster(), creates(replicas=2)),
        (_fails,),
        Ends(pods=(1, 1), survivors=("server/1.0",)),
    ),
    Scenario(
        "lost-member",
        "one member of a replica of two is deleted by hand",
        standing(cluster(), creates(replicas=2, size=2)),
        (_loses_a_member,),
        Ends(pods=(2, 1), survivors=("server/1.0", "server/1.1")),
        width=2,
    ),
    Scenario(
        "lost-workload",
        "the Workload of one of two replicas is deleted by hand",
        standing(cluster(), creates(replicas=2, size=2)),
        (_loses_its_workload,),
        Ends(pods=(2, 1), survivors=("server/0.0", "server/0.1")),
        width=2,
    ),
    Scenario(
        "held-workload",
        "three replicas become one, and the Workload of the first that leaves is held for a while",
        standing(cluster(), creates(replicas=3)),
        (_shrinks_under_a_hold, _lets_its_workload_go),
        Ends(pods=(0, 2), survivors=("server/0.0",), left=("server/2", "server/1")),
    ),
    Scenario(
        "strangers",
        "a deployment comes, grows a router and goes among objects that look like its own and are not",
        _strangers,
        (
            _with_a_finalizer,
            _attaches,
            lambda world: world.edit("chat", "/spec/router", {"name": "vllm-router"}),
            lambda world: world.remove("chat", "/spec/router"),
        ),
        Ends(pods=(2, 0)),
        strangers=2,
        hurries=False,
    ),
    Scenario(
        "squatter",
        "one replica becomes two while somebody's Pod is in the group of the second, and leaves it later",
        standing(cluster(), creates(replicas=1)),
        (_squats, edits("/spec/roles/0/replicas", 2), _makes_room),
        Ends(pods=(1, 0), survivors=("server/0.0",)),
        strangers=1,
    ),
    Scenario(
        "double",
        "somebody copies a Pod, marks and all",
        standing(cluster(), creates(replicas=2)),
        (_doubles,),
        Ends(survivors=("server/0.0", "server/1.0")),
    ),
    Scenario(
        "drift",
        "somebody takes marks off Pods and Services",
        standing(cluster(), creates(replicas=2)),
        (_unlabels, _unlabels_a_service),
        Ends(survivors=("server/0.0", "server/1.0")),
    ),
    Scenario(
        "hidden",
        "somebody takes off a member what it is watched by, and tells its leader another ordinal",
        standing(cluster(), creates(replicas=2, size=2)),
        (_hides,),
        Ends(survivors=("server/0.0", "server/0.1", "server/1.0", "server/1.1")),
        width=2,
    ),
    Scenario(
        "orphan",
        "somebody hangs a Pod on a deployment that holds no seat of it",
        standing(cluster(), creates(replicas=2)),
        (_orphans,),
        Ends(pods=(0, 1), survivors=("server/0.0", "server/1.0")),
    ),
    Scenario(
        "heir",
        "somebody deletes a Pod and hangs one like it on the deployment, which says of no seat that it is its own",
        standing(cluster(), creates(replicas=2)),
        (_inherits,),
        Ends(pods=(1, 1), survivors=("server/1.0",)),
    ),
    Scenario(
        "member-drift",
        "somebody says that a member which answers nothing may be sent requests",
        standing(cluster(), creates(size=2)),
        (_labels_a_member,),
        Ends(survivors=("server/0.0", "server/0.1")),
        width=2,
    ),
)
