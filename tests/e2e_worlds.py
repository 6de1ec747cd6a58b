"""A namespace with a fleet, deployments in it, and what tests do to them."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from e2e_board import PATIENCE, Board
from modeldeployment.api import keys
from modeldeployment.kube import Client, Kind, NotFound, PatchType, custom
from modeldeployment.kube.kinds import PODS, WORKLOADS
from modeldeployment.lab.controlplane import ControlPlane
from modeldeployment.lab.flavors.providing import Provision
from modeldeployment.reconcile import DEPLOYMENTS

WHOLE_PODS = custom("", "v1", "pods", "Pod")
WHOLE_SERVICES = custom("", "v1", "services", "Service")
POLICIES = custom("admissionregistration.k8s.io", "v1", "mutatingadmissionpolicies", "", namespaced=False)
BINDINGS = custom("admissionregistration.k8s.io", "v1", "mutatingadmissionpolicybindings", "", namespaced=False)

JSON = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Said:
    """What a program answered."""

    code: int
    out: str
    err: str


@dataclass(slots=True)
class World:
    """One namespace of a control plane, its fleet, and the board that shows it."""

    control_plane: ControlPlane
    client: Client
    namespace: str
    provision: Provision
    board: Board

    @property
    def instance_type(self) -> str:
        return self.provision.instance_type

    def manifest(self, name: str = "chat", *, roles: list[JSON] | None = None, **role: Any) -> JSON:
        """A deployment; `role` are fields of its one role `server`, which asks for one accelerator."""
        return {
            "apiVersion": keys.API_VERSION,
            "kind": "ModelDeployment",
            "metadata": {"name": name, "namespace": self.namespace},
            "spec": {
                "model": {"name": "Qwen/Qwen2.5-7B-Instruct"},
                "engine": {"name": "vLLM", "version": "0.29.0"},
                "roles": roles if roles is not None else [self.role(**role)],
            },
        }

    def role(self, name: str = "server", **fields: Any) -> JSON:
        """One role on the world's InstanceType."""
        asks = {"instanceType": self.instance_type, "resources": {"accelerator": 1}}
        return {"name": name, **asks, **fields}

    async def create(self, name: str = "chat", **role: Any) -> str:
        """Create a deployment and return its name."""
        await self.client.create(DEPLOYMENTS, self.manifest(name, **role), self.namespace)
        return name

    async def apply(self, manifest: JSON, *arguments: str) -> Said:
        """Apply a manifest with kubectl."""
        return await self.kubectl("apply", "-f", "-", *arguments, stdin=json.dumps(manifest))

    async def settled(self, name: str = "chat") -> None:
        """Wait until the deployment is served as it is declared."""
        await self.board.until(lambda: self.board.settled(name), what=f"{name} is settled")

    async def edit(self, name: str, path: str, value: Any) -> None:
        """Put a value at a path of a deployment, such as `/spec/roles/0/replicas`; the board has seen it then."""
        change = json.dumps([{"op": "add", "path": path, "value": value}]).encode()
        made = await self.client.patch(DEPLOYMENTS, name, change, self.namespace, how=PatchType.JSON)
        version = int(made.metadata.resource_version)
        await self.board.until(lambda: self.board.deployments.revision >= version, what="the board saw the edit")

    async def scale(self, name: str, replicas: int) -> None:
        """Declare another number of replicas for the first role."""
        await self.edit(name, "/spec/roles/0/replicas", replicas)

    async def delete(self, name: str = "chat") -> None:
        """Delete a deployment; it goes when its operator lets it go."""
        await self.client.delete(DEPLOYMENTS, name, self.namespace)

    async def gone(self, name: str = "chat") -> None:
        """Wait until a deployment and everything labelled as its own is gone."""
        await self.board.until(
            lambda: not self.board.deployments.get(self.namespace, name) and not self.board.all_pods(name),
            what=f"{name} is gone",
        )

    async def whole(self, kind: Kind[Any], name: str) -> JSON:
        """An object as the API server holds it."""
        path = "/".join(["/apis" if kind.group else "/api", kind.api_version, "namespaces", self.namespace])
        said = await self.kubectl("get", "--raw", f"{path}/{kind.plural}/{name}")
        found: JSON = json.loads(said.out)
        return found

    async def kubectl(self, *arguments: str, stdin: str = "") -> Said:
        """Run kubectl in the namespace as a user would."""
        process = await asyncio.create_subprocess_exec(
            str(self.control_plane.bin / "kubectl"),
            f"--kubeconfig={self.control_plane.kubeconfig}",
            f"--namespace={self.namespace}",
            *arguments,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await asyncio.wait_for(process.communicate(stdin.encode()), PATIENCE)
        return Said(process.returncode or 0, out.decode(), err.decode())

    async def asking(self) -> AsyncIterator[None]:
        """Iterate ten times a second, for what no watch of the board shows, until patience ends."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                while True:
                    yield
                    await asyncio.sleep(0.1)

    async def clear(self) -> None:
        """Take every deployment away by force and wait, whether or not an operator still runs."""
        for found in list(self.board.deployments.items()):
            with contextlib.suppress(NotFound):
                await self.client.delete(DEPLOYMENTS, found.metadata.name, self.namespace)
            with contextlib.suppress(NotFound):
                unheld = {"metadata": {"finalizers": None}}
                await self.client.patch(DEPLOYMENTS, found.metadata.name, unheld, self.namespace, how=PatchType.MERGE)
        for workload in (await self.client.list_metadata(WORKLOADS, self.namespace)).items:
            with contextlib.suppress(NotFound):
                await self.client.delete(WORKLOADS, workload.metadata.name, self.namespace)
        for pod in (await self.client.list_metadata(PODS, self.namespace)).items:
            with contextlib.suppress(NotFound):
                await self.client.delete(PODS, pod.metadata.name, self.namespace, grace_seconds=0)


class MakeWorld(Protocol):
    """Makes the test's world; `fleet` are fields of `Fleet`. A second call adds to the same pool."""

    def __call__(self, **fleet: Any) -> Awaitable[World]:
        """Return the world once its queue is active."""


@contextlib.asynccontextmanager
async def annotated_pods(world: World, image: str, annotations: Mapping[str, str]) -> AsyncIterator[None]:
    """While open, every new Pod of the world that runs `image` gets these annotations, which kwok plays by."""
    condition = f"object.spec.containers.exists(each, each.image == '{image}')"
    values = ", ".join(f"'{key}': '{value}'" for key, value in annotations.items())
    patch = f"Object{{metadata: Object.metadata{{annotations: {{{values}}}}}}}"
    pods = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"], "operations": ["CREATE"]}
    probe = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "probe"},
        "spec": {"containers": [{"name": "main", "image": image}]},
    }
    played = set(annotations)
    async with mutated(
        world, pods, condition, patch, probe, lambda made: played <= set(made["metadata"].get("annotations", {}))
    ):
        yield


