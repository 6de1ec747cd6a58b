import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import web
from modeldeployment.lab.bench import storing
from modeldeployment.lab.bench.errors import BenchError


def listing(count: int) -> dict[str, object]:
    pods = [
        {
            "metadata": {"name": f"pod-{number}", "namespace": "bench", "uid": str(number), "resourceVersion": "5"},
            "spec": {"containers": [{"name": "main"}]},
            "status": {"phase": "Running"},
        }
        for number in range(count)
    ]
    return {"kind": "PodList", "apiVersion": "v1", "metadata": {"resourceVersion": "9"}, "items": pods}


@contextlib.asynccontextmanager
async def server_of_pods(folder: Path, count: int) -> AsyncIterator[Path]:
    """A local server with Pods in namespace `bench` and none elsewhere; yields a kubeconfig for it."""

    async def pods(request: web.Request) -> web.Response:
        return web.json_response(listing(count if request.match_info["namespace"] == "bench" else 0))

    app = web.Application()
    app.router.add_get("/api/v1/namespaces/{namespace}/pods", pods)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    kubeconfig = {
        "current-context": "one",
        "clusters": [{"name": "one", "cluster": {"server": f"http://{host}:{port}"}}],
        "users": [{"name": "one", "user": {}}],
        "contexts": [{"name": "one", "context": {"cluster": "one", "user": "one"}}],
    }
    file = folder / "kubeconfig"
    file.write_text(json.dumps(kubeconfig))
    try:
        yield file
    finally:
        await runner.cleanup()


async def test_our_store_is_filled_by_our_client_in_a_process_of_its_own(tmp_path: Path) -> None:
    async with server_of_pods(tmp_path, 600) as kubeconfig:
        measured = await storing.ours(kubeconfig, "bench", "-X", "tracemalloc")
    assert measured["pods"] == 600
    assert measured["traced"] > 0.1


async def test_the_same_pods_are_held_as_the_official_clients_models(tmp_path: Path) -> None:
    recorded = tmp_path / "pods.json"
    recorded.write_text(json.dumps(listing(600)))
    assert (await storing.stock(recorded))["pods"] == 600


async def test_a_process_that_fails_is_said_with_its_last_words(tmp_path: Path) -> None:
    with pytest.raises(BenchError, match=r"ended with status 1; it said: .*absent\.json"):
        await storing.stock(tmp_path / "absent.json")
