import json
from typing import Any

import pytest
from modeldeployment.api import EngineName, ModelDeployment, Port, Protocol, Quantity, RoleKind
from modeldeployment.api.metadata import ObjectMeta
from pydantic import ValidationError

MINIMAL: dict[str, Any] = {
    "apiVersion": "worker.gpustack.ai/v1",
    "kind": "ModelDeployment",
    "metadata": {"name": "qwen", "namespace": "team-a", "managedFields": [{"manager": "kubectl"}]},
    "spec": {
        "model": {"name": "Qwen/Qwen2.5-72B-Instruct"},
        "engine": {"name": "vLLM", "version": "0.29.0"},
        "roles": [{"name": "server", "instanceType": "gpustack-nvidia-a10g-linux-amd64"}],
    },
}


def read(**role: Any) -> ModelDeployment:
    spec = MINIMAL["spec"]
    document = {**MINIMAL, "spec": {**spec, "roles": [{**spec["roles"][0], **role}]}}
    return ModelDeployment.model_validate_json(json.dumps(document).encode())


def test_what_a_role_leaves_out_reads_as_its_default() -> None:
    role = read().spec.role("server")
    assert (role.kind, role.replicas, role.size) == (RoleKind.SERVER, 1, 1)
    assert role.resources is None
    assert (role.ports, role.env, role.command, role.extra_args) == ((), (), (), ())
    assert role.termination_grace_period_seconds is None
    assert role.managed


def test_an_explicit_null_reads_as_unset() -> None:
    role = read(kind=None, size=None, command=None, resources=None, ports=None, privileged=None).spec.role("server")
    assert role == read().spec.role("server")
    assert role.model_fields_set == {"name", "instance_type"}


def test_what_a_later_release_added_is_ignored() -> None:
    assert read(speculation={"width": 4}) == read()


def test_every_field_of_a_role_is_read() -> None:
    role = read(
        kind="Encode",
        replicas=3,
        size=2,
        resources={"accelerator": 2, "interface": "1"},
        image="vllm/vllm-openai:v0.25.1",
        imagePullPolicy="Always",
        imagePullSecrets=[{"name": "pull"}],
        privileged=True,
        ports=[{"port": 9000}, {"port": 9001, "protocol": "UDP"}],
        additionalVolumes=[{"mountPath": "/data", "hostPath": {"path": "/mnt", "type": "Directory"}}],
        command=["/bin/my-server"],
        extraArgs=["--max-model-len=32768"],
        env=[{"name": "A", "value": ""}],
        topology={"requiredLevel": "topology.kubernetes.io/zone"},
        terminationGracePeriodSeconds=60,
    ).spec.role("server")
    assert (role.kind.label, role.kind.letter) == ("encode", "E")
    assert role.resources is not None
    assert (role.resources.accelerator, role.resources.interface) == (Quantity.parse("2"), Quantity.parse("1"))
    assert role.resources.accelerator_sliced_memory_percentage == 0
    assert [secret.name for secret in role.image_pull_secrets] == ["pull"]
    assert role.ports == (Port(port=9000, protocol=Protocol.TCP), Port(port=9001, protocol=Protocol.UDP))
    assert [port.name for port in role.ports] == ["tcp-9000", "udp-9001"]
    assert role.additional_volumes[0].host_path is not None
    assert role.additional_volumes[0].host_path.path == "/mnt"
    assert (role.env[0].name, role.env[0].value) == ("A", "")
    assert role.topology is not None
    assert role.topology.required_level == "topology.kubernetes.io/zone"
    assert not role.managed


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", "Server"),
        ("name", "a" * 64),
        ("kind", "Router"),
        ("replicas", 0),
        ("replicas", 1025),
        ("size", 65),
        ("instanceType", ""),
        ("terminationGracePeriodSeconds", 14),
        ("terminationGracePeriodSeconds", 3601),
        ("imagePullPolicy", "Sometimes"),
        ("ports", [{"port": 0}]),
        ("env", [{"name": "A"}]),
        ("additionalVolumes", [{"mountPath": "data"}]),
        ("additionalVolumes", [{"mountPath": "/data", "subPath": "/abs"}]),
        ("resources", {"acceleratorSlicedCoresPercentage": 101}),
        ("resources", {"accelerator": "two"}),
        ("topology", {"requiredLevel": "not a label"}),
    ],
)
def test_a_value_outside_the_schema_is_refused_at_its_field(field: str, value: object) -> None:
    with pytest.raises(ValidationError) as refused:
        read(**{field: value})
    assert ("spec", "roles", 0, field) in [error["loc"][:4] for error in refused.value.errors()]


@pytest.mark.parametrize("level", ["", "kubernetes.io/hostname", "zone", "example.com/Rack_1.a"])
def test_a_required_level_is_a_label_key_or_empty(level: str) -> None:
    topology = read(topology={"requiredLevel": level}).spec.role("server").topology
    assert topology is not None
    assert topology.required_level == level


def test_a_deployment_cannot_be_changed_in_place() -> None:
    deployment = read()
    with pytest.raises(ValidationError, match="frozen"):
        deployment.metadata.name = "other"  # type: ignore[misc]


def test_a_role_that_is_not_declared_is_not_found() -> None:
    with pytest.raises(KeyError, match="decode"):
        read().spec.role("decode")


def test_what_is_written_reads_back_as_the_same_deployment() -> None:
    deployment = read(resources={"accelerator": 2}, env=[{"name": "A", "value": "b"}])
    assert ModelDeployment.model_validate(deployment.body()) == deployment


def test_what_is_written_leaves_out_what_is_unset() -> None:
    assert read().body() == {
        "apiVersion": "worker.gpustack.ai/v1",
        "kind": "ModelDeployment",
        "metadata": {"name": "qwen", "namespace": "team-a"},
        "spec": {
            "model": {"name": "Qwen/Qwen2.5-72B-Instruct"},
            "engine": {"name": "vLLM", "version": "0.29.0"},
            "roles": [
                {
                    "name": "server",
                    "kind": "Server",
                    "replicas": 1,
                    "size": 1,
                    "instanceType": "gpustack-nvidia-a10g-linux-amd64",
                    "privileged": False,
                }
            ],
        },
    }


def test_the_cache_connector_is_mooncake_unless_it_is_said() -> None:
    document = {**MINIMAL, "spec": {**MINIMAL["spec"], "kvCache": {"poolRef": {"name": "team-a-dram"}}}}
    cache = ModelDeployment.model_validate(document).spec.kv_cache
    assert cache is not None
    assert (cache.pool_ref.name, cache.connector) == ("team-a-dram", "Mooncake")


def test_an_engine_is_one_of_two() -> None:
    assert read().spec.engine.name is EngineName.VLLM
    with pytest.raises(ValidationError, match="'vLLM' or 'SGLang'"):
        ModelDeployment.model_validate({**MINIMAL, "spec": {**MINIMAL["spec"], "engine": {"name": "vllm"}}})


def test_a_null_label_or_annotation_is_the_empty_text_that_the_api_server_stores() -> None:
    read = ObjectMeta.model_validate({"labels": {"team": None, "zone": "a"}, "annotations": {"note": None}})
    assert (read.labels, read.annotations) == ({"team": "", "zone": "a"}, {"note": ""})
