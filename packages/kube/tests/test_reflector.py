"""The reflector against a real socket: cuts, resumption, 410, a server that is away."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from urllib.parse import parse_qs, urlsplit

from kube_server import Answer, Script, hang_up, refuse, reply, serving, stay_open, stream
from kube_worlds import pod_body, status_body, watch_line
from modeldeployment.kube import Client, Forbidden, Reflector, Store, kinds, shapes


def listed(*names: str, version: int) -> Answer:
    items = [pod_body(name, uid=name, version=version) for name in names]
    return reply(200, {"metadata": {"resourceVersion": str(version)}, "items": items})


def lines(*changes: tuple[str, str, int]) -> bytes:
    return b"".join(
        watch_line(type_, pod_body(name, uid=name, version=version)) + b"\n" for type_, name, version in changes
    )


def bookmark(version: int) -> bytes:
    return watch_line("BOOKMARK", {"metadata": {"resourceVersion": str(version), "creationTimestamp": None}}) + b"\n"


TOO_OLD = watch_line("ERROR", status_body(410, "Expired", "too old")) + b"\n"


@contextlib.asynccontextmanager
async def reflecting(*answers: Answer) -> AsyncIterator[tuple[Script, Store[shapes.Pod], Reflector[shapes.Pod]]]:
    store: Store[shapes.Pod] = Store()
    async with serving(*answers) as server, Client(server.access) as client:
        reflector = Reflector(client, kinds.PODS, store, "models", "role=prefill", seed=1)
        running = asyncio.create_task(reflector.run())
        try:
            yield server, store, reflector
        finally:
            running.cancel()
            await asyncio.wait({running})


def asked(server: Script) -> list[str]:
    """What each request asked for: `list`, or the version a watch began at."""
    queries = [parse_qs(urlsplit(seen.target).query) for seen in server.seen]
    return [query["resourceVersion"][0] if "watch" in query else "list" for query in queries]


def names(store: Store[shapes.Pod]) -> set[str]:
    return {one.metadata.name for one in store.items()}


async def test_a_watch_the_server_ends_is_resumed_from_the_last_version_seen() -> None:
    answers = [
        listed("a", version=10),
        stream(lines(("ADDED", "b", 11), ("MODIFIED", "a", 12))),
        stream(lines(("DELETED", "b", 13)), bookmark(20)),
    ]
    async with reflecting(*answers) as (server, store, reflector):
        await server.saw(4)
        assert asked(server) == ["list", "10", "12", "20"]
        assert (names(store), store.revision, store.synced) == ({"a"}, 20, True)
        assert (reflector.lists, reflector.cuts) == (1, 2)


async def test_a_connection_cut_in_the_middle_of_a_line_loses_nothing() -> None:
    whole = lines(("ADDED", "b", 11))
    answers = [listed("a", version=10), stream(whole + lines(("ADDED", "c", 12))[:60], end=False)]
    async with reflecting(*answers, stream(lines(("ADDED", "c", 12)))) as (server, store, _):
        await server.saw(4)
        assert asked(server) == ["list", "10", "11", "12"]
        assert names(store) == {"a", "b", "c"}


async def test_a_410_leads_to_a_new_list_whose_absences_are_deletions() -> None:
    gone: list[str] = []
    answers = [listed("a", "b", version=10), stream(TOO_OLD), listed("b", "c", version=90)]
    async with reflecting(*answers) as (server, store, reflector):
        store.subscribe(lambda old, new: gone.append(old.metadata.name) if old and not new else None)
        await server.saw(4)
        assert asked(server) == ["list", "10", "list", "90"]
        assert (names(store), gone, reflector.lists) == ({"b", "c"}, ["a"], 2)


async def test_a_410_in_place_of_the_watch_leads_to_a_new_list_too() -> None:
    answers = [listed("a", version=10), refuse(410, "Expired"), listed("b", version=90)]
    async with reflecting(*answers) as (server, store, _):
        await server.saw(4)
        assert names(store) == {"b"}


async def test_a_server_that_is_away_is_asked_again_and_the_watch_resumed() -> None:
    answers = [listed("a", version=10), hang_up, refuse(500, "InternalError"), stream(lines(("ADDED", "b", 11)))]
    async with reflecting(*answers) as (server, store, reflector):
        await server.saw(5)
        assert asked(server) == ["list", "10", "10", "10", "11"]
        assert (names(store), reflector.failing) == ({"a", "b"}, None)


async def test_a_refusal_is_shown_and_asked_again() -> None:
    async with reflecting(refuse(403, "Forbidden"), listed("a", version=10)) as (server, store, reflector):
        await server.saw(2)
        assert isinstance(reflector.failing, Forbidden)
        assert not store.synced
        await server.saw(3)
        assert store.synced


async def test_a_watch_that_is_open_fails_no_more_though_nothing_has_happened_in_it() -> None:
    answers = [listed("a", version=10), refuse(403, "Forbidden"), stay_open]
    async with reflecting(*answers) as (server, _, reflector):
        await server.saw(2)
        await until(lambda: isinstance(reflector.failing, Forbidden))
        await until(lambda: reflector.failing is None)
        assert asked(server) == ["list", "10", "10"]


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while True:
            if holds():
                return
            await asyncio.sleep(0.01)
