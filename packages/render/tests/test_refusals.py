from typing import Any

import pytest
from modeldeployment.api.conditions import RefusalReason
from modeldeployment.api.instancetype import InstanceType
from modeldeployment.render import RenderRefusal, render
from render_worlds import deployment, facts, instance_type, role


def refused(fields: dict[str, Any], *types: InstanceType) -> RenderRefusal:
    with pytest.raises(RenderRefusal) as refusal:
        render(deployment(role(**fields)), facts(*types))
    assert str(refusal.value) == refusal.value.message
    assert refusal.value.role == fields.get("name", "server")
    return refusal.value


def test_a_missing_instance_type_may_still_appear() -> None:
    refusal = refused({}, instance_type("other"))
    assert (refusal.reason, refusal.retryable) == (RefusalReason.INSTANCE_TYPE_NOT_FOUND, True)
    assert refusal.message == (
        "spec.roles[server].instanceType is 'h20-8x': no InstanceType of that name exists; create it, or create a "
        "deployment that names another"
    )


def test_a_type_without_an_entrance_is_waited_for() -> None:
    bare = InstanceType.model_validate(instance_type().body() | {"status": {}})
    refusal = refused({}, bare)
    assert (refusal.reason, refusal.retryable) == (RefusalReason.INSTANCE_TYPE_NOT_READY, True)
    assert "publishes no queue entrance yet" in refusal.message


@pytest.mark.parametrize(
    ("fields", "longest", "length"),
    [
        ({"name": "x" * 59}, "qwen-" + "x" * 59, 64),
        ({"name": "x" * 53, "size": 11, "replicas": 11}, "qwen-" + "x" * 53 + "-r10-m10", 66),
    ],
)
def test_names_that_are_no_hostnames_are_refused(fields: dict[str, Any], longest: str, length: int) -> None:
    refusal = refused(fields)
    assert (refusal.reason, refusal.retryable) == (RefusalReason.NAME_TOO_LONG, False)
    assert f"{longest!r} would have {length} characters" in refusal.message
    assert "shorten the role, shorten the deployment, or declare fewer replicas" in refusal.message


def test_the_first_role_that_cannot_be_rendered_is_named() -> None:
    with pytest.raises(RenderRefusal) as refusal:
        render(deployment(role("a"), role("b", instanceType="gone"), role("c", instanceType="lost")), facts())
    assert refusal.value.role == "b"


def test_elastic_width_is_not_left_out_in_silence() -> None:
    refusal = refused({"elasticEp": {"width": 4}})
    assert (refusal.reason, refusal.retryable) == (RefusalReason.NOT_SUPPORTED, False)
    assert refusal.message == "spec.roles[server].elasticEp is not rendered by this release; leave it out"


def test_what_no_release_renders_is_refused_before_the_cluster_is_looked_at() -> None:
    with pytest.raises(RenderRefusal) as refusal:
        render(deployment(role("a", instanceType="gone"), role("b", elasticEp={"width": 4})), facts())
    assert (refusal.value.reason, refusal.value.role) == (RefusalReason.NOT_SUPPORTED, "b")
