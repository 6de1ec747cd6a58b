import asyncio
import contextlib
import json
from array import array
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from modeldeployment.kube import (
    Added,
    AlreadyExists,
    Changed,
    Client,
    Conflict,
    Gone,
    Invalid,
    NotFound,
    PatchType,
    load,
    shapes,
)
from modeldeployment.kube.kinds import PODS, WORKLOADS
from modeldeployment.lab.bench import pretending, storming, stubbing
from modeldeployment.lab.bench.pretending import Pretence
from modeldeployment.lab.bench.stubbing import Place, Stub


@contextlib.asynccontextmanager
async def client_of(stub: Stub, folder: Path) -> AsyncIterator[Client]:
    async with stubbing.serving(stub) as url:
        document = {
            "current-context": "one",
            "clusters": [{"name": "one", "cluster": {"server": url}}],
            "users": [{"name": "one", "user": {}}],
            "contexts": [{"name": "one", "context": {"cluster": "one", "user": "one"}}],
        }
        (folder / "kubeconfig").write_text(json.dumps(document))
        async with Client(load(folder / "kubeconfig")) as client:
            yield client


def pod(name: str, **labels: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "labels": labels}, "spec": {}}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("/api/v1/pods", Place("/api/v1/pods")),
        ("/api/v1/namespaces/a/pods", Place("/api/v1/pods", "a")),
        ("/apis/g/v1/namespaces/a/things/b/status", Place("/apis/g/v1/things", "a", "b", "status")),
        ("/apis/g/v1/things/b", Place("/apis/g/v1/things", "", "b")),
    ],
)
def test_a_path_leads_to_a_collection_a_namespace_a_name_and_a_subresource(path: str, found: Place) -> None:
    assert stubbing.place(path) == found


def test_a_merge_patch_removes_what_is_null_and_merges_what_is_an_object() -> None:
    assert stubbing.merged({"a": {"b": 1, "c": 2}, "d": [1]}, {"a": {"b": None}, "d": [2]}) == {"a": {"c": 2}, "d": [2]}


async def test_what_is_created_is_listed_by_its_labels_and_refused_a_second_time(tmp_path: Path) -> None:
    async with client_of(Stub(), tmp_path) as client:
        await client.create(PODS, pod("one", app="x"), "bench")
        await client.create(PODS, pod("two", app="y"), "bench")
        listed = (await client.list(PODS, labels="app=x")).items
        assert [(each.metadata.namespace, each.metadata.name) for each in listed] == [("bench", "one")]
        with pytest.raises(AlreadyExists):
            await client.create(PODS, pod("one"), "bench")


async def test_a_patch_of_an_old_version_conflicts_and_one_that_changes_nothing_keeps_it(
    tmp_path: Path,
) -> None:
    async with client_of(Stub(), tmp_path) as client:
        made = await client.create(PODS, pod("one"), "bench")
        same = await client.patch(PODS, "one", {"spec": {}}, "bench")
        assert same.metadata.resource_version == made.metadata.resource_version
        with pytest.raises(Conflict):
            await client.patch(PODS, "one", {"metadata": {"resourceVersion": "1"}}, "bench")
        with pytest.raises(NotFound):
            await client.patch(PODS, "none", {}, "bench")


async def test_a_json_patch_holds_to_what_it_tests_and_of_a_status_changes_nothing_else(tmp_path: Path) -> None:
    async with client_of(Stub(), tmp_path) as client:
        made = await client.create(PODS, pod("one"), "bench")
        tested = {"op": "test", "path": "/metadata/uid", "value": made.metadata.uid}
        more = {"op": "add", "path": "/spec/nodeName", "value": "n"}
        status = {"op": "add", "path": "/status", "value": {"phase": "Running"}}
        told = await client.patch(
            PODS, "one", [tested, more, status], "bench", how=PatchType.JSON, subresource="status"
        )
        assert (told.status.phase, told.spec.node_name) == ("Running", "")
        changed = await client.patch(PODS, "one", [tested, more], "bench", how=PatchType.JSON)
        assert changed.spec.node_name == "n"
        with pytest.raises(Invalid):
            await client.patch(PODS, "one", [{**tested, "value": "another"}], "bench", how=PatchType.JSON)


async def test_a_watch_shows_what_happened_since_the_version_it_names_and_what_happens_next(tmp_path: Path) -> None:
    async with client_of(Stub(), tmp_path) as client:
        since = (await client.list(PODS)).resource_version
        await client.create(PODS, pod("one"), "bench")
        seen: list[type[object]] = []
        async with asyncio.timeout(10), contextlib.aclosing(client.watch(PODS, resource_version=since)) as events:
            async for event in events:
                seen.append(type(event))
                if isinstance(event, Added):
                    await client.patch(PODS, "one", {"spec": {"nodeName": "n"}}, "bench")
                elif isinstance(event, Changed):
                    await client.delete(PODS, "one", "bench")
                elif isinstance(event, Gone):
                    break
        assert seen == [Added, Changed, Gone]


async def test_a_pod_that_is_created_is_admitted_and_ready_at_once(tmp_path: Path) -> None:
    pretence = Pretence()
    body = pod("one", **{"kueue.x-k8s.io/pod-group-name": "g", "kueue.x-k8s.io/queue-name": "q"})
    body["spec"] = {"containers": [{"name": "main"}]}
    async with client_of(pretence.stub, tmp_path) as client:
        await client.create(PODS, body, "bench")
        (workload,) = (await client.list(WORKLOADS)).items
        assert [each.kind for each in workload.metadata.owner_references] == ["Pod"]
        assert ready(await client.get(PODS, "one", "bench"))
        pretence.turn_readiness("one")
        pretence.restart("one")
        changed = await client.get(PODS, "one", "bench")
    assert not ready(changed)
    assert [each.restart_count for each in changed.status.container_statuses] == [1]
    assert pretence.stub.objects(pretending.PODS)[0]["metadata"]["managedFields"]


def ready(seen: shapes.Pod) -> bool:
    return any(each.type == "Ready" and each.status == "True" for each in seen.status.conditions)


def test_ages_are_those_of_versions_of_the_time_asked_for() -> None:
    noted = array(stubbing.TYPECODE, [1_000, 9_000, 5_000, 7_000, 6_000, 6_500, 90_000, 90_001])
    assert storming.taken(noted.tobytes(), begun=5_000, ended=10_000) == [0.5, 2.0]


async def test_a_tiny_storm_yields_all_of_its_values() -> None:
    values = await storming.measure(2, rate=20, seconds=1, tell=lambda _: None)
    assert [each.measurement.id for each in values] == [
        "storm-decision-p99-ms",
        "fleet-1000x3-mib",
        "fleet-1000x3-cores",
    ]
    assert all(each.value > 0 for each in values)
    assert "20 decided on" in values[0].against
