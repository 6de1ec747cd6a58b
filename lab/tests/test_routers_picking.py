"""How the containers of `llm-d-router` are run here, and what an older picker is given of them."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from modeldeployment.lab.routers import CommandUnknown, older, picking
from modeldeployment.lab.routers.picking import Placed
from modeldeployment.lab.toolchain.picker import Picker

OWN = Picker(Path("/opt/epp"), pinned=False, sidecar=Path("/opt/pd-sidecar"))
PINNED = Picker(Path("/opt/epp"), pinned=True, sidecar=Path("/opt/pd-sidecar"))
PLACED = Placed("chat-router-5d-x", "team", "127.1.200.1", Path("/run/chat"))
SELECTOR = "app=a,eligible=true,!router"
MOUNT = {"name": "config", "mountPath": "/config", "readOnly": True}
DATA = {"endpoint-selector": SELECTOR, "endpoint-target-ports": "8000", "epp.yaml": "plugins: []", "envoy.yaml": "{}"}


def from_config(name: str, key: str) -> dict[str, Any]:
    return {"name": name, "valueFrom": {"configMapKeyRef": {"name": "chat-router", "key": key}}}


def from_pod(name: str, path: str) -> dict[str, Any]:
    return {"name": name, "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": path}}}


EPP: dict[str, Any] = {
    "name": "epp",
    "command": ["epp"],
    "args": ["--endpoint-selector=$(ENDPOINT_SELECTOR)", "--config-file=/config/epp.yaml", "--secure-serving=false"],
    "env": [from_config("ENDPOINT_SELECTOR", "endpoint-selector"), from_pod("NAMESPACE", "metadata.namespace")],
    "ports": [{"name": "grpc-health", "containerPort": 9003}, {"name": "metrics", "containerPort": 9090}],
    "volumeMounts": [MOUNT],
}
ENVOY: dict[str, Any] = {"name": "envoy", "args": ["-c", "/config/envoy.yaml"], "volumeMounts": [MOUNT]}
SIDECAR: dict[str, Any] = {
    "name": "routing-proxy",
    "args": ["--port=8000", "--model-server-port=8200", "--kv-connector=sglang", "--secure-proxy=false"],
    "env": [from_pod("POD_IP", "status.podIP"), {"name": "SGLANG_BOOTSTRAP_PORT", "value": "8998"}],
}


def test_the_picker_of_the_routers_own_version_runs_as_it_is_rendered() -> None:
    assert picking.picker_command(EPP, PLACED, DATA, OWN, "chat-router") == [
        "/opt/epp",
        "--endpoint-selector=app=a,eligible=true,!router",
        "--config-file=/run/chat/epp.yaml",
        "--secure-serving=false",
        "--tracing=false",
    ]
    assert picking.variables(EPP, PLACED, DATA) == {"ENDPOINT_SELECTOR": SELECTOR, "NAMESPACE": "team"}
    assert picking.documents(DATA, OWN) == DATA


def test_the_pinned_picker_is_told_of_a_pool_with_the_equalities_of_its_selector() -> None:
    assert picking.picker_command(EPP, PLACED, DATA, PINNED, "chat-router") == [
        "/opt/epp",
        "--pool-name=chat-router",
        "--pool-namespace=team",
        "--config-file=/run/chat/epp.yaml",
        "--secure-serving=false",
        "--tracing=false",
    ]
    assert older.selector(SELECTOR) == {"app": "a", "eligible": "true"}


def test_the_proxy_runs_alone_with_the_document_it_is_rendered_with() -> None:
    assert picking.proxy_command(ENVOY, PLACED, Path("/opt/bin/envoy")) == [
        "/opt/bin/envoy",
        "-c",
        "/run/chat/envoy.yaml",
        "--disable-hot-restart",
        "--concurrency",
        "1",
        "--log-level",
        "warning",
    ]


def test_a_routing_proxy_leaves_its_port_to_whoever_leads_there() -> None:
    assert picking.sidecar_command(SIDECAR, OWN) == [
        "/opt/pd-sidecar",
        "--port=18000",
        "--model-server-port=8200",
        "--kv-connector=sglang",
        "--secure-proxy=false",
    ]
    assert picking.variables(SIDECAR, PLACED, {}) == {"POD_IP": "127.1.200.1", "SGLANG_BOOTSTRAP_PORT": "8998"}


def test_the_pinned_routing_proxy_calls_the_engines_port_otherwise() -> None:
    assert "--vllm-port=8200" in picking.sidecar_command(SIDECAR, PINNED)


def test_what_cannot_be_run_is_refused() -> None:
    with pytest.raises(CommandUnknown, match="no routing proxy is at hand"):
        picking.sidecar_command(SIDECAR, Picker(Path("/opt/epp"), pinned=False))
    with pytest.raises(CommandUnknown, match=r"--port=… is given 0 times"):
        picking.sidecar_command({"args": ["--secure-proxy=false"]}, OWN)
    with pytest.raises(CommandUnknown, match="none that the lab can give"):
        picking.variables({"env": [from_pod("NODE", "spec.nodeName")]}, PLACED, {})
    with pytest.raises(CommandUnknown, match="has no port 'http'"):
        picking.port(EPP, "http")


def test_ports_are_read_by_their_names() -> None:
    assert picking.port(EPP, "metrics") == 9090
    assert picking.target_ports({"endpoint-target-ports": "8000,8001"}) == (8000, 8001)


def document(*plugins: dict[str, Any], **more: Any) -> str:
    return yaml.safe_dump({"apiVersion": "llm-d.ai/v1alpha1", "plugins": list(plugins), **more})


def test_an_older_document_has_the_plugins_that_the_older_picker_has() -> None:
    labels = {"name": "server-pods", "type": "label-selector-filter", "parameters": {"matchLabels": {"a": "b"}}}
    scorer = {"type": "prefix-cache-scorer", "parameters": {"prefixMatchInfoProducerName": "precise"}}
    rendered = document(labels, {"type": "token-producer"}, scorer, dataLayer={"sources": []})
    assert yaml.safe_load(older.document(rendered)) == {
        "apiVersion": "inference.networking.x-k8s.io/v1alpha1",
        "plugins": [{**labels, "type": "by-label-selector"}, {"type": "prefix-cache-scorer"}],
    }


def test_an_older_picker_of_pairs_is_told_to_name_the_prefill_half() -> None:
    older_pair = yaml.safe_load(older.document(document({"type": "disagg-profile-handler"})))
    assert older_pair["plugins"] == [{"type": "disagg-profile-handler"}, {"type": "disagg-headers-handler"}]
    assert older_pair["featureGates"] == ["prepareDataPlugins"]
