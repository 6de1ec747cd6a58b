"""A settled fleet that nobody had to wait for: its objects are written as their controllers would have left them."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec

from modeldeployment.api import keys, kueue
from modeldeployment.api.crds import crds
from modeldeployment.api.modeldeployment import ModelDeployment
from modeldeployment.kube import Kind, custom, shapes
from modeldeployment.lab import toolchain
from modeldeployment.lab.bench import manifests, rendering, snapshots
from modeldeployment.lab.bench.operating import operator
from modeldeployment.lab.bench.settling import until_quiet
from modeldeployment.lab.bench.telling import Tell
from modeldeployment.lab.bench.wire import METADATA_OBJECTS, Connection, connections, send_all
from modeldeployment.lab.bench.worlds import DEPLOYED, FLEET, NAMESPACE, PODS, SERVICES, WORKLOADS, world
from modeldeployment.lab.controlplane import Component
from modeldeployment.lab.flavors.names import flavor_name
from modeldeployment.lab.fleets.nodes import node_names
from modeldeployment.lab.toolchain import place
from modeldeployment.render import Facts, Rendering, RoleRendering, Seat, render

REPLICAS: Final = 2
SIZE: Final = 5
SECONDS: Final = 300.0
"""How long an operator may take to settle a fleet that it has not seen before; being silent for a while is not it."""
_CONNECTIONS: Final = 16
_SINCE: Final = "2026-01-01T00:00:00Z"
_MERGE: Final = "application/merge-patch+json"
_CONDITIONS: Final = ("PodScheduled", "Initialized", "PodReadyToStartContainers", "ContainersReady", "Ready")
_FORM: Final = b"2"
"""To be raised when the objects are written otherwise."""


def _hooks(kind: str) -> Kind[shapes.Partial]:
    group = "admissionregistration.k8s.io"
    return custom(
        group, "v1", f"{kind.lower()}webhookconfigurations", f"{kind}WebhookConfiguration", namespaced=False
    ).partial()


@dataclass(frozen=True, slots=True)
class _Known:
    """The metadata of an object that was just made."""

    name: str
    uid: str


async def database(deployments: int, report: toolchain.Report, tell: Tell) -> Path:
    """The database of a control plane with so many settled deployments of 2 x 5 Pods; made where the cache lacks it.

    Raises LabError and the client's errors.
    """
    kept = snapshots.folder(f"fleet{deployments}", _made_of(deployments))
    if kept.is_dir():
        return kept
    tell(f"preparing {deployments} deployments of {REPLICAS} x {SIZE} Pods once")
    async with world(report) as started:
        for component in (Component.KUEUE, Component.KWOK, Component.SCHEDULER, Component.CONTROLLER_MANAGER):
            started.plane.kill(component)
        for kind in map(_hooks, ("Mutating", "Validating")):
            for hook in (await started.client.list(kind)).items:
                await started.client.delete(kind, hook.metadata.name)
        async with connections(started.driver, _CONNECTIONS) as senders:
            await _write(senders, deployments, tell)
        audit = started.audit()
        async with operator(started) as running:
            await running.until_passes(deployments, SECONDS)
            await until_quiet(audit)
        tell("keeping its database")
        snapshots.keep(started.plane, kept)
    return kept


def _made_of(deployments: int) -> Iterator[bytes]:
    """What decides which objects there are."""
    made = _rendered({**_manifest(0), "metadata": {"name": "fleet-0", "namespace": NAMESPACE, "uid": rendering.UID}})
    yield _FORM
    yield str(deployments).encode()
    yield place.recipe_digest().encode()
    yield json.dumps(crds(), sort_keys=True).encode()
    yield from map(manifests.compact, made.services)
    for role in made.roles:
        yield from manifests.bodies(role)


async def _write(senders: tuple[Connection, ...], deployments: int, tell: Tell) -> None:
    bodies = [manifests.compact(_manifest(number)) for number in range(deployments)]
    stored = await send_all(senders, (("POST", DEPLOYED, body) for body in bodies))
    renderings = [_rendered(json.loads(each)) for each in stored]
    services = (each for rendering in renderings for each in rendering.services)
    await send_all(senders, (("POST", SERVICES, manifests.compact(body)) for body in services))
    roles = [role for rendering in renderings for role in rendering.roles]
    tell("writing Pods")
    seats = [(role, seat) for role in roles for seat in role.seats()]
    nodes = node_names(FLEET)
    bodies = [_pod(role, seat, nodes[number % len(nodes)]) for number, (role, seat) in enumerate(seats)]
    made = await send_all(senders, (("POST", PODS, body) for body in bodies), accept=METADATA_OBJECTS)
    known = {
        (role.template.pod(seat)["metadata"]["ownerReferences"][0]["uid"], seat): _metadata(answer)
        for (role, seat), answer in zip(seats, made, strict=True)
    }
    await send_all(
        senders,
        (("PATCH", f"{PODS}/{each.name}/status", manifests.compact(_running(each.name))) for each in known.values()),
        accept=METADATA_OBJECTS,
        content=_MERGE,
    )
    tell("writing Workloads")
    groups = [_workload(role, ordinal, known) for role in roles for ordinal in range(role.replicas)]
    await send_all(senders, (("POST", WORKLOADS, manifests.compact(body)) for body in groups), accept=METADATA_OBJECTS)
    await send_all(
        senders,
        (
            ("PATCH", f"{WORKLOADS}/{body['metadata']['name']}/status", manifests.compact(_admitted(body)))
            for body in groups
        ),
        accept=METADATA_OBJECTS,
        content=_MERGE,
    )


def _manifest(number: int) -> dict[str, Any]:
    return manifests.deployment(f"fleet-{number}", NAMESPACE, FLEET.instance_type, replicas=REPLICAS, size=SIZE)


def _rendered(stored: dict[str, Any]) -> Rendering:
    known, name = rendering.known()
    return render(ModelDeployment.model_validate(stored), Facts({name: known}))


def _metadata(answer: bytes) -> _Known:
    meta = msgspec.json.decode(answer)["metadata"]
    return _Known(meta["name"], meta["uid"])


def _pod(role: RoleRendering, seat: Seat, node: str) -> bytes:
    """A Pod as its controllers leave it: bound, let in, marked and held by Kueue."""
    pod = role.template.pod(seat)
    pod["metadata"]["labels"] |= {kueue.MANAGED: keys.TRUE}
    pod["metadata"]["finalizers"] = [kueue.MANAGED]
    pod["spec"]["nodeName"] = node
    return manifests.compact(pod)


def _running(name: str) -> dict[str, Any]:
    return {
        "status": {
            "phase": "Running",
            "hostIP": "127.0.0.1",
            "podIP": "127.1.0.1",
            "podIPs": [{"ip": "127.1.0.1"}],
            "startTime": _SINCE,
            "conditions": [_true(kind, "") for kind in _CONDITIONS],
            "containerStatuses": [
                {
                    "name": "engine",
                    "image": "registry.example/engine:1",
                    "imageID": f"registry.example/engine@{name}",
                    "ready": True,
                    "started": True,
                    "restartCount": 0,
                    "state": {"running": {"startedAt": _SINCE}},
                }
            ],
        }
    }


def _workload(role: RoleRendering, ordinal: int, known: dict[tuple[str, Seat], _Known]) -> dict[str, Any]:
    pod = role.template.pod(Seat(ordinal, 0))
    meta = pod["metadata"]
    uid = meta["ownerReferences"][0]["uid"]
    members = [known[uid, Seat(ordinal, member)] for member in range(role.size)]
    return {
        "apiVersion": kueue.API_VERSION,
        "kind": "Workload",
        "metadata": {
            "name": meta["labels"][keys.GROUP_NAME],
            "namespace": NAMESPACE,
            "ownerReferences": [
                {"apiVersion": "v1", "kind": "Pod", "name": each.name, "uid": each.uid} for each in members
            ],
        },
        "spec": {
            "active": True,
            "queueName": meta["labels"][keys.QUEUE_NAME],
            "podSets": [{"name": role.name, "count": role.size, "template": {"spec": pod["spec"]}}],
        },
    }


def _admitted(workload: dict[str, Any]) -> dict[str, Any]:
    (podset,) = workload["spec"]["podSets"]
    flavors = {f"{kueue.CREDITS}{FLEET.maker}": flavor_name(FLEET)}
    return {
        "status": {
            "admission": {
                "clusterQueue": FLEET.instance_type,
                "podSetAssignments": [{"name": podset["name"], "count": podset["count"], "flavors": flavors}],
            },
            "conditions": [_true("QuotaReserved", "QuotaReserved"), _true("Admitted", "Admitted")],
        }
    }


def _true(kind: str, reason: str) -> dict[str, Any]:
    told = {"reason": reason} if reason else {}
    return {"type": kind, "status": "True", "message": "", "lastTransitionTime": _SINCE, **told}