@contextlib.asynccontextmanager
async def mutated(
    world: World, rule: JSON, condition: str, patch: str, probe: JSON, holds: Callable[[JSON], bool]
) -> AsyncIterator[None]:
    """While open, the API server applies a patch to what a rule and a condition match in the world's namespace.

    It has begun once it `holds` of what becomes of a `probe`, an object of no name that is in use, and ended once it no
    longer does.
    """
    name = f"{world.namespace}-{rule['resources'][0]}"
    policy: JSON = {
        "apiVersion": POLICIES.api_version,
        "kind": "MutatingAdmissionPolicy",
        "metadata": {"name": name},
        "spec": {
            "failurePolicy": "Fail",
            "reinvocationPolicy": "Never",
            "matchConstraints": {
                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": world.namespace}},
                "resourceRules": [rule],
            },
            "matchConditions": [{"name": "matches", "expression": condition}],
            "mutations": [{"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": patch}}],
        },
    }
    binding: JSON = {
        "apiVersion": BINDINGS.api_version,
        "kind": "MutatingAdmissionPolicyBinding",
        "metadata": {"name": name},
        "spec": {"policyName": name},
    }
    await world.client.create(POLICIES, policy)
    await world.client.create(BINDINGS, binding)
    try:
        await _until_tried(world, probe, holds)
        yield
    finally:
        # The binding has to be out of effect first: one whose policy is gone refuses everything that it matches.
        await world.client.delete(BINDINGS, name)
        await _until_tried(world, probe, lambda made: not holds(made))
        await world.client.delete(POLICIES, name)


async def _until_tried(world: World, probe: JSON, holds: Callable[[JSON], bool]) -> None:
    # The API server takes a policy up a moment after it was stored, and drops it as late; nothing but a try tells when.
    # It may see a binding before its policy, and refuses a try meanwhile.
    said: Said | None = None
    async for _ in world.asking():
        said = await world.kubectl("create", "--dry-run=server", "-o", "json", "-f", "-", stdin=json.dumps(probe))
        if said.code == 0 and holds(json.loads(said.out)):
            return
    raise AssertionError(f"a policy came into effect or went out of it too late; the last try: {said}")
