"""Whatever a router answers, nothing is proven but by two seconds in which nothing speaks against it."""

from datetime import timedelta
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from modeldeployment.api.choices import RoleKind, RouterName
from modeldeployment.router.withdrawal import Ask, Door, Heard, State, Verdict
from withdrawal_stories import GOES, START, STAYS, listing, measured, subject

PROGRAMS: Final = {
    name: measured(router, running)
    for name, router, running in (
        ("picker", RouterName.LLM_D, "0.10.0"),
        ("vllm", RouterName.VLLM, "0.1.17"),
        ("older vllm", RouterName.VLLM, "0.1.15"),
        ("gateway", RouterName.SGLANG, "0.3.2"),
    )
}
_OWN = 'llm_d_epp_info{commit=""} 1\nllm_d_epp_per_endpoint_queue_size{model_server_endpoint="o-rank-0"} 0\n'
_KNOWN = _OWN + f'vllm_router_worker_health{{worker="{GOES}"}} 1\nsmg_worker_health{{worker="{GOES}"}} -1\n'
LISTS: Final = {
    "absent": Heard(Ask("GET", ""), 200, listing({STAYS: "regular"}, by_id=True)),
    "listed": Heard(Ask("GET", ""), 200, listing({GOES: "regular", STAYS: "regular"}, by_id=True)),
    "alone": Heard(Ask("GET", ""), 200, listing({}, by_id=True)),
    "failing": Heard(Ask("GET", ""), 500),
    "silent": Heard(Ask("GET", ""), None, why="TimeoutError"),
    "garbage": Heard(Ask("GET", ""), 200, b"\x00"),
}
BODIES: Final = {
    "still": _KNOWN,
    "picks": _KNOWN,
    "pending": _KNOWN + f'vllm_router_pd_pending_decode_requests{{worker="{GOES}"}} 1\n',
    "endpoint": _KNOWN + 'llm_d_epp_per_endpoint_queue_size{model_server_endpoint="qwen-server-1-0-rank-0"} 0\n',
    "garbage": _KNOWN.replace(" 1\n", " NaN\n").replace(" -1\n", " NaN\n"),
}
AGAINST: Final = {
    "vllm": ({"listed", "alone", "failing", "silent", "garbage"}, {"picks", "pending", "garbage"}),
    "picker": (set(), {"picks", "endpoint", "garbage"}),
    "gateway": ({"listed", "alone", "failing", "silent", "garbage"}, set()),
    "older vllm": ({"listed", "alone", "failing", "silent", "garbage"}, set()),
}
"""What each program may answer that speaks against the proof."""


@pytest.mark.parametrize("name", PROGRAMS)
@given(
    answers=st.lists(st.tuples(st.sampled_from(sorted(LISTS)), st.sampled_from(sorted(BODIES))), max_size=40),
    removal=st.sampled_from([200, 202, 404, 500]),
    kind=st.sampled_from([RoleKind.SERVER, RoleKind.PREFILL]),
)
def test_a_proof_follows_two_seconds_without_a_word_against_it(
    name: str, answers: list[tuple[str, str]], removal: int, kind: RoleKind
) -> None:
    chosen = PROGRAMS[name]
    about = subject(kind=kind)
    state: State | None = None
    heard: list[Heard] = []
    passed, picks, spoken = 0.0, 0, 0.0
    lists, bodies = AGAINST[name]
    for listed, body in [*answers, *[("absent", "still")] * 6]:
        step = chosen.withdraw(state, heard, about, START + timedelta(seconds=passed))
        if step.verdict is Verdict.PROVEN:
            assert passed - spoken > 1.999
        passed += step.rest
        picks += body == "picks"
        heard = []
        for ask in step.asks:
            if ask.method == "DELETE":
                heard.append(Heard(ask, removal))
                spoken = passed if removal == 500 else spoken
            elif ask.door is Door.NUMBERS:
                counted = f'vllm_router_processed_requests_total{{worker="{GOES}"}} {picks}\n'
                tried = f'llm_d_epp_scheduler_attempts_total{{endpoint_name="qwen-server-1-0"}} {picks}\n'
                heard.append(Heard(ask, 200, (BODIES[body] + counted + tried).encode()))
                spoken = passed if body in bodies else spoken
            else:
                heard.append(Heard(ask, LISTS[listed].status, LISTS[listed].body, LISTS[listed].why))
                spoken = passed if listed in lists else spoken
        state = step.state
