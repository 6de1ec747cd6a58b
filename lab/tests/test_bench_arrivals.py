import pytest
from modeldeployment.lab.bench.arrivals import Arrivals
from modeldeployment.lab.bench.errors import TooSlow


def event(kind: str, name: str, version: int) -> bytes:
    text = f'{{"type":"{kind}","object":{{"metadata":{{"name":"{name}","resourceVersion":"{version}"}}}}}}'
    return text.encode() + b"\n"


def test_only_added_objects_are_counted() -> None:
    seen = Arrivals()
    seen.feed(event("ADDED", "a", 1) + event("MODIFIED", "a", 2) + event("DELETED", "a", 3))
    assert seen.added == 1


def test_a_line_cut_anywhere_is_counted_once() -> None:
    whole = event("ADDED", "a", 1) + event("ADDED", "b", 2)
    for cut in range(len(whole)):
        seen = Arrivals()
        seen.feed(whole[:cut])
        seen.feed(whole[cut:])
        assert seen.added == 2, cut


def test_the_version_to_resume_from_is_that_of_the_last_whole_line() -> None:
    seen = Arrivals()
    seen.feed(event("ADDED", "a", 7) + event("MODIFIED", "a", 9) + event("ADDED", "b", 11)[:20])
    assert seen.version == "9"


async def test_waiting_ends_with_the_last_arrival() -> None:
    seen = Arrivals()
    seen.feed(event("ADDED", "a", 1) + event("ADDED", "b", 2))
    assert await seen.until(2, seconds=1) == seen.latest


async def test_too_few_arrivals_are_said_with_their_number() -> None:
    seen = Arrivals()
    seen.feed(event("ADDED", "a", 1))
    with pytest.raises(TooSlow, match=r"^1 of 2 objects appeared within 0 s$"):
        await seen.until(2, seconds=0.01)
