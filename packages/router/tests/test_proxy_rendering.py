"""What the proxy of `llm-d-router` is told."""

from typing import Any

import pytest
from router_fronts import LLM_D, decode, document, prefill, routed


def manager(**router: Any) -> dict[str, Any]:
    """The connection manager of the only listener."""
    (listener,) = document(routed(LLM_D, **router), "envoy.yaml")["static_resources"]["listeners"]
    assert listener["address"] == {"socket_address": {"address": "0.0.0.0", "port_value": 8081}}
    ((only,),) = (chain["filters"] for chain in listener["filter_chains"])
    found: dict[str, Any] = only["typed_config"]
    return found


@pytest.mark.parametrize(
    ("router", "timeout"),
    [({}, "86400s"), pytest.param({"requestTimeoutSeconds": 120}, "120s", id="R30")],
)
def test_a_reply_is_waited_for_as_long_as_somebody_said_or_a_day(router: dict[str, int], timeout: str) -> None:
    assert manager(**router)["route_config"] == {
        "name": "router",
        "virtual_hosts": [
            {
                "name": "model",
                "domains": ["*"],
                "routes": [
                    {
                        "match": {"prefix": "/"},
                        "route": {"cluster": "original_destination_cluster", "timeout": timeout},
                    }
                ],
            }
        ],
    }
    assert manager(**router)["stream_idle_timeout"] == "0s"


def test_a_caller_cannot_name_its_pod_and_the_picker_sees_whole_requests() -> None:  # R22
    header, picker, last = manager()["http_filters"]
    assert [each["name"] for each in (header, picker, last)] == [
        "envoy.filters.http.header_mutation",
        "envoy.filters.http.ext_proc",
        "envoy.filters.http.router",
    ]
    assert header["typed_config"]["mutations"] == {"request_mutations": [{"remove": "x-gateway-destination-endpoint"}]}
    asked = picker["typed_config"]
    assert asked["failure_mode_allow"] is True
    assert asked["grpc_service"] == {
        "envoy_grpc": {"cluster_name": "ext_proc", "authority": "localhost:9002"},
        "timeout": "10s",
    }
    assert asked["processing_mode"] == {
        "request_header_mode": "SEND",
        "response_header_mode": "SEND",
        "request_body_mode": "FULL_DUPLEX_STREAMED",
        "response_body_mode": "FULL_DUPLEX_STREAMED",
        "request_trailer_mode": "SEND",
        "response_trailer_mode": "SEND",
    }


def test_every_request_is_one_line_of_json() -> None:
    (log,) = manager()["access_log"]
    assert log["typed_config"]["log_format"]["json_format"] == {
        "start_time": "%START_TIME%",
        "method": "%REQ(:METHOD)%",
        "path": "%REQ(X-ENVOY-ORIGINAL-PATH?:PATH)%",
        "protocol": "%PROTOCOL%",
        "response_code": "%RESPONSE_CODE%",
        "response_flags": "%RESPONSE_FLAGS%",
        "response_code_details": "%RESPONSE_CODE_DETAILS%",
        "duration": "%DURATION%",
        "upstream_host": "%UPSTREAM_HOST%",
        "request_id": "%REQ(X-REQUEST-ID)%",
        "bytes_received": "%BYTES_RECEIVED%",
        "bytes_sent": "%BYTES_SENT%",
    }


def test_a_request_goes_where_the_picker_says_and_the_picker_is_next_door() -> None:
    destination, picker = document(routed(LLM_D), "envoy.yaml")["static_resources"]["clusters"]
    assert destination == {
        "name": "original_destination_cluster",
        "type": "ORIGINAL_DST",
        "connect_timeout": "1s",
        "lb_policy": "CLUSTER_PROVIDED",
        "original_dst_lb_config": {"use_http_header": True, "http_header_name": "x-gateway-destination-endpoint"},
    }
    assert (picker["name"], picker["type"], picker["connect_timeout"]) == ("ext_proc", "STATIC", "1s")
    (endpoint,) = picker["load_assignment"]["endpoints"][0]["lb_endpoints"]
    assert endpoint["endpoint"]["address"]["socket_address"] == {"address": "127.0.0.1", "port_value": 9002}
    (options,) = picker["typed_extension_protocol_options"].values()
    assert options["explicit_http_config"] == {"http2_protocol_options": {}}


def test_the_proxy_is_told_nothing_of_roles() -> None:
    alone, pair = routed(LLM_D), routed(LLM_D, prefill(port=8100), decode(port=8100))
    assert document(alone, "envoy.yaml") == document(pair, "envoy.yaml")
