"""Requests out of intentions."""

import pytest
from modeldeployment.kube import PatchType, Request, Verb, custom, kinds, request_for
from modeldeployment.kube.requests import delete_options


def test_a_core_object_is_addressed_under_api() -> None:
    assert request_for(Verb.GET, kinds.PODS, "models", "engine-0") == Request(
        method="GET", target="/api/v1/namespaces/models/pods/engine-0", repeatable=True
    )


def test_a_group_object_is_addressed_under_apis_with_its_subresource() -> None:
    request = request_for(Verb.PATCH, kinds.WORKLOADS, "models", "w", subresource="status", body={"status": {}})
    assert request == Request(
        method="PATCH",
        target="/apis/kueue.x-k8s.io/v1beta2/namespaces/models/workloads/w/status",
        body=b'{"status":{}}',
        content_type="application/merge-patch+json",
        repeatable=True,
    )


def test_a_cluster_wide_kind_ignores_the_namespace() -> None:
    assert request_for(Verb.GET, kinds.NODES, "models", "node-1").target == "/api/v1/nodes/node-1"


def test_a_list_over_all_namespaces_names_none_and_escapes_its_selectors() -> None:
    request = request_for(Verb.LIST, kinds.PODS, query={"labelSelector": "a/b in (x,y)", "limit": "5"})
    assert request.target == "/api/v1/pods?labelSelector=a%2Fb+in+%28x%2Cy%29&limit=5"


def test_names_are_escaped() -> None:
    kind = custom("g.io", "v1", "things", "Thing")
    assert request_for(Verb.GET, kind, "n", "a/b").target == "/apis/g.io/v1/namespaces/n/things/a%2Fb"


def test_bytes_are_sent_as_they_are() -> None:
    assert request_for(Verb.CREATE, kinds.PODS, "models", body=b'{"a":  1}').body == b'{"a":  1}'


def test_writing_a_namespaced_kind_without_a_namespace_is_refused() -> None:
    with pytest.raises(ValueError, match="create pods : namespace is missing"):
        request_for(Verb.CREATE, kinds.PODS, body=b"{}")


def test_metadata_only_kinds_ask_for_partial_objects() -> None:
    one = request_for(Verb.GET, kinds.PODS.partial(), "models", "engine-0")
    many = request_for(Verb.LIST, kinds.PODS.partial(), "models")
    assert one.accept == "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
    assert many.accept == "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"


@pytest.mark.parametrize(
    ("verb", "how", "repeatable"),
    [
        (Verb.GET, PatchType.MERGE, True),
        (Verb.LIST, PatchType.MERGE, True),
        (Verb.WATCH, PatchType.MERGE, True),
        (Verb.REPLACE, PatchType.MERGE, True),
        (Verb.PATCH, PatchType.MERGE, True),
        (Verb.PATCH, PatchType.APPLY, True),
        (Verb.PATCH, PatchType.JSON, False),
        (Verb.CREATE, PatchType.MERGE, False),
        (Verb.DELETE, PatchType.MERGE, False),
    ],
)
def test_only_what_is_safe_twice_may_be_repeated(verb: Verb, how: PatchType, repeatable: bool) -> None:
    assert request_for(verb, kinds.PODS, "models", "engine-0", how=how).repeatable is repeatable


def test_leases_do_not_wait_in_line() -> None:
    assert request_for(Verb.REPLACE, kinds.LEASES, "models", "leader").urgent
    assert not request_for(Verb.REPLACE, kinds.PODS, "models", "engine-0").urgent


def test_delete_options_hold_only_what_was_wished() -> None:
    assert delete_options(None, None, None, None) == {}
    assert delete_options("u1", "7", 0, "Background") == {
        "preconditions": {"uid": "u1", "resourceVersion": "7"},
        "gracePeriodSeconds": 0,
        "propagationPolicy": "Background",
    }
