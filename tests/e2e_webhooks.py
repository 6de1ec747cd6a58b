"""The webhook served by the test process itself, for one namespace of a control plane that others use too."""

import asyncio
import contextlib
import queue
import threading
import time
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
from e2e_operators import free_port
from modeldeployment.admission import Policy
from modeldeployment.admission.examples import DEPLOYMENT
from modeldeployment.admission.webhook import Plan, Webhook
from modeldeployment.admission.webhook.configurations import SHAPES, Half, Installation
from modeldeployment.admission.webhook.installing import remove
from modeldeployment.api import keys
from modeldeployment.kube import ApiError, Client, PatchType, Request, Verb, custom, load, request_for
from modeldeployment.kube.kinds import NAMESPACES, SERVICE_ACCOUNTS
from modeldeployment.lab import identities
from modeldeployment.lab.controlplane import ControlPlane
from modeldeployment.lab.flavors.installing import install_kinds
from modeldeployment.lab.pytest_plugin.naming import namespace_name
from modeldeployment.lab.pytest_plugin.sharing import worker_name

UNREVIEWED: Final = "modeldeployment.test/unreviewed"
"""Label of objects that the webhook passes over, so that a stored object of older rules can be made."""

ACCOUNT: Final = "operator-under-test"
PATIENCE: Final = 30.0

_BINDINGS: Final = custom(
    "rbac.authorization.k8s.io", "v1", "clusterrolebindings", "ClusterRoleBinding", namespaced=False
)


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A namespace whose writes of both kinds are reviewed.

    `users` is the kubeconfig of an administrator, whose writes count as a user's; `operators` that of the account the
    webhook runs as, whose writes count as the operator's.
    """

    namespace: str
    users: Path
    operators: Path
    webhook: Webhook

    def judge_by(self, policy: Policy) -> None:
        """Judge by these settings from the next review on."""
        self.webhook.set_policy(policy)


@contextlib.contextmanager
def reviewing(control_plane: ControlPlane, namespace: str, folder: Path) -> Iterator[Reviewed]:
    """Make the namespace and have its writes reviewed; returns once API servers call the webhook."""
    with ThreadPoolExecutor(1) as thread:
        stop, made = threading.Event(), queue.SimpleQueue[Reviewed | BaseException]()
        served = thread.submit(asyncio.run, _serve(control_plane, namespace, folder, made, stop))
        served.add_done_callback(lambda done: made.put(done.exception() or RuntimeError("the webhook ended by itself")))
        reviewed = made.get()
        if isinstance(reviewed, BaseException):
            raise reviewed
        try:
            yield reviewed
        finally:
            stop.set()
            served.result()


@pytest.fixture(scope="module")
def webhook_namespace(
    request: pytest.FixtureRequest, control_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Reviewed]:
    """Return a namespace of the test module's own whose writes are reviewed."""
    name = namespace_name(f"hook-{Path(str(request.path)).stem}", worker_name(request.config), time.time_ns() % 10**6)
    with reviewing(control_plane, name, tmp_path_factory.mktemp("webhook")) as reviewed:
        yield reviewed


async def _serve(
    control_plane: ControlPlane,
    namespace: str,
    folder: Path,
    made: "queue.SimpleQueue[Reviewed | BaseException]",
    stop: threading.Event,
) -> None:
    async with Client(load(control_plane.kubeconfig), field_manager="modeldeployment-test") as client:
        await install_kinds(client)
        async with _account(client, control_plane, namespace, folder) as operators:
            port = free_port()
            installation = Installation(f"https://127.0.0.1:{port}", (namespace,), f"gpustack-worker-{namespace}")
            plan = Plan(("127.0.0.1", port), installation, namespace)
            webhook = Webhook(plan, load(operators), Policy())
            try:
                async with webhook.running():
                    await _called(client, webhook, installation, namespace)
                    made.put(Reviewed(namespace, control_plane.kubeconfig, operators, webhook))
                    while not stop.is_set():  # noqa: ASYNC110 (it is set by another thread)
                        await asyncio.sleep(0.05)
            finally:
                await remove(client, installation)


@contextlib.asynccontextmanager
async def _account(client: Client, control_plane: ControlPlane, namespace: str, folder: Path) -> AsyncIterator[Path]:
    """The namespace and an account in it that may do everything; a kubeconfig of that."""
    await client.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
    own = {"name": ACCOUNT, "namespace": namespace}
    await client.create(SERVICE_ACCOUNTS, {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": own}, namespace)
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": namespace},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"kind": "ServiceAccount", **own}],
    }
    await client.create(_BINDINGS, binding)
    try:
        bearer = await identities.token(client, ACCOUNT, namespace)
        yield identities.write_kubeconfig(control_plane, bearer, folder / "operator.kubeconfig")
    finally:
        await client.delete(_BINDINGS, namespace)
        await client.delete(NAMESPACES, namespace)


async def _called(client: Client, webhook: Webhook, installation: Installation, namespace: str) -> None:
    """Wait until both halves are called, and pass over marked objects."""
    async with asyncio.timeout(PATIENCE):
        while webhook.waiting():  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        for shape in SHAPES:
            unmarked = {"matchExpressions": [{"key": UNREVIEWED, "operator": "DoesNotExist"}]}
            patch = [{"op": "replace", "path": f"/webhooks/{i}/objectSelector", "value": unmarked} for i in range(2)]
            await client.patch(shape.kind, installation.named(shape), patch, how=PatchType.JSON)
        marked = asked(namespace, {UNREVIEWED: "true"})
        while True:
            called = await _reviewed(client, webhook, asked(namespace))
            if all(called) and not any(await _reviewed(client, webhook, marked)):
                return
            await asyncio.sleep(0.1)


async def _reviewed(client: Client, webhook: Webhook, request: Request) -> list[bool]:
    """Which halves are asked about a write; the answer does not matter."""
    before = _counts(webhook)
    with contextlib.suppress(ApiError):
        await client.raw(request)
    return [after > count for after, count in zip(_counts(webhook), before, strict=True)]


def _counts(webhook: Webhook) -> list[int]:
    return [sum(webhook.tally.durations[half]) for half in Half]


def asked(namespace: str, labels: dict[str, str] | None = None) -> Request:
    """The dry run of a create."""
    body: dict[str, Any] = deepcopy(DEPLOYMENT)
    body["metadata"] = {"name": "probe", "namespace": namespace, "labels": labels or {}}
    return create(body, dry_run=True)


def create(body: dict[str, Any], *, dry_run: bool = False) -> Request:
    """The request that creates a deployment."""
    kind = custom(keys.GROUP, keys.VERSION, "modeldeployments", "ModelDeployment")
    query = {"dryRun": "All"} if dry_run else {}
    return request_for(Verb.CREATE, kind, body["metadata"]["namespace"], body=body, query=query)
