"""How SGLang's gateway and an older `vllm-router` are shown to have let go of a member (facts routers-measured §7)."""

from typing import Any

import pytest
from modeldeployment.api.choices import RoleKind, RouterName
from modeldeployment.router.withdrawal import admin_key
from withdrawal_stories import GOES, IMPOSSIBLE, PROVEN, START, STAYS, WAITING, Router, measured, play, subject

GATEWAY, OLD = measured(RouterName.SGLANG, "0.3.2"), measured(RouterName.VLLM, "0.1.15")
REMOVE = ("DELETE", "/workers/id-1")
KNOWN = f'smg_worker_health{{worker="{GOES}"}} -1\n'
HALVES = {"paired": True, "kind": RoleKind.DECODE}


def gateway(**fields: Any) -> Router:
    return Router(**{"by_id": True, "removal": 202, "numbers": "smg_http_connections_active 0\n", **fields})


def test_a_member_is_removed_by_its_id_and_let_go_of_after_two_seconds_of_absence() -> None:
    router = gateway()
    story = play(GATEWAY.withdraw, router)
    assert (story.verdict, story.step.quiet, router.asked.count(REMOVE)) == (PROVEN, None, 1)
    assert 2 <= story.seconds < 2.1


def test_it_only_notes_a_removal_and_the_list_is_looked_at_until_it_shows() -> None:
    router = gateway(removes=4)
    story = play(GATEWAY.withdraw, router)
    assert (story.verdict, router.asked.count(REMOVE)) == (PROVEN, 1)
    assert 2.3 <= story.seconds < 2.6


def test_somebody_elses_removal_is_as_good() -> None:
    assert play(GATEWAY.withdraw, gateway(removal=404, removes=2)).verdict is IMPOSSIBLE
    router = gateway(removal=404)

    def other(passed: float) -> None:
        if passed > 0.05:
            router.lists.pop(GOES, None)

    assert play(GATEWAY.withdraw, router, meanwhile=other).verdict is PROVEN


@pytest.mark.parametrize("removal", [200, 400, 500, 503])
def test_another_answer_to_a_removal_proves_nothing(removal: int) -> None:
    story = play(GATEWAY.withdraw, gateway(removal=removal))
    assert (story.verdict, story.seconds < 13) == (IMPOSSIBLE, True)


def test_a_router_that_keeps_what_it_agreed_to_remove_can_prove_nothing() -> None:
    story = play(GATEWAY.withdraw, gateway(removes=10_000))
    assert (story.verdict, 10 <= story.seconds < 11) == (IMPOSSIBLE, True)
    assert "still lists http://10.0.0.1:8000, 10 s after it was told to remove it" in story.reason


def test_never_listed_is_not_let_go_of() -> None:
    story = play(GATEWAY.withdraw, gateway(lists={STAYS: "regular"}))
    assert (story.verdict, 10 <= story.seconds < 11) == (IMPOSSIBLE, True)
    assert "has never listed qwen-server-1-0, so it may be about to" in story.reason


def test_a_worker_that_it_removed_for_somebody_before_is_known_by_what_it_left_behind() -> None:
    story = play(GATEWAY.withdraw, gateway(lists={STAYS: "regular"}, numbers=KNOWN))
    assert (story.verdict, 2 <= story.seconds < 2.1) == (PROVEN, True)


def test_a_router_that_began_after_the_label_was_off_never_found_it() -> None:
    assert play(GATEWAY.withdraw, gateway(lists={STAYS: "regular"}), subject(fresh=True)).verdict is PROVEN


def test_the_last_worker_of_its_kind_is_not_removed() -> None:
    router = gateway(lists={GOES: "decode", STAYS: "prefill"})
    story = play(GATEWAY.withdraw, router, subject(**HALVES))
    assert (story.verdict, REMOVE in router.asked) == (WAITING, False)
    assert "lists no other decode worker" in story.reason
    assert play(GATEWAY.withdraw, router, subject(**HALVES, peers=False)).verdict is PROVEN


@pytest.mark.parametrize("status", [401, 403])
def test_a_closed_worker_api_is_told_at_once_with_the_way_out(status: int) -> None:
    for advance in (GATEWAY.withdraw, GATEWAY.restore):
        without, withal = (play(advance, gateway(status=status), subject(keyed=keyed)) for keyed in (False, True))
        assert (without.verdict, withal.verdict, without.seconds < 0.1) == (IMPOSSIBLE, IMPOSSIBLE, True)
        assert "--control-plane-api-keys=ID:NAME:admin:KEY" in without.reason
        assert "refuses the key of its own command line" in withal.reason


