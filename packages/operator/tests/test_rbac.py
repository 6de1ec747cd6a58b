"""What the operator may do."""

from typing import Any

from modeldeployment.operator import rbac


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
