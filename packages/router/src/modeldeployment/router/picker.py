"""The Pod of `llm-d-router`: a proxy, and the picker it asks. Source: facts router-rendering §4."""

from typing import Any, Final

from modeldeployment.router import workload
from modeldeployment.router.front import Front
from modeldeployment.router.picker_document import endpoint_selector, picker_document
from modeldeployment.router.ports import LISTEN_PORT, METRICS_PORT, PICKER_HEALTH_PORT, PICKER_PORT
from modeldeployment.router.proxy_document import proxy_text
from modeldeployment.router.pulling import pull_policy
from modeldeployment.router.text import json_line, yaml
from modeldeployment.router.workload import Workload

_FOLDER: Final = "/config"
_PICKER_FILE: Final = "epp.yaml"
_PROXY_FILE: Final = "envoy.yaml"
_SELECTOR: Final = "endpoint-selector"
_PORTS: Final = "endpoint-target-ports"
_FURTHER: Final = "extra-args.json"


def picker(front: Front, config: str) -> Workload:
    """Answer the two containers and their documents; `config` is the name of the ConfigMap that holds them."""
    router = front.router
    image = router.image or front.images.router
    runs = (
        workload.owned(
            "Which Pods are candidates: those of this deployment.", "--endpoint-selector=$(ENDPOINT_SELECTOR)"
        ),
        workload.owned("The serving port of every role.", "--endpoint-target-ports=$(ENDPOINT_TARGET_PORTS)"),
        workload.owned("The document that says how a replica is picked.", f"--config-file={_FOLDER}/{_PICKER_FILE}"),
        workload.owned(
            "The only caller is the proxy in the same Pod, so its port speaks no TLS.", "--secure-serving=false"
        ),
        workload.owned("Where Kubernetes asks whether it is ready.", f"--grpc-health-port={PICKER_HEALTH_PORT}"),
        workload.owned("Its numbers are scraped inside the cluster without a token.", "--metrics-endpoint-auth=false"),
        *workload.appended(router.extra_args),
    )
    mount = {"name": "config", "mountPath": _FOLDER, "readOnly": True}
    proxy_container = workload.container(
        "envoy",
        front.images.proxy,
        pull_policy(router, front.images.proxy),
        args=["-c", f"{_FOLDER}/{_PROXY_FILE}"],
        volumeMounts=[dict(mount)],
        ports={"http": LISTEN_PORT},
        readiness={"tcpSocket": {"port": LISTEN_PORT}},
    )
    picker_container = workload.container(
        "epp",
        image,
        pull_policy(router, image),
        command=["epp"],
        args=workload.tokens(runs),
        env=[
            _from_config("ENDPOINT_SELECTOR", config, _SELECTOR),
            _from_config("ENDPOINT_TARGET_PORTS", config, _PORTS),
            _from_pod("NAMESPACE", "metadata.namespace"),
            _from_pod("POD_NAME", "metadata.name"),
        ],
        volumeMounts=[dict(mount)],
        ports={"grpc": PICKER_PORT, "grpc-health": PICKER_HEALTH_PORT, "metrics": METRICS_PORT},
        readiness={"grpc": {"port": PICKER_HEALTH_PORT, "service": ""}},
    )
    return Workload(
        containers=(proxy_container, picker_container),
        runs=runs,
        documents={
            _PICKER_FILE: yaml(picker_document(front)),
            _PROXY_FILE: proxy_text(router.request_timeout_seconds),
            _SELECTOR: endpoint_selector(front),
            _PORTS: str(front.port),
            # Nobody reads it: a change of arguments moves the hash with the rest (facts router-rendering §4).
            _FURTHER: json_line(list(router.extra_args) or None),
        },
        volumes=({"name": "config", "configMap": {"name": config, "defaultMode": 0o644}},),
    )


def _from_config(variable: str, config: str, key: str) -> dict[str, Any]:
    return {
        "name": variable,
        "valueFrom": {"configMapKeyRef": {"name": config, "key": key, "optional": False}},
    }


def _from_pod(variable: str, field: str) -> dict[str, Any]:
    return {"name": variable, "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": field}}}
