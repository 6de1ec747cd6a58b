"""The client against a real socket that misbehaves on purpose."""

import asyncio
import gzip
import json
import socket

import aiohttp
import pytest
from kube_server import Answer, hang, hang_up, refuse, reply, serving, stream
from kube_worlds import pod, pod_body, status_body, watch_line, wire
from modeldeployment.kube import (
    Access,
    Added,
    AlreadyExists,
    Bookmark,
    Client,
    Conflict,
    Credential,
    Expired,
    Invalid,
    Listing,
    Malformed,
    NotFound,
    PatchType,
    ServerFailure,
    TooManyRequests,
    Unauthorized,
    Uncertain,
    Unreachable,
    Verb,
    WatchEvent,
    kinds,
    request_for,
    shapes,
)
from modeldeployment.kube.requests import Request

PODS = "/api/v1/namespaces/models/pods"


async def test_a_create_sends_the_bytes_it_was_given_and_reads_the_object() -> None:
    async with serving(reply(201, pod_body())) as server, Client(server.access, field_manager="me") as client:
        assert await client.create(kinds.PODS, b'{"a": 1}', "models") == pod()
    (seen,) = server.seen
    assert (seen.method, seen.target, seen.body) == (
        "POST",
        "/api/v1/namespaces/models/pods?fieldManager=me",
        b'{"a": 1}',
    )
    assert seen.headers["content-type"] == "application/json"
    assert "authorization" not in seen.headers


async def test_a_429_is_waited_out_as_long_as_it_asks() -> None:
    answers = [refuse(429, "TooManyRequests", Retry_After="1"), reply(201, pod_body())]
    async with serving(*answers) as server, Client(server.access) as client:
        loop = asyncio.get_running_loop()
        began = loop.time()
        await client.create(kinds.PODS, b"{}", "models")
        assert loop.time() - began >= 1.0
    assert len(server.seen) == 2


async def test_a_disruption_budget_is_not_waited_for() -> None:
    async with serving(refuse(429, "TooManyRequests")) as server, Client(server.access) as client:
        request = request_for(Verb.CREATE, kinds.PODS, "models", "engine-0", subresource="eviction", body=b"{}")
        with pytest.raises(TooManyRequests):
            await client.raw(request)
    assert len(server.seen) == 1


@pytest.mark.parametrize("trouble", [hang_up, refuse(500, "InternalError"), refuse(503, "ServiceUnavailable")])
async def test_a_read_is_repeated(trouble: Answer) -> None:
    async with serving(trouble, trouble, reply(200, pod_body())) as server, Client(server.access) as client:
        assert await client.get(kinds.PODS, "engine-0", "models") == pod()
    assert len(server.seen) == 3


@pytest.mark.parametrize(
    "trouble", [hang_up, refuse(504, "Timeout"), refuse(500, "InternalError", "etcdserver: request timed out"), hang]
)
async def test_a_create_whose_answer_is_lost_is_uncertain_and_not_repeated(trouble: Answer) -> None:
    async with serving(trouble) as server, Client(server.access, timeout=2.0) as client:
        with pytest.raises(Uncertain, match="POST /api/v1/namespaces/models/pods"):
            await client.create(kinds.PODS, b"{}", "models")
    assert len(server.seen) == 1


async def test_a_create_that_a_webhook_failed_is_not_repeated() -> None:
    async with (
        serving(refuse(500, "InternalError", "failed calling webhook")) as server,
        Client(server.access) as client,
    ):
        with pytest.raises(ServerFailure, match="failed calling webhook"):
            await client.create(kinds.PODS, b"{}", "models")
    assert len(server.seen) == 1


async def test_a_create_is_repeated_when_the_server_says_that_it_did_not_begin() -> None:
    answers = [
        refuse(503, "ServiceUnavailable", Retry_After="0"),
        refuse(503, "X", Retry_After="1"),
        reply(201, pod_body()),
    ]
    async with serving(*answers[1:]) as server, Client(server.access) as client:
        assert await client.create(kinds.PODS, b"{}", "models") == pod()
    assert len(server.seen) == 2


async def test_only_a_delete_of_one_certain_object_is_repeated() -> None:
    async with serving(hang_up, reply(200, status_body(200, ""))) as server, Client(server.access) as client:
        assert await client.delete(kinds.PODS, "engine-0", "models", uid="u1") is None
    assert [seen.body for seen in server.seen] == [b'{"preconditions":{"uid":"u1"}}'] * 2
    async with serving(hang_up) as server, Client(server.access) as client:
        with pytest.raises(Uncertain):
            await client.delete(kinds.PODS, "engine-0", "models")


async def test_a_delete_that_takes_time_gives_the_terminating_object() -> None:
    async with serving(reply(200, pod_body())) as server, Client(server.access) as client:
        assert await client.delete(kinds.PODS, "engine-0", "models", grace_seconds=5) == pod()


