"""The control plane of the suite: a fleet of its own, one namespace, and identities that the audit log tells apart."""

import asyncio
import contextlib
import json
import os
import tempfile
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from modeldeployment.api import keys, kueue
from modeldeployment.api.instancetype import InstanceType
from modeldeployment.kube import Client, NotFound, PatchType, Verb, custom, load, request_for
from modeldeployment.kube.kinds import CLUSTER_QUEUES, NAMESPACES, SERVICE_ACCOUNTS
from modeldeployment.lab import controlplane, identities, toolchain
from modeldeployment.lab.bench import audits
from modeldeployment.lab.bench.snapshots import restore
from modeldeployment.lab.bench.wire import Address
from modeldeployment.lab.controlplane import Component, ControlPlane, Options
from modeldeployment.lab.flavors.installing import INSTANCE_TYPES
from modeldeployment.lab.flavors.names import local_queue_name
from modeldeployment.lab.flavors.providing import Provision, provide
from modeldeployment.lab.fleets.fleet import Fleet

NAMESPACE: Final = "bench"
OPERATOR: Final = "operator"
STANDBY: Final = "standby"
"""A second operator."""
DRIVER: Final = "driver"
FLEET: Final = Fleet(maker="nvidia", model="a10g", name="bench", nodes=64, cards=16, cpu=128, memory_gib=1024)
"""1,024 cards: room for the thousand replicas of one card each, all Running at once."""

DEPLOYMENTS: Final = custom(keys.GROUP, keys.VERSION, "modeldeployments", "ModelDeployment")
DEPLOYED: Final = f"/apis/{keys.API_VERSION}/namespaces/{NAMESPACE}/{DEPLOYMENTS.plural}"
PODS: Final = f"/api/v1/namespaces/{NAMESPACE}/pods"
SERVICES: Final = f"/api/v1/namespaces/{NAMESPACE}/services"
WORKLOADS: Final = f"/apis/{kueue.API_VERSION}/namespaces/{NAMESPACE}/workloads"

_ACCOUNTS: Final = (OPERATOR, STANDBY, DRIVER)
_PROVISION: Final = Provision(
    FLEET, FLEET.instance_type, FLEET.instance_type, local_queue_name(FLEET.instance_type), (NAMESPACE,)
)
_BINDINGS: Final = custom(
    "rbac.authorization.k8s.io", "v1", "clusterrolebindings", "ClusterRoleBinding", namespaced=False
)
_GROUP: Final = f"system:serviceaccounts:{NAMESPACE}"
_JOB_LIMITS: Final = ("--kube-api-qps=500", "--kube-api-burst=500")
"""The client limits of the built-in controllers that stand beside the operator (facts peers-measured §2)."""


def user(account: str) -> str:
    """The user name of a service account of the suite."""
    return f"system:serviceaccount:{NAMESPACE}:{account}"


@dataclass(frozen=True, slots=True)
class World:
    """A control plane with a fleet; `client` is an administrator's, the operator and the raw sender have their own."""

    plane: ControlPlane
    client: Client
    provision: Provision
    folder: Path
    operator_kubeconfig: Path
    standby_kubeconfig: Path
    driver: Address
    audit_log: Path

    async def hold(self, *, held: bool) -> None:
        """Stop or reopen the ClusterQueue: held, every Pod is created and gated, and none is admitted."""
        body = {"spec": {"stopPolicy": "Hold" if held else "None"}}
        await self.client.patch(CLUSTER_QUEUES, self.provision.cluster_queue, body, how=PatchType.MERGE)

    @contextlib.asynccontextmanager
    async def held(self) -> AsyncIterator[None]:
        """The ClusterQueue stopped for a while."""
        await self.hold(held=True)
        try:
            yield
        finally:
            await self.hold(held=False)

    async def instance_type(self) -> InstanceType:
        """The fleet's InstanceType as the API server has it."""
        request = request_for(Verb.GET, INSTANCE_TYPES, None, self.provision.instance_type)
        return InstanceType.model_validate_json(await self.client.raw(request))

    def audit(self, account: str = OPERATOR) -> audits.Log:
        """A reader of the operator's requests from now on, or of another account's."""
        log = audits.Log(self.audit_log, user(account))
        log.since_last()
        return log

    def processes(self) -> dict[str, int]:
        """The process ids of the control plane, by component."""
        return {str(part): pid for part, pid in self.plane.pids.items()}


@contextlib.asynccontextmanager
async def world(
    report: toolchain.Report, policy: Mapping[str, Any] | None = None, restored: Path | None = None
) -> AsyncIterator[World]:
    """Start a control plane of the suite's own and stop it at the end, whatever happens; it ends with this process.

    `policy` says what is audited; without one, the requests of the operator and of the driver are, and no bodies.
    `restored` is the database of an earlier one (`snapshots`), of which nothing but etcd and the API server then runs.
    Raises ToolchainError and ControlPlaneError.
    """
    with tempfile.TemporaryDirectory(prefix="md-bench-", ignore_cleanup_errors=True) as temporary:
        folder = Path(temporary)
        written, log = folder / "audit-policy.json", folder / "audit.log"
        written.write_text(json.dumps(policy or audits.policy(_GROUP)))
        options = Options(
            name="bench",
            state=folder / "state",
            kueue=restored is None,
            lifeline=os.getpid(),
            extra_args={
                Component.API_SERVER: audits.arguments(written, log),
                Component.CONTROLLER_MANAGER: _JOB_LIMITS,
            },
        )
        plane = await asyncio.to_thread(controlplane.up, options, toolchain.ensure(os.environ, report))
        try:
            if restored is not None:
                await asyncio.to_thread(restore, plane, restored)
            async with Client(load(plane.kubeconfig), field_manager="modeldeployment-bench") as client:
                if restored is None:
                    await _furnish(client)
                yield await _entered(plane, client, folder, log)
        finally:
            controlplane.down(plane.state)


async def _furnish(client: Client) -> None:
    await client.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    await client.create(_BINDINGS, _everything_allowed())
    for name in _ACCOUNTS:
        body = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name}}
        await client.create(SERVICE_ACCOUNTS, body, NAMESPACE)
    await _default_account(client)
    await provide(client, FLEET, namespaces=(NAMESPACE,))


async def _entered(plane: ControlPlane, client: Client, folder: Path, log: Path) -> World:
    tokens = {name: await identities.token(client, name, NAMESPACE) for name in _ACCOUNTS}
    kubeconfig, standby = (
        identities.write_kubeconfig(plane, tokens[name], folder / f"{name}.kubeconfig") for name in (OPERATOR, STANDBY)
    )
    driver = Address(plane.server, plane.authority, tokens[DRIVER])
    return World(plane, client, _PROVISION, folder, kubeconfig, standby, driver, log)


async def _default_account(client: Client) -> None:
    # A Pod is refused until its namespace has a service account.
    async with asyncio.timeout(30):
        while True:
            try:
                await client.get(SERVICE_ACCOUNTS, "default", NAMESPACE)
            except NotFound:
                await asyncio.sleep(0.05)
            else:
                return


def _everything_allowed() -> dict[str, Any]:
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "bench"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": _GROUP}],
    }