@pytest.mark.parametrize("key", ["", "../admin", "a/b", "x" * 65, 7, None])
def test_an_id_that_is_none_is_never_sent(key: Any) -> None:
    class Strange(Router):
        def _list(self) -> bytes:
            return super()._list().replace(b'"id-1"', str(key).encode() if key == 7 else f'"{key}"'.encode())

    router = Router(removal=202) if key is None else Strange(by_id=True, removal=202)
    assert play(GATEWAY.withdraw, router).verdict is IMPOSSIBLE
    assert {method for method, _ in router.asked} == {"GET"}


def test_it_takes_a_member_back_only_when_told() -> None:
    router = gateway(lists={STAYS: "regular"})
    assert play(GATEWAY.restore, router).verdict is PROVEN
    assert router.asked.count(("POST", "/workers")) == 1
    assert router.lists[GOES] == "regular"


def test_a_half_is_taken_back_with_its_kind_and_bootstrap_port() -> None:
    about = subject(paired=True, kind=RoleKind.PREFILL, bootstrap_port=8998)
    step = GATEWAY.restore(None, (), about, START)
    router = gateway(lists={STAYS: "decode"})
    story = play(GATEWAY.restore, router, about)
    assert (story.verdict, router.lists[GOES], step.asks[0].method) == (PROVEN, "prefill", "GET")


def test_it_is_told_again_after_five_seconds_and_a_refusal_is_told() -> None:
    class Forgets(Router):
        def answer(self, ask: Any) -> Any:
            heard = super().answer(ask)
            self.lists.pop(GOES, None)
            return heard

    router = Forgets(by_id=True, lists={STAYS: "regular"})
    assert play(GATEWAY.restore, router, seconds=14).verdict is WAITING
    assert router.asked.count(("POST", "/workers")) == 3
    refuses = gateway(lists={STAYS: "regular"}, addition=500)
    story = play(GATEWAY.restore, refuses)
    assert (story.verdict, "HTTP 500 to POST /workers" in story.reason) == (IMPOSSIBLE, True)


def test_an_older_vllm_router_is_told_too_and_tells_nothing_of_a_decode_half() -> None:
    router = Router()
    story = play(OLD.withdraw, router)
    assert (story.verdict, story.seconds < 2.1) == (PROVEN, True)
    assert ("DELETE", "/workers/http%3A%2F%2F10.0.0.1%3A8000") in router.asked
    decode = play(OLD.withdraw, Router(), subject(**HALVES))
    assert (decode.verdict, "run vllm-router 0.1.17 or later" in decode.reason) == (IMPOSSIBLE, True)
    prefill = Router(lists={GOES: "prefill", STAYS: "prefill"})
    assert play(OLD.withdraw, prefill, subject(paired=True, kind=RoleKind.PREFILL)).verdict is PROVEN


def test_an_older_vllm_router_takes_a_worker_back_but_no_half_of_a_pair() -> None:
    assert play(OLD.restore, Router(lists={STAYS: "regular"}, addition=200)).verdict is PROVEN
    story = play(OLD.restore, Router(lists={STAYS: "decode"}), subject(**HALVES))
    assert (story.verdict, "restart that router" in story.reason) == (IMPOSSIBLE, True)


@pytest.mark.parametrize(
    ("arguments", "key"),
    [
        ((), None),
        (("--policy=random",), None),
        (("--api-key=one",), "one"),
        (("--api-key", "one"), "one"),
        (("--api-key=one", "--api-key=two"), "two"),
        (("--control-plane-api-keys=a:b:admin:three",), "three"),
        (("--control-plane-api-keys", "u:v:user:zero", "a:b:admin:with:colons", "--port"), "with:colons"),
        (("--api-key=one", "--control-plane-api-keys", "a:b:admin:three"), "three"),
        (("--control-plane-api-keys=u:v:user:zero",), None),
        (("--api-key=$(KEY)",), None),
        (("--api-key=",), None),
        (("--api-key=a\nb",), None),
        (("--api-key", "--policy=random"), None),
    ],
)
def test_the_key_of_the_worker_api_is_read_from_the_routers_own_arguments(
    arguments: tuple[str, ...], key: str | None
) -> None:
    assert admin_key(arguments) == key
