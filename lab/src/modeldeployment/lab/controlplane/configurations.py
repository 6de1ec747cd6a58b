"""Configuration documents of the programs, as plain data (facts control-plane §3, §4)."""

import base64
from importlib import resources
from typing import Any

from modeldeployment.lab.controlplane import quota
from modeldeployment.lab.controlplane.certificates import Pair
from modeldeployment.lab.controlplane.layout import Layout
from modeldeployment.lab.controlplane.options import HOST, Component, Ports

CONTEXT = "lab"
KUEUE_NAMESPACE = "kueue-system"


def kubeconfig(ports: Ports, user: str, authority: bytes, identity: Pair) -> dict[str, Any]:
    """Return a kubeconfig with everything embedded, so that one file can be handed on."""
    cluster = {"server": ports.url(ports.api_server, scheme="https"), "certificate-authority-data": _base64(authority)}
    credentials = {
        "client-certificate-data": _base64(identity.certificate),
        "client-key-data": _base64(identity.key),
    }
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": CONTEXT,
        "clusters": [{"name": CONTEXT, "cluster": cluster}],
        "users": [{"name": user, "user": credentials}],
        "contexts": [{"name": CONTEXT, "context": {"cluster": CONTEXT, "user": user}}],
    }


def scheduler(layout: Layout) -> dict[str, Any]:
    """Return kube-scheduler's configuration: no election, quick retries, few nodes scored."""
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "leaderElection": {"leaderElect": False},
        "clientConnection": {
            "kubeconfig": str(layout.component_kubeconfig(Component.SCHEDULER)),
            "qps": 1000,
            "burst": 2000,
        },
        "parallelism": 4,
        "percentageOfNodesToScore": 5,
        "podInitialBackoffSeconds": 1,
        "podMaxBackoffSeconds": 3,
    }


def kueue(layout: Layout, ports: Ports) -> dict[str, Any]:
    """Return Kueue's configuration; its `resources` block is explained in quota.py (facts kueue §9)."""
    return {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "namespace": KUEUE_NAMESPACE,
        "health": {"healthProbeBindAddress": f"{HOST}:{ports.kueue_health}"},
        "metrics": {"bindAddress": f"{HOST}:{ports.kueue_metrics}", "enableClusterQueueResources": True},
        "webhook": {"host": HOST, "port": ports.kueue_webhook, "certDir": str(layout.kueue_certificates)},
        "leaderElection": {"leaderElect": False},
        "controller": {
            "groupKindConcurrency": {
                "Pod": 5,
                "Workload.kueue.x-k8s.io": 5,
                "LocalQueue.kueue.x-k8s.io": 1,
                "ClusterQueue.kueue.x-k8s.io": 1,
                "ResourceFlavor.kueue.x-k8s.io": 1,
                "Cohort.kueue.x-k8s.io": 1,
            }
        },
        "clientConnection": {"qps": -1, "burst": 100},
        "manageJobsWithoutQueueName": False,
        "internalCertManagement": {"enable": False},
        "integrations": {"frameworks": ["pod"]},
        "featureGates": {
            "TopologyAwareScheduling": True,
            "VisibilityOnDemand": False,
            "QuotaCheckStrategy": True,
        },
        "resources": quota.resources(),
    }


def kwok_stages() -> str:
    """Return the Stages that play a kubelet (facts control-plane §7)."""
    return (resources.files("modeldeployment.lab.controlplane") / "kwok.yaml").read_text()


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode()
