"""What the admission webhook bears: the operator's real process, asked over HTTPS as an API server would.

The driver stands in for the API server's side only; every lookup the webhook makes goes to the real one.
"""

import asyncio
import base64
import json
import time
from collections.abc import Callable, Coroutine
from copy import deepcopy
from pathlib import Path
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit

from modeldeployment.admission.examples import CLUSTER
from modeldeployment.admission.webhook.configurations import PREFIX, SHAPES, Half
from modeldeployment.api import keys
from modeldeployment.kube import Invalid, ServerFailure, Verb, custom, request_for
from modeldeployment.lab.bench import goals
from modeldeployment.lab.bench.errors import Unexpected
from modeldeployment.lab.bench.operating import Operator, operator
from modeldeployment.lab.bench.reviewing import ten_roles
from modeldeployment.lab.bench.rows import Value
from modeldeployment.lab.bench.telling import Tell
from modeldeployment.lab.bench.wire import Address, Connection, connections
from modeldeployment.lab.bench.worlds import NAMESPACE, World
from modeldeployment.lab.controlplane import ports

Ask: TypeAlias = Callable[[], Coroutine[Any, Any, float]]

REVIEWS: Final = 4000
AT_ONCE: Final = 8
OPEN: Final = 32
"""Connections kept open, as an API server keeps them."""
OFFERED: Final = 200.0
"""Reviews a second while latency is measured: the rate that is asked for."""

_DEPLOYMENTS: Final = custom(keys.GROUP, keys.VERSION, "modeldeployments", "ModelDeployment")
_FORGETS_SECONDS: Final = 30.0
"""Far above what an API server takes to learn that a configuration is gone."""
_PLURALS: Final = {
    "InstanceType": "instancetypes",
    "KVCachePool": "kvcachepools",
    "KVCacheBackend": "kvcachebackends",
    "KVCachePoolBinding": "kvcachepoolbindings",
}


