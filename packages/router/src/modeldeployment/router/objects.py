"""The objects of a router: one of each kind, all of one name, all owned by the deployment.

No object says what the API server would say for it otherwise, so that what was written and what is read back are
equal in everything written. Source: facts router-rendering §1, decisions D11.
"""

from collections.abc import Mapping
from typing import Any, Final

from modeldeployment.api import keys, names
from modeldeployment.router.front import Front
from modeldeployment.router.ports import LISTEN_PORT, METRICS_PORT
from modeldeployment.router.text import digest
from modeldeployment.router.workload import Workload

_RBAC: Final = "rbac.authorization.k8s.io"


def objects(front: Front, workload: Workload) -> tuple[dict[str, Any], ...]:
    """Answer them in the order they are created: whom the Pods run as, what they read, how they are reached, they."""
    return (
        _object(front, "v1", "ServiceAccount"),
        _role(front),
        _binding(front),
        *(_config(front, workload.documents),) * bool(workload.documents),
        _service(front),
        _deployment(front, workload),
    )


def endpoint(namespace: str, deployment: str) -> str:
    """Answer the URL at which callers in the cluster reach the router of a deployment."""
    return f"http://{names.router(deployment)}.{namespace}.svc:{LISTEN_PORT}"


def _role(front: Front) -> dict[str, Any]:
    rules = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch"]}]
    return _object(front, f"{_RBAC}/v1", "Role", rules=rules)


def _binding(front: Front) -> dict[str, Any]:
    name = names.router(front.deployment)
    return _object(
        front,
        f"{_RBAC}/v1",
        "RoleBinding",
        roleRef={"apiGroup": _RBAC, "kind": "Role", "name": name},
        subjects=[{"kind": "ServiceAccount", "name": name, "namespace": front.namespace}],
    )


def _config(front: Front, documents: Mapping[str, str]) -> dict[str, Any]:
    return _object(front, "v1", "ConfigMap", data=dict(documents))


def _service(front: Front) -> dict[str, Any]:
    port = {"name": "http", "protocol": "TCP", "port": LISTEN_PORT, "targetPort": LISTEN_PORT}
    return _object(front, "v1", "Service", spec={"selector": _labels(front), "ports": [port]})


def _deployment(front: Front, workload: Workload) -> dict[str, Any]:
    router = front.router
    secrets = [{"name": secret.name} for secret in router.image_pull_secrets]
    template = {
        "metadata": {"labels": _labels(front), "annotations": _annotations(workload)},
        "spec": {
            "serviceAccountName": names.router(front.deployment),
            **({"imagePullSecrets": secrets} if secrets else {}),
            "containers": list(workload.containers),
            **({"volumes": list(workload.volumes)} if workload.volumes else {}),
        },
    }
    spec = {
        "replicas": 1 if router.replicas is None else router.replicas,
        "selector": {"matchLabels": _labels(front)},
        "template": template,
    }
    return _object(front, "apps/v1", "Deployment", spec=spec)


def _annotations(workload: Workload) -> dict[str, str]:
    scraped = {
        keys.SCRAPE: keys.TRUE,
        keys.SCRAPE_PATH: "/metrics",
        keys.SCRAPE_PORT: str(METRICS_PORT),
        keys.SCRAPE_SCHEME: "http",
    }
    return scraped | ({keys.ROUTER_CONFIG_HASH: digest(workload.documents)} if workload.documents else {})


def _labels(front: Front) -> dict[str, str]:
    return {keys.NAME: keys.NAME_VALUE, keys.INSTANCE: front.deployment, keys.ROUTER: front.router.name.value}


def _object(front: Front, api_version: str, kind: str, **content: Any) -> dict[str, Any]:
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {
            "name": names.router(front.deployment),
            "namespace": front.namespace,
            "labels": _labels(front) | {keys.RESOURCE_TYPE: keys.RESOURCE_TYPE_VALUE},
            "annotations": {keys.NOTE_ROUTER: front.router.name.value},
            "ownerReferences": [dict(reference) for reference in front.owner_references],
        },
        **content,
    }
