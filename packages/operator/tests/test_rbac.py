"""What the operator may do."""

from typing import Any

import pytest
from modeldeployment.api import InstanceType, ModelDeployment
from modeldeployment.api.choices import RouterName
from modeldeployment.operator import rbac
from modeldeployment.render import Facts, RouterRendering, render


def every_rule(namespace: str = "serving") -> list[dict[str, Any]]:
    return [rule for each in rbac.manifests(namespace) for rule in each.get("rules", [])]


def test_nothing_is_granted_by_wildcard() -> None:
    assert [rule for rule in every_rule() if "*" in (*rule["apiGroups"], *rule["resources"], *rule["verbs"])] == []


def test_secrets_are_read_in_its_own_namespace_alone() -> None:
    cluster_wide = next(each for each in rbac.manifests("serving") if each["kind"] == "ClusterRole")
    assert [rule for rule in cluster_wide["rules"] if "secrets" in rule["resources"]] == []


def test_nobody_is_executed_into() -> None:
    assert [rule for rule in every_rule() if "pods/exec" in rule["resources"]] == []


def test_the_bindings_name_the_account_in_its_namespace() -> None:
    kinds = {each["kind"]: each for each in rbac.manifests("serving")}
    account = {"kind": "ServiceAccount", "name": "modeldeployment-operator", "namespace": "serving"}
    assert kinds["ServiceAccount"]["metadata"] == {"name": "modeldeployment-operator", "namespace": "serving"}
    assert kinds["ClusterRoleBinding"]["subjects"] == [account]
    assert kinds["RoleBinding"]["subjects"] == [account]
    assert kinds["RoleBinding"]["metadata"]["namespace"] == "serving"
    assert kinds["Role"]["metadata"]["namespace"] == "serving"


def test_every_grant_says_why() -> None:
    assert [grant for grant in rbac.grants() if not grant.why] == []


def allowed(verb: str, group: str, resource: str) -> bool:
    """Whether the operator's ClusterRole allows this everywhere."""
    cluster_wide = next(each for each in rbac.manifests("serving") if each["kind"] == "ClusterRole")
    return any(
        verb in rule["verbs"] and group in rule["apiGroups"] and resource in rule["resources"]
        for rule in cluster_wide["rules"]
        if "resourceNames" not in rule
    )


@pytest.mark.parametrize("router", RouterName)
def test_what_a_router_is_granted_the_operator_holds_itself_and_the_grant_ends_at_the_namespace(
    router: RouterName,
) -> None:
    engine = "SGLang" if router is RouterName.SGLANG else "vLLM"
    objects = router_objects(router, engine)
    roles = [each for each in objects if each["kind"].endswith(("Role", "RoleBinding"))]
    assert [(each["kind"], each["metadata"]["namespace"]) for each in roles] == [
        ("Role", "team"),
        ("RoleBinding", "team"),
    ]
    role, binding = roles
    assert role["rules"] == [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch"]}]
    for rule in role["rules"]:
        assert all(
            allowed(verb, group, what)
            for verb in rule["verbs"]
            for group in rule["apiGroups"]
            for what in rule["resources"]
        )
    assert binding["roleRef"] == {
        "apiGroup": "rbac.authorization.k8s.io",
        "kind": "Role",
        "name": role["metadata"]["name"],
    }
    assert [each["namespace"] for each in binding["subjects"]] == ["team"]


def test_the_operator_cannot_grant_more_than_it_holds() -> None:
    everything = {verb for rule in every_rule() for verb in rule["verbs"]}
    assert not everything & {"bind", "escalate", "impersonate"}


def router_objects(router: RouterName, engine: str) -> list[dict[str, Any]]:
    """Everything that a router's deployment wants of the API server beside its replicas."""
    roles = [{"name": "server", "instanceType": "a10"}]
    spec = {"model": {"name": "qwen"}, "engine": {"name": engine, "image": "e:1"}, "roles": roles}
    deployment = ModelDeployment.model_validate(
        {"metadata": {"name": "chat", "namespace": "team", "uid": "u"}, "spec": {**spec, "router": {"name": router}}}
    )
    a10 = InstanceType.model_validate(
        {
            "metadata": {"name": "a10"},
            "spec": {"os": "linux", "arch": "amd64", "acceleratable": True},
            "status": {"entrance": "q", "detail": {"manufacturer": "nvidia"}},
        }
    )
    rendered = render(deployment, Facts({"a10": a10})).router
    assert isinstance(rendered, RouterRendering)
    return list(rendered.objects)