async def test_nothing_listening_is_unreachable_also_for_a_create(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("modeldeployment.kube.client._TRIES", 2)
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        async with Client(Access(lambda: Credential(f"http://127.0.0.1:{port}"))) as client:
            with pytest.raises(Unreachable, match=f"no answer from http://127.0.0.1:{port}") as raised:
                await client.create(kinds.PODS, b"{}", "models")
    assert isinstance(raised.value.__cause__, aiohttp.ClientConnectorError)


async def test_a_read_without_an_answer_is_unreachable_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("modeldeployment.kube.client._TRIES", 3)
    async with serving() as server, Client(server.access, timeout=0.5) as client:
        with pytest.raises(Unreachable, match="hint:"):
            await client.get(kinds.PODS, "engine-0", "models")
        await server.saw(3)
    assert len(server.seen) == 3


async def test_refusals_are_raised_with_their_type() -> None:
    answers = [refuse(404, "NotFound"), refuse(409, "AlreadyExists"), refuse(409, "Conflict"), refuse(422, "Invalid")]
    async with serving(*answers) as server, Client(server.access) as client:
        with pytest.raises(NotFound):
            await client.get(kinds.PODS, "engine-0", "models")
        with pytest.raises(AlreadyExists):
            await client.create(kinds.PODS, b"{}", "models")
        with pytest.raises(Conflict):
            await client.patch(kinds.PODS, "engine-0", {}, "models", how=PatchType.APPLY, force=True)
        with pytest.raises(Invalid):
            await client.patch(kinds.PODS, "engine-0", [], "models", how=PatchType.JSON)
    assert server.seen[2].target.endswith("/engine-0?fieldManager=modeldeployment&force=true")
    assert server.seen[2].headers["content-type"] == "application/apply-patch+yaml"
    assert server.seen[3].headers["content-type"] == "application/json-patch+json"


async def test_an_answer_that_is_no_such_object_is_malformed() -> None:
    async with serving(reply(200, b"<html>")) as server, Client(server.access) as client:
        with pytest.raises(Malformed):
            await client.get(kinds.PODS, "engine-0", "models")


def page(names: str, token: str = "", version: str = "40") -> dict[str, object]:
    return {"metadata": {"resourceVersion": version, "continue": token}, "items": [pod_body(name) for name in names]}


async def test_a_list_comes_in_pages() -> None:
    async with serving(reply(200, page("ab", "t=1")), reply(200, page("c"))) as server, Client(server.access) as client:
        listing = await client.list(kinds.PODS, "models", labels="role=prefill", resource_version="7")
    assert listing == Listing((pod("a"), pod("b"), pod("c")), "40")
    assert [seen.target for seen in server.seen] == [
        f"{PODS}?labelSelector=role%3Dprefill&resourceVersion=7&resourceVersionMatch=NotOlderThan&limit=500",
        f"{PODS}?labelSelector=role%3Dprefill&limit=500&continue=t%3D1",
    ]


async def test_a_list_may_come_compressed_and_nothing_else_is_asked_for_so() -> None:
    packed = reply(200, gzip.compress(wire(page("ab"))), Content_Encoding="GZip")
    answers = [packed, reply(200, pod_body("a")), stream()]
    async with serving(*answers) as server, Client(server.access) as client:
        assert await client.list(kinds.PODS, "models") == Listing((pod("a"), pod("b")), "40")
        assert await client.get(kinds.PODS, "a", "models") == pod("a")
        assert await watched(client) == []
    assert [seen.headers["accept-encoding"] for seen in server.seen] == ["gzip", "identity", "identity"]


async def test_a_list_that_only_says_that_it_is_compressed_is_malformed() -> None:
    whole = gzip.compress(wire(page("ab")))
    for body in (wire(page("ab")), whole[:-9]):
        async with serving(reply(200, body, Content_Encoding="gzip")) as server, Client(server.access) as client:
            with pytest.raises(Malformed, match="says it is gzip"):
                await client.list(kinds.PODS, "models")


class Asked(Client):
    """Answers lists from a script, and notes what it was asked for."""

    def __init__(self, *pages: object) -> None:
        super().__init__(Access(lambda: Credential("http://fake.invalid")))
        self.pages, self.targets = list(pages), list[str]()

    async def raw(self, request: Request) -> bytes:
        """Answer with the next page."""
        self.targets.append(request.target)
        return json.dumps(self.pages.pop(0)).encode()


async def test_the_next_page_is_asked_for_before_the_last_is_read_and_one_that_cannot_be_read_ends_the_list() -> None:
    async with Asked(page("ab", "t1") | {"items": [{"metadata": 7}]}, page("c")) as client:
        with pytest.raises(Malformed):
            await client.list(kinds.PODS)
        assert client.targets == ["/api/v1/pods?limit=500", "/api/v1/pods?limit=500&continue=t1"]


async def test_a_list_whose_token_expired_is_read_again_in_one_piece() -> None:
    answers = [reply(200, page("ab", "t1")), refuse(410, "Expired"), reply(200, page("bcd", version="50"))]
    async with serving(*answers) as server, Client(server.access) as client:
        listing = await client.list(kinds.PODS)
    assert listing == Listing((pod("b"), pod("c"), pod("d")), "50")
    assert server.seen[2].target == "/api/v1/pods"


async def test_a_list_of_metadata_reads_partial_objects() -> None:
    async with serving(reply(200, page("a"))) as server, Client(server.access) as client:
        listing = await client.list_metadata(kinds.PODS, "models")
    assert listing.items == (shapes.Partial(metadata=pod("a").metadata),)
    assert server.seen[0].headers["accept"].startswith("application/json;as=PartialObjectMetadataList")


async def watched(client: Client) -> list[WatchEvent[shapes.Pod]]:
    return [event async for event in client.watch(kinds.PODS, "models", resource_version="5")]


async def test_a_watch_ends_when_the_server_ends_it() -> None:
    lines = (
        watch_line("ADDED", pod_body()) + b"\n" + watch_line("BOOKMARK", {"metadata": {"resourceVersion": "9"}}) + b"\n"
    )
    async with serving(stream(lines[:40], lines[40:300], lines[300:])) as server, Client(server.access) as client:
        assert await watched(client) == [Added(pod()), Bookmark("9")]
    assert server.seen[0].target == (
        "/api/v1/namespaces/models/pods?watch=1&allowWatchBookmarks=true&timeoutSeconds=300&resourceVersion=5"
    )


async def test_a_watch_cut_in_the_middle_of_a_line_gives_what_was_whole_and_then_fails() -> None:
    line = watch_line("ADDED", pod_body())
    async with serving(stream(line + b"\n" + line[:80], end=False)) as server, Client(server.access) as client:
        events = client.watch(kinds.PODS, "models", resource_version="5")
        assert await anext(events) == Added(pod())
        with pytest.raises(Unreachable):
            await anext(events)


@pytest.mark.parametrize(
    "answer", [stream(watch_line("ERROR", status_body(410, "Expired", "old")) + b"\n"), refuse(410, "Expired", "old")]
)
async def test_an_expired_watch_says_so_either_way(answer: Answer) -> None:
    async with serving(answer) as server, Client(server.access) as client:
        assert await watched(client) == [Expired("old")]


async def test_no_more_requests_are_under_way_than_there_are_slots() -> None:
    async with serving() as server, Client(server.access, concurrency=3) as client:
        waiting = [asyncio.ensure_future(client.create(kinds.PODS, b"{}", "models")) for _ in range(8)]
        await server.saw(3)
        lease = asyncio.ensure_future(client.get(kinds.LEASES, "leader", "models"))
        await server.saw(4)
        assert [seen.method for seen in server.seen] == ["POST", "POST", "POST", "GET"]
        for task in (*waiting, lease):
            task.cancel()
        await asyncio.gather(*waiting, lease, return_exceptions=True)


async def test_a_refused_credential_is_read_anew_once() -> None:
    now = [0.0]
    tokens = iter(["old", "new", "new"])
    async with serving(refuse(401, "Unauthorized"), reply(200, pod_body()), refuse(401, "Unauthorized")) as server:
        access = Access(
            lambda: Credential(f"http://127.0.0.1:{server.port}", f"Bearer {next(tokens)}"), clock=lambda: now[0]
        )
        now[0] = 60.0
        async with Client(access) as client:
            assert await client.get(kinds.PODS, "engine-0", "models") == pod()
            now[0] = 120.0
            with pytest.raises(Unauthorized):
                await client.get(kinds.PODS, "engine-0", "models")
    assert [seen.headers["authorization"] for seen in server.seen] == ["Bearer old", "Bearer new", "Bearer new"]


async def test_a_watch_that_is_refused_reads_the_credential_anew() -> None:
    tokens = iter(["old", "new"])
    async with serving(refuse(401, "Unauthorized"), stream()) as server:
        access = Access(lambda: Credential(f"http://127.0.0.1:{server.port}", f"Bearer {next(tokens)}"))
        async with Client(access) as client:
            with pytest.raises(Unauthorized):
                await watched(client)
            assert await watched(client) == []
    assert [seen.headers["authorization"] for seen in server.seen] == ["Bearer old", "Bearer new"]


async def test_a_closed_client_says_how_to_open_it() -> None:
    async with serving() as server:
        with pytest.raises(RuntimeError, match="async with Client"):
            await Client(server.access).get(kinds.PODS, "engine-0", "models")


def test_every_error_of_the_library_below_is_mapped() -> None:
    named = {getattr(aiohttp, name) for name in aiohttp.__all__ if name.endswith("Error")}
    named -= {aiohttp.WebSocketError, aiohttp.WSMessageTypeError}  # no websocket is ever opened
    assert len(named) > 10
    assert [cls for cls in named if not issubclass(cls, (aiohttp.ClientError, TimeoutError, OSError))] == []


async def test_an_explicit_null_inside_one_item_of_a_list_reads_as_absent() -> None:
    queues = {
        "metadata": {"resourceVersion": "7"},
        "items": [{"metadata": {"name": "a"}, "status": {"conditions": None}}, {"metadata": {"name": "b"}}],
    }
    async with serving(reply(200, queues)) as server, Client(server.access) as client:
        listing = await client.list(kinds.CLUSTER_QUEUES)
    assert [(each.metadata.name, each.status.conditions) for each in listing.items] == [("a", ()), ("b", ())]
