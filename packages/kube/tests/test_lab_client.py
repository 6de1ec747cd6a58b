"""The client against the real API server."""

import asyncio
from typing import Any

import aiohttp
import pytest
from kube_forwarder import forwarding
from kube_worlds import gated
from modeldeployment.kube import (
    Added,
    AlreadyExists,
    Bookmark,
    Client,
    Conflict,
    Invalid,
    NotFound,
    PatchType,
    Recorder,
    Uncertain,
    Verb,
    kinds,
    load,
    request_for,
    shapes,
)

pytestmark = pytest.mark.lab


async def test_a_pod_lives_through_all_verbs(control_plane: Any, namespace: str) -> None:
    async with Client(load(control_plane.kubeconfig), field_manager="kube-test") as client:
        created = await client.create(kinds.PODS, gated("a", role="prefill"), namespace)
        assert created.spec.scheduling_gates == (shapes.SchedulingGate(name="lab/never"),)
        with pytest.raises(AlreadyExists):
            await client.create(kinds.PODS, gated("a"), namespace)
        with pytest.raises(Invalid) as raised:
            await client.patch(kinds.PODS, "a", {"spec": {"containers": []}}, namespace)
        assert raised.value.details.causes != ()
        patched = await client.patch(kinds.PODS, "a", {"metadata": {"labels": {"role": "decode"}}}, namespace)
        assert patched.metadata.labels == {"role": "decode"}
        assert await client.get(kinds.PODS, "a", namespace) == patched
        listing = await client.list(kinds.PODS, namespace, labels="role=decode")
        assert listing.items == (patched,)
        partial = await client.list_metadata(kinds.PODS, namespace)
        assert [one.metadata for one in partial.items] == [patched.metadata]
        assert await client.delete(kinds.PODS, "a", namespace, uid=created.metadata.uid, grace_seconds=0) is not None
        with pytest.raises(NotFound):
            await client.get(kinds.PODS, "a", namespace)


async def test_a_status_is_written_through_its_subresource(control_plane: Any, namespace: str) -> None:
    async with Client(load(control_plane.kubeconfig)) as client:
        await client.create(kinds.PODS, gated("a"), namespace)
        patched = await client.patch(
            kinds.PODS, "a", {"status": {"reason": "Because"}}, namespace, subresource="status"
        )
        assert patched.status.reason == "Because"


async def test_a_delete_for_another_uid_or_an_older_version_is_a_conflict(control_plane: Any, namespace: str) -> None:
    async with Client(load(control_plane.kubeconfig)) as client:
        created = await client.create(kinds.PODS, gated("a"), namespace)
        await client.patch(kinds.PODS, "a", {"metadata": {"labels": {"x": "y"}}}, namespace)
        with pytest.raises(Conflict):
            await client.delete(kinds.PODS, "a", namespace, uid="00000000-0000-0000-0000-000000000000")
        with pytest.raises(Conflict):
            await client.delete(kinds.PODS, "a", namespace, resource_version=created.metadata.resource_version)
        assert (await client.get(kinds.PODS, "a", namespace)).metadata.uid == created.metadata.uid


async def test_a_create_whose_answer_is_lost_may_be_found_by_reading_again(control_plane: Any, namespace: str) -> None:
    async with (
        forwarding(load(control_plane.kubeconfig)) as (forwarder, access),
        Client(access) as client,
    ):
        await client.list(kinds.PODS, namespace)  # the connection stands
        forwarder.losing_answers = True
        with pytest.raises(Uncertain):
            await client.create(kinds.PODS, gated("a"), namespace)
        assert forwarder.lost.is_set()
        forwarder.losing_answers = False
        assert (await client.get(kinds.PODS, "a", namespace)).metadata.name == "a"


def service(**spec: Any) -> dict[str, Any]:
    ports = [{"name": "http", "port": 8000}]
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": {"ports": ports, **spec}}


