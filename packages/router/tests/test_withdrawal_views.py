"""What a router process sends requests to, as one plain answer of it says (facts status §6)."""

import json

import pytest
from modeldeployment.api.choices import RouterName
from modeldeployment.router.withdrawal import LIST, Ask, Door, Heard, Strange, views
from modeldeployment.router.withdrawal.views import Endpoint
from withdrawal_stories import GOES, STAYS, listing

NUMBERS = Ask("GET", "/metrics", Door.NUMBERS)
PICKS = b"""llm_d_epp_info{build_ref="",commit=""} 1
llm_d_epp_per_endpoint_queue_size{name="qwen",model_server_endpoint="qwen-decode-0-0-rank-0"} 0
llm_d_epp_per_endpoint_queue_size{name="qwen",model_server_endpoint="qwen-decode-0-0-rank-1"} 3
"""


@pytest.mark.parametrize(("router", "by_id"), [(RouterName.VLLM, False), (RouterName.SGLANG, True)])
def test_the_workers_of_a_list_are_its_endpoints(router: RouterName, by_id: bool) -> None:
    heard = Heard(LIST, 200, listing({GOES: "regular", STAYS: "prefill"}, by_id=by_id))
    assert views.asks(router) == LIST
    assert views.endpoints(router, heard) == {Endpoint(GOES, "10.0.0.1"), Endpoint(STAYS, "10.0.0.2")}


def test_a_worker_that_the_router_holds_for_ill_is_sent_nothing() -> None:
    body = json.loads(listing({GOES: "regular", STAYS: "regular"}))
    body["workers"][0]["is_healthy"] = False
    heard = Heard(LIST, 200, json.dumps(body).encode())
    assert [each.name for each in views.endpoints(RouterName.VLLM, heard)] == [STAYS]


def test_each_rank_of_a_pod_is_an_endpoint_of_a_picker() -> None:
    assert views.asks(RouterName.LLM_D) == NUMBERS
    assert views.endpoints(RouterName.LLM_D, Heard(NUMBERS, 200, PICKS)) == {
        Endpoint(f"qwen-decode-0-0-rank-{rank}", pod="qwen-decode-0-0") for rank in (0, 1)
    }


@pytest.mark.parametrize("router", list(RouterName))
@pytest.mark.parametrize(
    ("status", "body"), [(None, b""), (500, b""), (401, b"{}"), (200, b"<html>"), (200, b'{"workers":[{}],"total":1}')]
)
def test_an_answer_that_is_no_view_is_strange(router: RouterName, status: int | None, body: bytes) -> None:
    with pytest.raises(Strange):
        views.endpoints(router, Heard(views.asks(router), status, body))
