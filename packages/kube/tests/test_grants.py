"""RBAC rules out of grants."""

from modeldeployment.kube import Grant, kinds, rules


def test_grants_about_one_resource_become_one_rule() -> None:
    asked = (
        Grant(kinds.PODS, ("list", "watch"), "see replicas"),
        Grant(kinds.PODS, ("create", "list"), "make replicas"),
    )
    assert rules(asked) == [{"apiGroups": [""], "resources": ["pods"], "verbs": ["list", "watch", "create"]}]


def test_a_subresource_is_another_resource() -> None:
    asked = (
        Grant(kinds.WORKLOADS, ("patch",), "mark"),
        Grant(kinds.WORKLOADS, ("patch",), "tell", "status"),
    )
    assert rules(asked) == [
        {"apiGroups": ["kueue.x-k8s.io"], "resources": ["workloads"], "verbs": ["patch"]},
        {"apiGroups": ["kueue.x-k8s.io"], "resources": ["workloads/status"], "verbs": ["patch"]},
    ]


def test_a_grant_for_named_objects_stays_apart_from_one_for_all() -> None:
    asked = (
        Grant(kinds.LEASES, ("create",), "take"),
        Grant(kinds.LEASES, ("get", "patch"), "hold", names=("operator",)),
    )
    assert rules(asked) == [
        {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["create"]},
        {
            "apiGroups": ["coordination.k8s.io"],
            "resources": ["leases"],
            "verbs": ["get", "patch"],
            "resourceNames": ["operator"],
        },
    ]