async def test_applying_respects_a_foreign_owner_until_forced(control_plane: Any, namespace: str) -> None:
    access = load(control_plane.kubeconfig)
    async with Client(access, field_manager="ours") as ours, Client(access, field_manager="theirs") as theirs:
        apply = PatchType.APPLY
        first = await ours.patch(kinds.SERVICES, "s", service(selector={"a": "1"}), namespace, how=apply)
        again = await ours.patch(kinds.SERVICES, "s", service(selector={"a": "1"}), namespace, how=apply)
        assert again.metadata.resource_version == first.metadata.resource_version
        with pytest.raises(Conflict, match=r'conflict with "ours"'):
            await theirs.patch(kinds.SERVICES, "s", service(selector={"a": "2"}), namespace, how=apply)
        forced = await theirs.patch(kinds.SERVICES, "s", service(selector={"a": "2"}), namespace, how=apply, force=True)
        assert forced.spec.selector == {"a": "2"}
        assert forced.spec.ports == (shapes.ServicePort(name="http", port=8000, target_port=8000, protocol="TCP"),)


async def test_replacing_an_old_version_is_a_conflict(control_plane: Any, namespace: str) -> None:
    async with Client(load(control_plane.kubeconfig)) as client:
        created = await client.create(kinds.SERVICES, service(), namespace)
        await client.patch(kinds.SERVICES, "s", {"metadata": {"labels": {"x": "y"}}}, namespace)
        body = service(clusterIP=created.spec.cluster_ip)
        body["metadata"]["resourceVersion"] = created.metadata.resource_version
        with pytest.raises(Conflict):
            await client.replace(kinds.SERVICES, "s", body, namespace)


async def test_a_long_list_is_read_in_pages_of_one_version(
    control_plane: Any, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("modeldeployment.kube.client._PAGE", 3)
    async with Client(load(control_plane.kubeconfig)) as client:
        await asyncio.gather(*(client.create(kinds.SERVICES, named(f"s-{i}"), namespace) for i in range(8)))
        listing = await client.list(kinds.SERVICES, namespace)
    assert sorted(one.metadata.name for one in listing.items) == [f"s-{i}" for i in range(8)]


async def test_a_list_that_the_server_compresses_is_read_as_any_other(control_plane: Any, namespace: str) -> None:
    long = {"example.com/note": "word " * 20_000}
    bodies = [service(clusterIP="None") | {"metadata": {"name": name, "annotations": long}} for name in ("a", "b")]
    access, target = load(control_plane.kubeconfig), request_for(Verb.LIST, kinds.SERVICES, namespace).target
    headers = {"Authorization": await access.authorization(), "Accept-Encoding": "gzip"}
    async with Client(access) as client, aiohttp.ClientSession(headers=headers) as bare:
        for body in bodies:
            await client.create(kinds.SERVICES, body, namespace)
        async with bare.get(access.server + target, ssl=access.tls or False) as response:
            assert response.headers["Content-Encoding"] == "gzip"
        listing = await client.list(kinds.SERVICES, namespace)
    assert [one.metadata.annotations for one in listing.items] == [long, long]


def named(name: str) -> dict[str, Any]:
    return service(clusterIP="None") | {"metadata": {"name": name}}


async def test_a_streamed_list_ends_with_a_bookmark(control_plane: Any, namespace: str) -> None:
    async with Client(load(control_plane.kubeconfig)) as client:
        created = await client.create(kinds.SERVICES, service(), namespace)
        events = client.watch(kinds.SERVICES, namespace, initial=True, seconds=60)
        assert await anext(events) == Added(created)
        last = await anext(events)
        assert isinstance(last, Bookmark)
        assert last.initial_end
        await events.aclose()


async def test_an_event_of_ours_is_taken_and_becomes_a_series(control_plane: Any, namespace: str) -> None:
    async with Client(load(control_plane.kubeconfig)) as client:
        regarding = shapes.ObjectReference(api_version="v1", kind="Pod", name="a", namespace=namespace, uid="u")
        recorder = Recorder(client, "gpustack.ai/modeldeployment", "operator-0")
        for _ in range(2):
            await recorder.emit(regarding, "Warning", "Stuck", "no quota is left", "Admit")
            await recorder.flush()
        (seen,) = (await client.list(kinds.EVENTS, namespace)).items
    assert recorder.refused == 0
    assert (seen.reason, seen.note, seen.series.count) == ("Stuck", "no quota is left", 2)
