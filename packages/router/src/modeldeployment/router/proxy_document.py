"""The document of the proxy of `llm-d-router`: it asks the picker, then forwards to the Pod the picker names.

Source: facts router-rendering §4.
"""

from functools import lru_cache
from typing import Any, Final

from modeldeployment.router.ports import LISTEN_PORT, PICKER_PORT
from modeldeployment.router.text import yaml

DAY: Final = 86400
"""Seconds a caller may wait for the end of an answer, unless the user says otherwise."""

_TYPES: Final = "type.googleapis.com"
_DESTINATION: Final = "x-gateway-destination-endpoint"
"""Header in which the picker names the Pod; the proxy forwards to whatever it says."""
_ORIGINAL: Final = "original_destination_cluster"
_PICKER: Final = "ext_proc"

_LOGGED: Final = {
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


def proxy_document(timeout_seconds: int | None) -> dict[str, Any]:
    """Answer the proxy's static configuration; `timeout_seconds` is all that varies, None for a day."""
    listener = {
        "name": "http",
        "address": _address("0.0.0.0", LISTEN_PORT),  # noqa: S104 - callers come from outside the Pod
        "filter_chains": [{"filters": [_connection_manager(timeout_seconds or DAY)]}],
    }
    return {"static_resources": {"listeners": [listener], "clusters": [_original_destination(), _picker()]}}


@lru_cache(64)  # a cluster has few timeouts, and every pass of every routed deployment asks for one
def proxy_text(timeout_seconds: int | None) -> str:
    """Answer the same configuration as the text that its ConfigMap holds."""
    return yaml(proxy_document(timeout_seconds))


def _connection_manager(timeout_seconds: int) -> dict[str, Any]:
    route = {
        "match": {"prefix": "/"},
        "route": {"cluster": _ORIGINAL, "timeout": f"{timeout_seconds}s"},
    }
    return _typed(
        "envoy.filters.network.http_connection_manager",
        "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
        stat_prefix="router",
        # Left out, a request with no byte for five minutes is cut, however long the route lets it wait.
        stream_idle_timeout="0s",
        access_log=[
            _typed(
                "envoy.access_loggers.stdout",
                "envoy.extensions.access_loggers.stream.v3.StdoutAccessLog",
                log_format={"json_format": dict(_LOGGED)},
            )
        ],
        route_config={
            "name": "router",
            "virtual_hosts": [{"name": "model", "domains": ["*"], "routes": [route]}],
        },
        http_filters=_filters(),
    )


def _filters() -> list[dict[str, Any]]:
    return [
        # First: a caller that sent the header itself would choose where its request goes.
        _typed(
            "envoy.filters.http.header_mutation",
            "envoy.extensions.filters.http.header_mutation.v3.HeaderMutation",
            mutations={"request_mutations": [{"remove": _DESTINATION}]},
        ),
        _typed(
            "envoy.filters.http.ext_proc",
            "envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor",
            failure_mode_allow=True,
            grpc_service={
                "envoy_grpc": {"cluster_name": _PICKER, "authority": f"localhost:{PICKER_PORT}"},
                "timeout": "10s",
            },
            processing_mode={
                "request_header_mode": "SEND",
                "response_header_mode": "SEND",
                "request_body_mode": "FULL_DUPLEX_STREAMED",
                "response_body_mode": "FULL_DUPLEX_STREAMED",
                "request_trailer_mode": "SEND",
                "response_trailer_mode": "SEND",
            },
        ),
        _typed("envoy.filters.http.router", "envoy.extensions.filters.http.router.v3.Router"),
    ]


def _original_destination() -> dict[str, Any]:
    return {
        "name": _ORIGINAL,
        "type": "ORIGINAL_DST",
        "connect_timeout": "1s",
        "lb_policy": "CLUSTER_PROVIDED",
        "original_dst_lb_config": {"use_http_header": True, "http_header_name": _DESTINATION},
    }


def _picker() -> dict[str, Any]:
    protocol = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions"
    endpoint = {"endpoint": {"address": _address("127.0.0.1", PICKER_PORT)}}
    return {
        "name": _PICKER,
        "type": "STATIC",
        "connect_timeout": "1s",
        "typed_extension_protocol_options": {
            protocol: {"@type": f"{_TYPES}/{protocol}", "explicit_http_config": {"http2_protocol_options": {}}}
        },
        "load_assignment": {"cluster_name": _PICKER, "endpoints": [{"lb_endpoints": [endpoint]}]},
    }


def _address(host: str, port: int) -> dict[str, Any]:
    return {"socket_address": {"address": host, "port_value": port}}


def _typed(name: str, message: str, **fields: Any) -> dict[str, Any]:
    return {"name": name, "typed_config": {"@type": f"{_TYPES}/{message}", **fields}}
