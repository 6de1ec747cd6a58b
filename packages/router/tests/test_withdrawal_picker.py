"""How the picker of `llm-d-router` is shown to have let go of a member: by its own list of endpoints."""

import pytest
from modeldeployment.api.choices import RouterName
from withdrawal_stories import IMPOSSIBLE, PROVEN, WAITING, Router, measured, play, subject

PICKER = measured(RouterName.LLM_D, "0.10.0")
GOES, STAYS = "qwen-server-1-0", "qwen-server-0-0"


def numbers(*pods: str, picks: int = 0, old: bool = False, whole: bool = True) -> str:
    """What a picker publishes with these Pods as its endpoints."""
    queue, label = (
        ("inference_pool_per_pod_queue_size", "model_server_pod")
        if old
        else ("llm_d_epp_per_endpoint_queue_size", "model_server_endpoint")
    )
    attempts, name = (
        ("inference_extension_scheduler_attempts_total", "pod_name")
        if old
        else ("llm_d_epp_scheduler_attempts_total", "endpoint_name")
    )
    own = "inference_extension_info" if old else "llm_d_epp_info"
    lines = [f'{queue}{{name="qwen",{label}="{pod}-rank-0"}} 0' for pod in pods]
    labels = f'{name}="{GOES}",namespace="team",port="8000",status="success",target_model_name="m"'
    lines += [f"{attempts}{{{labels}}} {picks}"] if picks else []
    lines += [f'{own}{{build_ref="",commit=""}} 1'] if whole else []
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("old", [False, True])
def test_a_member_that_is_no_endpoint_for_two_seconds_is_let_go_of(old: bool) -> None:
    router = Router(numbers=numbers(STAYS, GOES, old=old))

    def unlabelled(passed: float) -> None:
        if passed >= 0.2:
            router.numbers = numbers(STAYS, old=old)

    story = play(PICKER.withdraw, router, meanwhile=unlabelled)
    assert (story.verdict, story.step.quiet) == (PROVEN, None)
    assert 2.2 <= story.seconds < 2.5
    assert set(router.asked) == {("GET", "/metrics")}


def test_a_member_that_stays_an_endpoint_is_not_let_go_of() -> None:
    story = play(PICKER.withdraw, Router(numbers=numbers(STAYS, GOES)))
    assert (story.verdict, "may still pick qwen-server-1-0" in story.reason) == (WAITING, True)


def test_a_pod_whose_name_only_begins_alike_is_another() -> None:
    assert play(PICKER.withdraw, Router(numbers=numbers(f"{GOES}-rank-0-b"))).verdict is PROVEN


def test_a_pick_out_of_a_list_that_was_old_begins_the_two_seconds_anew() -> None:
    router = Router(numbers=numbers(STAYS, picks=7))

    def picked(passed: float) -> None:
        if passed >= 0.5:
            router.numbers = numbers(STAYS, picks=8)

    assert 3 <= play(PICKER.withdraw, router, meanwhile=picked).seconds < 3.2


@pytest.mark.parametrize(
    "body", ["", "<html>", numbers(STAYS, whole=False), "llm_d_epp_info NaN\n", numbers(STAYS) * 2]
)
def test_a_body_that_is_none_of_a_picker_proves_nothing(body: str) -> None:
    early, late = (play(PICKER.withdraw, Router(numbers=body), seconds=seconds) for seconds in (9, 30))
    assert (early.verdict, late.verdict) == (WAITING, IMPOSSIBLE)


def test_a_picker_with_no_other_endpoint_is_waited_for() -> None:
    assert play(PICKER.withdraw, Router(numbers=numbers())).verdict is WAITING
    assert play(PICKER.withdraw, Router(numbers=numbers()), subject(peers=False)).verdict is PROVEN


def test_beside_an_encode_role_it_keeps_every_pod_and_proves_nothing() -> None:
    story = play(PICKER.withdraw, Router(numbers=numbers(STAYS, GOES)), subject(encodes=True))
    assert (story.verdict, "an Encode role is beside it" in story.reason) == (IMPOSSIBLE, True)


def test_a_member_is_taken_back_once_it_is_an_endpoint() -> None:
    router = Router(numbers=numbers(STAYS))

    def back(passed: float) -> None:
        if passed >= 1:
            router.numbers = numbers(STAYS, GOES)

    story = play(PICKER.restore, router, meanwhile=back)
    assert (story.verdict, 1 <= story.seconds < 1.6) == (PROVEN, True)
