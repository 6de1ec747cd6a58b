"""How `vllm-router` is shown to have let go of a member (facts routers-measured §4, §5 and §7)."""

from typing import Any

import pytest
from modeldeployment.api.choices import RoleKind, RouterName
from modeldeployment.router.withdrawal import Heard, Subject
from modeldeployment.router.withdrawal.asking import LIST, NUMBERS
from withdrawal_stories import (
    GOES,
    IMPOSSIBLE,
    PROVEN,
    START,
    STAYS,
    WAITING,
    Router,
    Story,
    listing,
    measured,
    play,
    subject,
)

VLLM = measured(RouterName.VLLM, "0.1.17")
WITHDRAW, RESTORE = VLLM.withdraw, VLLM.restore
PICKED = "vllm_router_processed_requests_total"
HEALTH = f'vllm_router_worker_health{{worker="{GOES}"}} 1\n'


def numbers(**series: float) -> str:
    lines = (f'vllm_router_{name}{{worker="{GOES}"}} {value}\n' for name, value in series.items())
    other = f'vllm_router_processed_requests_total{{worker="{STAYS}"}} 77\n'
    return HEALTH + other + "".join(lines)


def gone(**fields: Any) -> Router:
    """A router that has seen the label go."""
    return Router(lists={STAYS: "regular"}, **fields)


def test_a_member_that_left_the_list_is_let_go_of_two_seconds_after_it_was_also_removed() -> None:
    router = gone()
    story = play(WITHDRAW, router)
    assert (story.verdict, story.step.quiet) == (PROVEN, None)
    assert 2 <= story.seconds < 2.1
    assert router.asked.count(("DELETE", "/workers/http%3A%2F%2F10.0.0.1%3A8000")) == 1
    assert story.reason == "router Pod qwen-router-1 (vllm-router 0.1.17) sends qwen-server-1-0 nothing more"


def test_a_member_that_stays_listed_is_removed_after_five_seconds() -> None:
    router = Router()
    story = play(WITHDRAW, router)
    assert story.verdict is PROVEN
    assert 7 <= story.seconds < 8
    assert router.asked.index(("DELETE", "/workers/http%3A%2F%2F10.0.0.1%3A8000")) > 10


def test_a_list_that_shall_change_is_looked_at_every_tenth_of_a_second_at_first() -> None:
    assert play(WITHDRAW, Router(), seconds=0.95).rounds == 11


def test_a_router_that_keeps_what_it_agreed_to_remove_can_prove_nothing() -> None:
    story = play(WITHDRAW, Router(removes=10_000))
    assert story.verdict is IMPOSSIBLE
    assert 15 <= story.seconds < 16
    assert "still lists http://10.0.0.1:8000, 10 s after it was told to remove it" in story.reason


def test_a_router_that_refuses_to_remove_it_can_prove_nothing() -> None:
    story = play(WITHDRAW, Router(removal=500))
    assert (story.verdict, story.seconds < 16) == (IMPOSSIBLE, True)


def test_a_pick_begins_the_two_seconds_anew() -> None:
    router = gone(numbers=numbers(processed_requests_total=5, running_requests=0))

    def pick(passed: float) -> None:
        if passed >= 1.5:
            router.numbers = numbers(processed_requests_total=6, running_requests=0)

    story = play(WITHDRAW, router, meanwhile=pick)
    assert story.verdict is PROVEN
    assert 4 <= story.seconds < 4.6


def test_a_first_pick_is_a_pick() -> None:
    router = gone()

    def pick(passed: float) -> None:
        if passed >= 1.0:
            router.numbers = numbers(processed_requests_total=1, running_requests=0)

    assert 3 <= play(WITHDRAW, router, meanwhile=pick).seconds < 4.1


