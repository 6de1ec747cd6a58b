"""The command line and environment of every component (facts control-plane §4)."""

import os
from typing import Final, assert_never

from modeldeployment.lab.controlplane.layout import Layout
from modeldeployment.lab.controlplane.options import HOST, Component, Options, Ports
from modeldeployment.lab.fleets import keys
from modeldeployment.lab.toolchain import recipes

NODE_LEASE_SECONDS: Final = 200
NODE_GRACE_SECONDS: Final = 250

CONTROLLERS: Final = (
    "clusterrole-aggregation",
    "deployment",
    "disruption",
    "endpointslice",
    "garbage-collector",
    "job",
    "namespace",
    "node-lifecycle",  # required: without it every new Node keeps its not-ready taint
    "pod-garbage-collector",
    "replicaset",
    "resourcequota",
    "root-ca-certificate-publisher",
    "serviceaccount",
    "serviceaccount-token",
    "statefulset",
    "taint-eviction",
    "ttl-after-finished",
)


def arguments(component: Component, layout: Layout, ports: Ports, options: Options) -> list[str]:
    """Return a component's arguments without the program itself; the user's extra ones come last."""
    return _own(component, layout, ports, options) + list(options.extra_args.get(component, ()))


def environment(component: Component, layout: Layout) -> dict[str, str]:
    """Return the whole environment of a component: nothing of the user's leaks in."""
    plain = {"PATH": os.defpath, "HOME": str(layout.root), "TMPDIR": str(layout.root)}
    match component:
        case Component.API_SERVER:
            return plain | {recipes.LOOPBACK_ENDPOINTS: "1"}
        case Component.KUEUE:
            return plain | {recipes.METRICS_CERTIFICATES: str(layout.kueue_certificates)}
        case _:
            return plain


def _own(component: Component, layout: Layout, ports: Ports, options: Options) -> list[str]:
    match component:
        case Component.ETCD:
            return _etcd(layout, ports)
        case Component.API_SERVER:
            return _api_server(layout, ports)
        case Component.CONTROLLER_MANAGER:
            return _controller_manager(layout, ports)
        case Component.SCHEDULER:
            configuration = layout.configuration("scheduler.json")
            return [f"--config={configuration}", *_secured(component, layout, ports.scheduler)]
        case Component.KWOK:
            return _kwok(layout, ports, options)
        case Component.KUEUE:
            return [
                f"--config={layout.configuration('kueue.json')}",
                f"--kubeconfig={layout.component_kubeconfig(component)}",
                "--zap-log-level=2",
            ]
        case other:
            assert_never(other)


def _etcd(layout: Layout, ports: Ports) -> list[str]:
    clients, peers = ports.url(ports.etcd), ports.url(ports.etcd_peer)
    return [
        "--name=lab",
        f"--data-dir={layout.etcd}",
        f"--listen-client-urls={clients}",
        f"--advertise-client-urls={clients}",
        f"--listen-peer-urls={peers}",
        f"--initial-advertise-peer-urls={peers}",
        f"--initial-cluster=lab={peers}",
        "--unsafe-no-fsync",
        "--quota-backend-bytes=4294967296",
        "--log-level=warn",
    ]


def _api_server(layout: Layout, ports: Ports) -> list[str]:
    return [
        f"--etcd-servers={ports.url(ports.etcd)}",
        f"--bind-address={HOST}",
        f"--secure-port={ports.api_server}",
        f"--advertise-address={HOST}",
        "--endpoint-reconciler-type=none",
        f"--tls-cert-file={layout.certificate('apiserver')}",
        f"--tls-private-key-file={layout.key('apiserver')}",
        f"--client-ca-file={layout.certificate('ca')}",
        f"--token-auth-file={layout.pki / 'tokens.csv'}",
        "--authorization-mode=RBAC",
        "--enable-admission-plugins=PodNodeSelector",  # keeps a namespace's Pods on the nodes it names
        "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
        f"--service-account-key-file={layout.pki / 'service-accounts.pub'}",
        f"--service-account-signing-key-file={layout.key('service-accounts')}",
        "--service-cluster-ip-range=10.96.0.0/16",
        "--allow-privileged=true",
        "--profiling=false",
        "--max-requests-inflight=1500",
        "--max-mutating-requests-inflight=1000",
        "--etcd-compaction-interval=5m",
        "--v=1",
    ]


def _controller_manager(layout: Layout, ports: Ports) -> list[str]:
    names = ",".join(f"{name}-controller" for name in CONTROLLERS)
    return [
        f"--kubeconfig={layout.component_kubeconfig(Component.CONTROLLER_MANAGER)}",
        *_secured(Component.CONTROLLER_MANAGER, layout, ports.controller_manager),
        "--leader-elect=false",
        f"--controllers={names}",
        f"--service-account-private-key-file={layout.key('service-accounts')}",
        f"--root-ca-file={layout.certificate('ca')}",
        "--kube-api-qps=1000",
        "--kube-api-burst=2000",
        "--concurrent-gc-syncs=10",
        "--node-monitor-period=5s",
        f"--node-monitor-grace-period={NODE_GRACE_SECONDS}s",
        "--profiling=false",
    ]


def _kwok(layout: Layout, ports: Ports, options: Options) -> list[str]:
    return [
        f"--kubeconfig={layout.component_kubeconfig(Component.KWOK)}",
        f"--config={layout.configuration('kwok.yaml')}",
        "--manage-all-nodes=false",
        f"--manage-nodes-with-annotation-selector={keys.FAKE_NODE}={keys.FAKE_NODE_VALUE}",
        f"--cidr={options.pod_cidr}",
        f"--node-ip={HOST}",
        f"--server-address={HOST}:{ports.kwok}",
        f"--node-lease-duration-seconds={NODE_LEASE_SECONDS}",
    ]


def _secured(component: Component, layout: Layout, port: int) -> list[str]:
    identity = layout.component_kubeconfig(component)
    return [
        f"--authentication-kubeconfig={identity}",
        f"--authorization-kubeconfig={identity}",
        f"--bind-address={HOST}",
        f"--secure-port={port}",
        f"--tls-cert-file={layout.certificate('tls')}",
        f"--tls-private-key-file={layout.key('tls')}",
    ]
