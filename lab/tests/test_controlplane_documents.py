"""What the components are given to read: argument lists, configurations, certificates, Kueue's manifests."""

import base64
from datetime import UTC, datetime
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
import yaml
from cryptography import x509
from modeldeployment.lab.controlplane import Component, Options, Ports, certificates, configurations, quota
from modeldeployment.lab.controlplane.arguments import arguments, environment
from modeldeployment.lab.controlplane.kueue_manifests import definition, established, hook_configuration
from modeldeployment.lab.controlplane.layout import Layout

LAYOUT = Layout(Path("/lab"))
PORTS = Ports(
    api_server=1,
    control=2,
    controller_manager=3,
    etcd=4,
    etcd_peer=5,
    kueue_health=6,
    kueue_metrics=7,
    kueue_webhook=8,
    kwok=9,
    scheduler=10,
)


def given(component: Component, **options: Any) -> list[str]:
    return arguments(component, LAYOUT, PORTS, Options(**options))


def test_etcd_listens_on_loopback_and_does_not_wait_for_the_disk() -> None:
    assert given(Component.ETCD) == [
        "--name=lab",
        "--data-dir=/lab/etcd",
        "--listen-client-urls=http://127.0.0.1:4",
        "--advertise-client-urls=http://127.0.0.1:4",
        "--listen-peer-urls=http://127.0.0.1:5",
        "--initial-advertise-peer-urls=http://127.0.0.1:5",
        "--initial-cluster=lab=http://127.0.0.1:5",
        "--unsafe-no-fsync",
        "--quota-backend-bytes=4294967296",
        "--log-level=warn",
    ]


def test_kwok_plays_only_nodes_that_ask_for_it() -> None:
    assert given(Component.KWOK, pod_cidr="127.9.0.0/16") == [
        "--kubeconfig=/lab/kubeconfigs/kwok",
        "--config=/lab/configuration/kwok.yaml",
        "--manage-all-nodes=false",
        "--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake",
        "--cidr=127.9.0.0/16",
        "--node-ip=127.0.0.1",
        "--server-address=127.0.0.1:9",
        "--node-lease-duration-seconds=200",
    ]


def test_the_controller_manager_runs_node_lifecycle_without_which_nodes_stay_tainted() -> None:
    [controllers] = [entry for entry in given(Component.CONTROLLER_MANAGER) if entry.startswith("--controllers=")]
    assert "node-lifecycle-controller" in controllers.removeprefix("--controllers=").split(",")


@pytest.mark.parametrize("component", list(Component))
def test_extra_arguments_come_after_a_components_own(component: Component) -> None:
    assert given(component, extra_args={component: ("--v=9",)})[:-1] == given(component)
    assert given(component, extra_args={component: ("--v=9",)})[-1] == "--v=9"


@pytest.mark.parametrize("component", list(Component))
def test_nothing_listens_beyond_loopback(component: Component) -> None:
    assert not [entry for entry in given(component) if "0.0.0.0" in entry or "=:" in entry]


def test_components_see_no_variable_of_the_user() -> None:
    assert sorted(environment(Component.KWOK, LAYOUT)) == ["HOME", "PATH", "TMPDIR"]
    assert environment(Component.API_SERVER, LAYOUT)["LAB_ALLOW_LOOPBACK_ENDPOINTS"] == "1"
    assert environment(Component.KUEUE, LAYOUT)["KUEUE_METRICS_CERT_DIR"] == "/lab/kueue-certificates"


def test_kueue_charges_what_a_queue_covers_and_nothing_else() -> None:
    kueue = configurations.kueue(LAYOUT, PORTS)
    assert kueue["resources"]["quotaCheckStrategy"] == "IgnoreUndeclared"
    assert kueue["featureGates"]["QuotaCheckStrategy"] is True
    assert "excludeResourcePrefixes" not in kueue["resources"]
    assert kueue["integrations"] == {"frameworks": ["pod"]}


def test_a_card_costs_a_million_six_and_a_slice_its_percentage_of_that() -> None:
    rules = {rule["input"]: rule for rule in quota.transformations()}
    assert rules["nvidia.com/gpu"] == {
        "input": "nvidia.com/gpu",
        "strategy": "Replace",
        "outputs": {"credits.gpustack.ai/nvidia": "1600000"},
    }
    assert rules["huawei.com/npu.sliced"] == {
        "input": "huawei.com/npu.sliced",
        "strategy": "Replace",
        "outputs": {"credits.gpustack.ai/ascend": "16000"},
        "multiplyBy": "huawei.com/npu.sliced.memory-percentage",
    }
    assert len(rules) == 27