def test_a_decode_half_is_not_let_go_of_while_requests_have_yet_to_come_to_it() -> None:
    about = subject(kind=RoleKind.DECODE, paired=True)
    pending = {"processed_requests_total": 3.0, "pd_active_decode_requests": 0.0}
    router = Router(lists={STAYS: "decode"}, numbers=numbers(**pending, pd_pending_decode_requests=3))

    def arrive(passed: float) -> None:
        if passed >= 4:
            router.numbers = numbers(**pending, pd_pending_decode_requests=0)

    waiting = play(WITHDRAW, router, about, seconds=3)
    assert waiting.verdict is WAITING
    assert "3 requests that qwen-server-1-0 was picked for and that have yet to come to it" in waiting.reason
    story = play(WITHDRAW, router, about, meanwhile=arrive)
    assert (story.verdict, 6 <= story.seconds < 7) == (PROVEN, True)


@pytest.mark.parametrize(
    ("kind", "there"),
    [
        (RoleKind.DECODE, "pd_pending_decode_requests"),
        (RoleKind.DECODE, "pd_active_decode_requests"),
        (RoleKind.PREFILL, "pd_unknown_prefill_requests"),
    ],
)
def test_a_half_that_was_picked_and_lacks_one_of_its_series_is_not_let_go_of(kind: RoleKind, there: str) -> None:
    about = subject(kind=kind, paired=True)
    router = Router(lists={STAYS: kind.label}, numbers=numbers(processed_requests_total=3, **{there: 0}))
    story = play(WITHDRAW, router, about)
    assert (story.verdict, 10 <= story.seconds < 12) == (IMPOSSIBLE, True)
    assert "of a worker that it has picked" in story.reason


@pytest.mark.parametrize(
    "under_way",
    ["running_requests", "pd_active_decode_requests", "pd_prefill_occupancy", "pd_unknown_prefill_requests"],
)
def test_what_is_under_way_does_not_hold_the_proof_but_is_not_quiet(under_way: str) -> None:
    story = play(WITHDRAW, gone(numbers=numbers(processed_requests_total=3, **{under_way: 1})))
    assert (story.verdict, story.step.quiet) == (PROVEN, False)


@pytest.mark.parametrize(("series", "quiet"), [({}, None), ({"running_requests": 0.0}, True)])
def test_where_the_router_does_not_count_what_is_under_way_only_the_engine_knows(
    series: dict[str, float], quiet: bool | None
) -> None:
    story = play(WITHDRAW, gone(numbers=numbers(processed_requests_total=3, **series)))
    assert (story.verdict, story.step.quiet) == (PROVEN, quiet)


@pytest.mark.parametrize("address", ["10.0.0.1", "fd00::1", "FD00:0::0001"])
def test_a_worker_is_a_members_by_its_address_whatever_else_its_url_says(address: str) -> None:
    written = "[fd00::1]" if ":" in address else address
    for url in (f"http://{written}:8000", f"http://{written}:8000/", f"http://{written}:9000", f"grpc://{written}:1@3"):
        router = Router(lists={url: "regular", STAYS: "regular"}, removes=10_000)
        assert play(WITHDRAW, router, subject(address=address)).verdict is IMPOSSIBLE


def test_a_router_left_with_no_other_worker_of_the_kind_is_waited_for() -> None:
    assert play(WITHDRAW, Router(lists={}, numbers="")).verdict is WAITING
    assert (
        play(WITHDRAW, Router(lists={STAYS: "prefill"}), subject(kind=RoleKind.DECODE, paired=True)).verdict is WAITING
    )
    assert play(WITHDRAW, Router(lists={}, numbers=""), subject(peers=False)).verdict is PROVEN


UNUSABLE: dict[str, Heard] = {
    "refused": Heard(LIST, None, why="ClientConnectorError"),
    "redirected": Heard(LIST, 302),
    "unauthorized": Heard(LIST, 401),
    "not found": Heard(LIST, 404),
    "failing": Heard(LIST, 500),
    "no JSON": Heard(LIST, 200, b"<html>"),
    "deep JSON": Heard(LIST, 200, b"[" * 200_000),
    "another JSON": Heard(LIST, 200, b"[]"),
    "no list": Heard(LIST, 200, b'{"workers": {}, "total": 0}'),
    "a part of the list": Heard(LIST, 200, listing({STAYS: "regular"}, total=2)),
    "no total": Heard(LIST, 200, b'{"workers": []}'),
    "a worker without a URL": Heard(LIST, 200, b'{"workers": [{"worker_type": "regular"}], "total": 1}'),
    "a worker that is none": Heard(LIST, 200, b'{"workers": ["http://10.0.0.2:8000"], "total": 1}'),
    "a worker by its name": Heard(LIST, 200, listing({"http://qwen-server.team:8000": "regular"})),
    "a worker at an endless URL": Heard(LIST, 200, listing({"http://10.0.0.1:8000/" + "x" * 300: "regular"})),
    "a worker at no URL": Heard(LIST, 200, listing({"http://[10.0.0:8000": "regular"})),
}


