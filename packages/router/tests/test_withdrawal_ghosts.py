"""Workers without a Pod are taken out of a router's list, and nobody else (facts routers-measured §7)."""

from datetime import timedelta

from modeldeployment.router.withdrawal import LIST, Heard, ghosts
from withdrawal_stories import GOES, START, STAYS, listing

BOTH = Heard(LIST, 200, listing({GOES: "regular", STAYS: "regular"}, by_id=True))
LIVE = ("10.0.0.2",)


def after(
    seen: ghosts.Seen, seconds: float, heard: Heard = BOTH, live: tuple[str, ...] = LIVE
) -> tuple[ghosts.Seen, list[str]]:
    seen, asks = ghosts.lay(seen, heard, live, START + timedelta(seconds=seconds), by_id=True)
    return seen, [f"{ask.method} {ask.path}" for ask in asks]


def test_a_worker_without_a_pod_is_removed_after_ninety_seconds() -> None:
    seen, asks = after(ghosts.Seen(), 0)
    assert asks == []
    assert after(seen, 89.9)[1] == []
    assert after(seen, 90)[1] == ["DELETE /workers/id-1"]


def test_a_worker_whose_pod_was_there_meanwhile_has_its_ninety_seconds_anew() -> None:
    seen, _ = after(ghosts.Seen(), 0)
    seen, _ = after(seen, 50, live=("10.0.0.1", "10.0.0.2"))
    seen, asks = after(seen, 100)
    assert asks == []
    assert after(seen, 190)[1] == ["DELETE /workers/id-1"]


def test_what_cannot_be_read_removes_nobody_and_forgets_nothing() -> None:
    seen, _ = after(ghosts.Seen(), 0)
    for heard in (Heard(LIST, 500), Heard(LIST, None), Heard(LIST, 200, b"[]"), Heard(LIST, 200, BOTH.body[:-2])):
        kept, asks = after(seen, 95, heard)
        assert (kept, asks) == (seen, [])
    assert after(seen, 95, live=("not an address",))[1] == []
