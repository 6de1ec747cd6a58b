"""Stored objects, read into the models of this release, or refused by the field that does not fit."""

from datetime import UTC, datetime

import msgspec
import pytest
from modeldeployment.kube import shapes
from modeldeployment.reconcile import Unreadable, reading

META = shapes.ObjectMeta(
    name="chat",
    namespace="team",
    uid="u",
    resource_version="7",
    generation=3,
    labels={"app": "x"},
    finalizers=("gpustack.ai/controlled",),
    creation_timestamp="2030-01-01T00:00:00Z",
    deletion_timestamp="2030-01-02T00:00:00Z",
)
SPEC = {"model": {"name": "qwen"}, "engine": {"name": "vLLM"}, "roles": [{"name": "server", "instanceType": "a10"}]}


def stored(spec: object, status: object = None) -> shapes.Custom:
    """A stored object with this spec."""
    return shapes.Custom(
        metadata=META, spec=msgspec.Raw(msgspec.json.encode(spec)), status=msgspec.Raw(msgspec.json.encode(status))
    )


def test_a_stored_deployment_is_read_with_its_metadata_and_defaults() -> None:
    read = reading.deployment(stored(SPEC, {"phase": "Ready"}))
    assert (read.metadata.name, read.metadata.namespace, read.metadata.generation) == ("chat", "team", 3)
    assert read.metadata.finalizers == ("gpustack.ai/controlled",)
    assert read.metadata.deletion_timestamp == datetime(2030, 1, 2, tzinfo=UTC)
    assert (read.spec.roles[0].replicas, read.spec.roles[0].size) == (1, 1)
    assert read.status is not None
    assert read.status.phase == "Ready"


def test_a_deployment_without_a_status_reads_as_having_none() -> None:
    assert reading.deployment(stored(SPEC)).status is None


def test_a_field_of_a_later_release_is_ignored() -> None:
    assert reading.deployment(stored({**SPEC, "forecast": {"name": "new"}})).spec.model.name == "qwen"


def test_a_value_that_does_not_fit_is_refused_by_field_value_and_way_out() -> None:
    roles = [{"name": "server", "instanceType": "a10", "replicas": 0}]
    with pytest.raises(Unreadable) as refused:
        reading.deployment(stored({**SPEC, "roles": roles}))
    assert str(refused.value) == (
        "ModelDeployment chat: spec.roles.0.replicas is 0: Input should be greater than or equal to 1; "
        "apply the object again so that the API server checks it against the installed CRD"
    )


def test_a_missing_field_is_named_without_what_stands_beside_it() -> None:
    with pytest.raises(Unreadable) as refused:
        reading.deployment(stored({"model": {"name": "m"}, "roles": [{"env": [{"name": "TOKEN", "value": "secret"}]}]}))
    assert "spec.engine: Field required" in str(refused.value)
    assert "secret" not in str(refused.value)


def test_a_stored_instance_type_is_read_by_name() -> None:
    read = reading.instance_type(stored({"os": "linux", "arch": "amd64"}, {"entrance": "q"}))
    assert (read.metadata.name, read.entrance, read.acceleratable) == ("chat", "q", False)


def test_an_instance_type_that_does_not_fit_names_its_kind() -> None:
    with pytest.raises(Unreadable, match=r"^InstanceType chat: spec\.acceleratable is 'maybe'"):
        reading.instance_type(stored({"os": "linux", "arch": "amd64", "acceleratable": "maybe"}))