async def measure(world: World, reviews: int, tell: Tell) -> tuple[Value, ...]:
    """Ask as fast as the answers come, then at a steady rate; each review makes its lookups on the real API server."""
    await _furnish(world)
    listen = f"127.0.0.1:{ports.choose().control}"
    settings = {
        "GPUSTACK_WEBHOOK_LISTEN": listen,
        "GPUSTACK_WEBHOOK_URL": f"https://{listen}",
        "GPUSTACK_WEBHOOK_NAMESPACES": json.dumps([NAMESPACE]),
    }
    async with operator(world, "--only", "webhook", settings=settings) as running:
        await running.until_ready()
        path, body = await _asked(world)
        address = Address(f"https://{listen}", await _trusted(world), "")
        async with connections(address, OPEN) as opened:
            free: asyncio.Queue[Connection] = asyncio.Queue()
            for connection in opened:
                free.put_nowait(connection)

            async def ask() -> float:
                began = time.perf_counter()
                connection = await free.get()
                status, said = await connection.call("POST", path, body)
                free.put_nowait(connection)
                if status != 200 or b'"allowed":true' not in said:
                    raise Unexpected(f"the webhook refused the benchmark's deployment: {said[:500].decode()}")
                return time.perf_counter() - began

            await _as_fast_as_possible(ask, reviews // 10)
            rate, cpu = await _rate(ask, reviews, running)
            tell(f"webhook: {rate:.0f} reviews/s, {cpu * 1000:.2f} CPU ms each")
            taken = await _steadily(ask, reviews // 4)
        reads = await _steadily_read(world, reviews // 4)
    await _uninstalled(world)
    p99 = _p99(taken)
    steady = (
        f"{len(taken)} reviews offered at {OFFERED:.0f}/s, median {taken[len(taken) // 2] * 1000:.1f} ms; the two "
        f"reads of each alone, raw and at that rate: p99 {_p99(reads) * 1000:.1f} ms"
    )
    against = f"{reviews} reviews, {AT_ONCE} at once, ten roles on two InstanceTypes, driver on the same machine"
    return (
        Value(goals.WEBHOOK_RATE, rate, against),
        Value(goals.WEBHOOK_P99, p99 * 1000, steady),
        Value(goals.WEBHOOK_CPU, cpu * 1000, against),
    )


async def _as_fast_as_possible(ask: Ask, reviews: int) -> None:
    async def drain(share: int) -> None:
        for _ in range(share):
            await ask()

    async with asyncio.TaskGroup() as group:
        for _ in range(AT_ONCE):
            group.create_task(drain(max(1, reviews // AT_ONCE)))


async def _rate(ask: Ask, reviews: int, running: Operator) -> tuple[float, float]:
    """Reviews a second, and processor seconds of the webhook for each."""
    began, used = time.perf_counter(), running.cpu_seconds()
    await _as_fast_as_possible(ask, reviews)
    done = max(1, reviews // AT_ONCE) * AT_ONCE
    return done / (time.perf_counter() - began), (running.cpu_seconds() - used) / done


async def _steadily(ask: Ask, reviews: int) -> list[float]:
    """Seconds of each review when they are begun at even intervals, however long the earlier ones take; sorted."""
    began = asyncio.get_running_loop().time()
    tasks = []
    for number in range(max(100, reviews)):
        await asyncio.sleep(began + number / OFFERED - asyncio.get_running_loop().time())
        tasks.append(asyncio.create_task(ask()))
    return sorted(await asyncio.gather(*tasks))


async def _steadily_read(world: World, reviews: int) -> list[float]:
    """Seconds of what the API server alone takes for the lookups of a review; sorted."""
    paths = [f"/apis/{keys.API_VERSION}/instancetypes/{name}" for name in ("h20-8x", "h20-other")]
    async with connections(world.driver, OPEN) as opened:
        free: asyncio.Queue[Connection] = asyncio.Queue()
        for connection in opened:
            free.put_nowait(connection)

        async def read(path: str) -> None:
            connection = await free.get()
            status, said = await connection.call("GET", path)
            free.put_nowait(connection)
            if status != 200:
                raise Unexpected(f"GET {path}: {status} {said[:300].decode()}")

        async def both() -> float:
            began = time.perf_counter()
            await asyncio.gather(*(read(path) for path in paths))
            return time.perf_counter() - began

        return await _steadily(both, reviews)


def _p99(taken: list[float]) -> float:
    return taken[int(len(taken) * 0.99) - 1]


async def _asked(world: World) -> tuple[str, bytes]:
    """The validating half's path, and the review of an update that changes an image."""
    configuration = await _configuration(world)
    hook = next(each for each in configuration["webhooks"] if each["name"].endswith(".modeldeployment"))
    old = ten_roles()
    old["metadata"]["namespace"] = NAMESPACE
    new = deepcopy(old)
    new["spec"]["roles"][0]["image"] = "registry/own:next"
    group = {"group": keys.GROUP, "version": keys.VERSION}
    review = {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": "7c8f1c1e-0000-4000-8000-000000000001",
            "kind": {**group, "kind": "ModelDeployment"},
            "resource": {**group, "resource": "modeldeployments"},
            "name": new["metadata"]["name"],
            "namespace": NAMESPACE,
            "operation": "UPDATE",
            "userInfo": {"username": "somebody"},
            "object": new,
            "oldObject": old,
            "dryRun": False,
        },
    }
    return urlsplit(hook["clientConfig"]["url"]).path, json.dumps(review).encode()


async def _configuration(world: World) -> dict[str, Any]:
    shape = next(each for each in SHAPES if each.half is Half.VALIDATE)
    request = request_for(Verb.GET, shape.kind, None, f"{PREFIX}-{shape.suffix}")
    configuration: dict[str, Any] = json.loads(await world.client.raw(request))
    return configuration


async def _uninstalled(world: World) -> None:
    """Take the configurations away, which outlive their operator, so that the scenarios after this one can write."""
    for shape in SHAPES:
        await world.client.delete(shape.kind, f"{PREFIX}-{shape.suffix}")
    nothing = {"apiVersion": keys.API_VERSION, "kind": "ModelDeployment", "metadata": {"name": "probe"}, "spec": {}}
    async with asyncio.timeout(_FORGETS_SECONDS):
        while True:
            try:
                await world.client.create(_DEPLOYMENTS, nothing, NAMESPACE)
            except Invalid:
                return  # judged by the schema alone
            except ServerFailure:
                await asyncio.sleep(0.1)


async def _trusted(world: World) -> Path:
    """A file of the authorities the API server was told to trust."""
    bundle = (await _configuration(world))["webhooks"][0]["clientConfig"]["caBundle"]
    file = world.folder / "webhook-authorities.pem"
    file.write_bytes(base64.b64decode(bundle))
    return file


async def _furnish(world: World) -> None:
    """Make the objects that the deployment leads to."""
    for each in CLUSTER:
        if plural := _PLURALS.get(each["kind"]):
            namespaced = each["kind"] == "KVCachePoolBinding"
            kind = custom(keys.GROUP, keys.VERSION, plural, each["kind"], namespaced=namespaced)
            body = deepcopy(each)
            where = NAMESPACE if namespaced else None
            body["metadata"].pop("namespace", None)
            await world.client.create(kind, body, where)
            if status := each.get("status"):
                await world.client.patch(
                    kind, body["metadata"]["name"], {"status": status}, where, subresource="status"
                )
