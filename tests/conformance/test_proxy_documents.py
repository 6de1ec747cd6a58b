"""The proxy's document is one Envoy reads: every field exists, has its type, and every name leads somewhere."""

import importlib
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from conformance_documents import SHAPES, documents, replaced
from modeldeployment.lab.packaged import Program
from modeldeployment.lab.pytest_plugin import ObtainProgram

# Each registers the messages of its file, so that what stands in an `Any` is read as what it says it is.
MESSAGES = (
    "envoy.config.bootstrap.v3.bootstrap_pb2",
    "envoy.extensions.access_loggers.stream.v3.stream_pb2",
    "envoy.extensions.filters.http.ext_proc.v3.ext_proc_pb2",
    "envoy.extensions.filters.http.header_mutation.v3.header_mutation_pb2",
    "envoy.extensions.filters.http.router.v3.router_pb2",
    "envoy.extensions.filters.network.http_connection_manager.v3.http_connection_manager_pb2",
    "envoy.extensions.upstreams.http.v3.http_protocol_options_pb2",
)
BOOTSTRAP, *_ = (importlib.import_module(name) for name in MESSAGES)
JSON = importlib.import_module("google.protobuf.json_format")


def read(document: str) -> Any:
    """The document as Envoy's own message; raises ParseError for a field, a word or a type it does not have."""
    return JSON.ParseDict(yaml.safe_load(document), BOOTSTRAP.Bootstrap(), ignore_unknown_fields=False)


@pytest.mark.parametrize("fields", [{}, {"requestTimeoutSeconds": 120}], ids=["a-day", "two-minutes"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("engine", ["vLLM", "SGLang"])
def test_envoy_reads_every_field_of_it(engine: str, shape: str, fields: dict[str, int]) -> None:
    document = documents(engine, shape, **fields)["envoy.yaml"]
    message = read(document)
    assert JSON.MessageToDict(message, preserving_proto_field_name=True)["static_resources"].keys() == {
        "listeners",
        "clusters",
    }


def test_every_cluster_it_sends_to_is_declared() -> None:
    message = read(documents("vLLM", "pair")["envoy.yaml"])
    declared = [cluster.name for cluster in message.static_resources.clusters]
    ((chain,),) = (listener.filter_chains for listener in message.static_resources.listeners)
    manager = _any(chain.filters[0].typed_config)
    route = manager.route_config.virtual_hosts[0].routes[0].route
    picker = _any(manager.http_filters[1].typed_config)
    assert declared == ["original_destination_cluster", "ext_proc"]
    assert (route.cluster, picker.grpc_service.envoy_grpc.cluster_name) == tuple(declared)
    assert (route.timeout.seconds, picker.grpc_service.timeout.seconds) == (86400, 10)
    assert manager.stream_idle_timeout.seconds == 0
    assert manager.HasField("stream_idle_timeout")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        pytest.param("stat_prefix", "stat_prefixx", "stat_prefixx", id="a-field-of-an-extension"),
        pytest.param("failure_mode_allow", "failure_mode_alow", "failure_mode_alow", id="a-field-of-a-filter"),
        pytest.param("request_trailer_mode", "request_trailers_mode", "request_trailers_mode", id="a-nested-field"),
        pytest.param("lb_policy", "lb_polic", "lb_polic", id="a-field-of-a-cluster"),
        pytest.param("FULL_DUPLEX_STREAMED", "FULL_DUPLEX", "FULL_DUPLEX", id="a-word"),
        pytest.param("timeout: 86400s", "timeout: 86400", "86400", id="a-duration"),
        pytest.param("port_value: 8081", "port_value: http", "http", id="a-number"),
        pytest.param("router.v3.Router", "router.v3.Routers", "router.v3.Routers", id="a-type"),
    ],
)
def test_what_envoy_does_not_know_is_refused(old: str, new: str, said: str) -> None:
    wrong = replaced(documents("vLLM", "pair")["envoy.yaml"], old, new)
    with pytest.raises((JSON.ParseError, TypeError), match=said):
        read(wrong)


def _any(packed: Any) -> Any:
    symbol = importlib.import_module("google.protobuf.symbol_database").Default()
    message = symbol.pool.FindMessageTypeByName(packed.TypeName())
    unpacked = importlib.import_module("google.protobuf.message_factory").GetMessageClass(message)()
    assert packed.Unpack(unpacked)
    return unpacked


@pytest.mark.parametrize("fields", [{}, {"requestTimeoutSeconds": 120}], ids=["a-day", "two-minutes"])
@pytest.mark.parametrize("engine", ["vLLM", "SGLang"])
def test_envoy_itself_takes_the_document(
    engine: str, fields: dict[str, int], program: ObtainProgram, tmp_path: Path
) -> None:
    assert taken(program("envoy"), documents(engine, "pair", **fields)["envoy.yaml"], tmp_path) == ""


def test_envoy_itself_refuses_a_cluster_that_is_not_there(program: ObtainProgram, tmp_path: Path) -> None:
    document = replaced(documents("vLLM", "pair")["envoy.yaml"], "cluster: original_destination", "cluster: other")
    assert "other_cluster" in taken(program("envoy"), document, tmp_path)


def taken(envoy: Program, document: str, folder: Path) -> str:
    """What Envoy says of a document that it does not take; it listens nowhere meanwhile."""
    file = folder / "envoy.yaml"
    file.write_text(document, encoding="utf-8")
    command = [str(envoy.environment / "bin" / "envoy"), "--mode", "validate", "--disable-hot-restart", "-c", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    return "" if done.returncode == 0 else done.stderr + done.stdout