def test_the_stages_are_six_that_kwok_can_read() -> None:
    documents = list(yaml.safe_load_all(configurations.kwok_stages()))
    assert [(document["kind"], document.get("metadata", {}).get("name", "")) for document in documents] == [
        ("KwokConfiguration", ""),
        ("Stage", "node-initialize"),
        ("Stage", "pod-ready"),
        ("Stage", "pod-complete"),
        ("Stage", "pod-terminate"),
        ("Stage", "pod-delete"),
    ]


def test_certificates_are_signed_by_the_authority_and_carry_their_names() -> None:
    authority = certificates.Authority(datetime(2026, 1, 1, tzinfo=UTC))
    root = x509.load_pem_x509_certificate(authority.pair.certificate)
    server = x509.load_pem_x509_certificate(authority.server("x", ("127.0.0.1", "localhost")).certificate)
    server.verify_directly_issued_by(root)
    names = server.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.IPAddress) == [ip_address("127.0.0.1")]
    assert names.get_values_for_type(x509.DNSName) == ["localhost"]
    assert server.not_valid_before_utc == datetime(2025, 12, 31, 23, tzinfo=UTC)
    client = x509.load_pem_x509_certificate(authority.client("lab:kwok", "system:masters").certificate)
    client.verify_directly_issued_by(root)
    assert client.subject.rfc4514_string() == "O=system:masters,CN=lab:kwok"


def test_keys_can_be_read_by_their_owner_only(tmp_path: Path) -> None:
    authority = certificates.Authority(datetime(2026, 1, 1, tzinfo=UTC))
    authority.pair.write(tmp_path / "ca.crt", tmp_path / "ca.key")
    assert (tmp_path / "ca.key").stat().st_mode & 0o777 == 0o600


def test_a_kubeconfig_stands_alone() -> None:
    pair = certificates.Pair(b"certificate", b"key")
    document = configurations.kubeconfig(PORTS, "admin", b"authority", pair)
    assert document["clusters"][0]["cluster"] == {
        "server": "https://127.0.0.1:1",
        "certificate-authority-data": base64.b64encode(b"authority").decode(),
    }
    assert document["users"][0]["user"]["client-key-data"] == base64.b64encode(b"key").decode()


def crd(plural: str) -> dict[str, Any]:
    return {"metadata": {"name": plural}, "spec": {"names": {"plural": plural}}, "status": {"conditions": None}}


def test_converting_kinds_ask_the_webhook_and_others_are_left_alone() -> None:
    converting = definition(crd("workloads"), "https://127.0.0.1:8", "Q0E=")
    assert converting["spec"]["conversion"] == {
        "strategy": "Webhook",
        "webhook": {
            "clientConfig": {"url": "https://127.0.0.1:8/convert", "caBundle": "Q0E="},
            "conversionReviewVersions": ["v1"],
        },
    }
    assert definition(crd("topologies"), "https://127.0.0.1:8", "Q0E=") == {
        "metadata": {"name": "topologies"},
        "spec": {"names": {"plural": "topologies"}},
    }


def test_only_hooks_of_pods_and_kueues_own_kinds_are_kept() -> None:
    def hook(name: str) -> dict[str, Any]:
        return {"name": name, "clientConfig": {"service": {"path": f"/{name}"}}}

    manifest = {
        "metadata": {"name": "mutating-webhook-configuration"},
        "webhooks": [hook("mpod.kb.io"), hook("mdeployment.kb.io"), hook("mworkload.kb.io")],
    }
    kept = hook_configuration(manifest, "https://127.0.0.1:8", "Q0E=")
    assert kept["metadata"] == {"name": "kueue-mutating-webhook-configuration"}
    assert [entry["name"] for entry in kept["webhooks"]] == ["mpod.kb.io", "mworkload.kb.io"]
    assert kept["webhooks"][0]["clientConfig"] == {"url": "https://127.0.0.1:8/mpod.kb.io", "caBundle": "Q0E="}
    [expression] = kept["webhooks"][0]["namespaceSelector"]["matchExpressions"]
    assert expression["values"] == ["kube-system", "kueue-system"]
    assert "namespaceSelector" not in kept["webhooks"][1]


def test_a_fresh_definition_with_null_conditions_is_not_established() -> None:
    served = {"status": {"conditions": [{"type": "Established", "status": "True"}]}}
    assert established([served])
    assert not established([served, {"status": {"conditions": None}}])
    assert not established([{}])