@pytest.mark.parametrize("heard", UNUSABLE.values(), ids=UNUSABLE)
def test_a_list_that_is_none_holds_and_then_proves_that_nothing_can_be_proven(heard: Heard) -> None:
    class Broken(Router):
        def answer(self, ask: Any) -> Heard:
            return heard if ask == LIST else super().answer(ask)

    early, late = (play(WITHDRAW, Broken(), seconds=seconds) for seconds in (9, 30))
    assert (early.verdict, late.verdict) == (WAITING, IMPOSSIBLE)
    assert 10 <= late.seconds < 12
    assert late.reason.startswith("router Pod qwen-router-1 (vllm-router 0.1.17) ")


@pytest.mark.parametrize(
    "body",
    [
        "",
        "<html>",
        "up 1\n",
        HEALTH + f'{PICKED}{{worker="{GOES}"}} NaN\n',
        HEALTH + f'{PICKED}{{worker="{GOES}"}} -1\n',
        HEALTH + f'{PICKED}{{worker="{GOES}"}} +Inf\n',
        HEALTH + f'{PICKED}{{worker="{GOES}"}} many\n',
        HEALTH + f'{PICKED}{{worker="{GOES}"}}\n',
        HEALTH + f'{PICKED}{{worker="{GOES}"}} 1\n' * 2,
        HEALTH + f'{PICKED}{{worker="{GOES}}} 1\n',
    ],
)
def test_numbers_that_say_nothing_certain_prove_nothing(body: str) -> None:
    early, late = (play(WITHDRAW, gone(numbers=body), seconds=seconds) for seconds in (9, 30))
    assert (early.verdict, late.verdict) == (WAITING, IMPOSSIBLE)


def test_a_list_that_fails_once_breaks_the_two_seconds() -> None:
    router = gone()

    def fail(passed: float) -> None:
        router.status = 500 if 1 <= passed < 1.4 else 200

    assert 3.4 <= play(WITHDRAW, router, meanwhile=fail).seconds < 5


def test_a_member_listed_again_is_no_longer_let_go_of() -> None:
    router = gone()
    proven = play(WITHDRAW, router)
    router.lists[GOES] = "regular"
    story: Story = play(WITHDRAW, router, state=proven.step.state, seconds=0.2)
    assert story.verdict is WAITING


def test_it_takes_a_member_back_by_itself_once_the_label_is_back() -> None:
    router = gone()

    def back(passed: float) -> Subject | None:
        if passed >= 1:
            router.lists[GOES] = "regular"
        return None

    story = play(RESTORE, router, meanwhile=back)
    assert (story.verdict, 1 <= story.seconds < 1.6) == (PROVEN, True)
    assert {method for method, _ in router.asked} == {"GET"}


def test_a_router_that_was_blind_meanwhile_is_told_to_take_it_back() -> None:
    router = gone(addition=200)
    story = play(RESTORE, router)
    assert (story.verdict, 10 <= story.seconds < 11) == (PROVEN, True)
    assert router.asked.count(("POST", "/workers")) == 1
    half = play(RESTORE, Router(lists={STAYS: "decode"}), subject(kind=RoleKind.DECODE, paired=True))
    assert (half.verdict, 10 <= half.seconds < 11, "restart that router" in half.reason) == (IMPOSSIBLE, True, True)


def test_the_first_step_asks_for_list_and_numbers() -> None:
    assert WITHDRAW(None, (), subject(), START).asks == (LIST, NUMBERS)
