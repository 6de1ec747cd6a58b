"""The generated CRDs against the ones kept under golden/; UPDATE_GOLDEN=1 rewrites those instead of comparing."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from modeldeployment.api.crds import crds

GOLDEN = Path(__file__).parent / "golden"
NAMES = (
    "instancetypes.worker.gpustack.ai",
    "kvcachebackends.worker.gpustack.ai",
    "kvcachepools.worker.gpustack.ai",
    "kvcachepoolbindings.worker.gpustack.ai",
    "modelartifacts.worker.gpustack.ai",
    "modeldeployments.worker.gpustack.ai",
    "modeldeploymentscalers.worker.gpustack.ai",
)


def named(name: str) -> dict[str, Any]:
    return next(crd for crd in crds() if crd["metadata"]["name"] == name)


def nodes(schema: dict[str, Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    yield path, schema
    for name, child in schema.get("properties", {}).items():
        yield from nodes(child, f"{path}.{name}")
    if "items" in schema:
        yield from nodes(schema["items"], f"{path}[]")
    if "additionalProperties" in schema:
        yield from nodes(schema["additionalProperties"], f"{path}[*]")


def schema_nodes() -> list[tuple[str, dict[str, Any]]]:
    return [
        (f"{crd['spec']['names']['kind']}{path}", node)
        for crd in crds()
        for path, node in nodes(crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"])
    ]


def test_what_is_named_is_applied_before_what_names_it() -> None:
    assert tuple(crd["metadata"]["name"] for crd in crds()) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_crd_is_the_one_kept_as_golden(name: str) -> None:
    generated = yaml.safe_dump(named(name), sort_keys=False, width=120, allow_unicode=True)
    path = GOLDEN / f"{name}.yaml"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(generated, encoding="utf-8")
    assert generated == path.read_text(encoding="utf-8"), "if the change is meant, run the tests with UPDATE_GOLDEN=1"


def test_each_call_gives_equal_and_separate_objects() -> None:
    first, second = crds(), crds()
    assert first == second
    first[0]["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"].clear()
    assert crds() == second


def test_nothing_in_a_crd_is_shared_with_another_part_of_it() -> None:
    assert "&id" not in yaml.safe_dump_all(crds())


def test_every_list_says_how_it_merges() -> None:
    assert [path for path, node in schema_nodes() if node.get("type") == "array" and not merges(node)] == []


def merges(node: dict[str, Any]) -> bool:
    if node["x-kubernetes-list-type"] == "atomic":
        return True
    keys, item = node["x-kubernetes-list-map-keys"], node["items"]
    return all(key in item["required"] or "default" in item["properties"][key] for key in keys)


def test_every_field_is_described() -> None:
    own = {"apiVersion", "kind", "metadata"}
    undescribed = [
        path
        for path, node in schema_nodes()
        if "description" not in node and not path.endswith(("[]", "[*]")) and path.split(".", 1)[-1] not in own
    ]
    assert undescribed == []


def test_descriptions_speak_to_users() -> None:
    told = [node["description"] for _, node in schema_nodes() if "description" in node]
    assert [text for text in told if "decisions D" in text or "facts " in text or "`" in text] == []


def test_every_rule_names_its_field_and_says_why() -> None:
    for path, node in schema_nodes():
        for rule in node.get("x-kubernetes-validations", []):
            assert rule["message"], path
            assert "\n" not in rule["message"], path
            target = rule.get("fieldPath", "").removeprefix(".")
            assert not target or target in node["properties"], path


def test_each_kind_has_a_short_name_a_category_and_a_scope() -> None:
    told = {crd["spec"]["names"]["kind"]: (crd["spec"]["names"]["shortNames"], crd["spec"]["scope"]) for crd in crds()}
    assert told == {
        "InstanceType": (["instype"], "Cluster"),
        "KVCacheBackend": (["kvcb"], "Cluster"),
        "KVCachePool": (["kvcp"], "Cluster"),
        "KVCachePoolBinding": (["kvcpb"], "Namespaced"),
        "ModelArtifact": (["mart"], "Namespaced"),
        "ModelDeployment": (["md"], "Namespaced"),
        "ModelDeploymentScaler": (["mds"], "Namespaced"),
    }
    assert {tuple(crd["spec"]["names"]["categories"]) for crd in crds()} == {("gpustack",)}
    assert [crd["spec"]["versions"][0]["subresources"] for crd in crds()] == [{"status": {}}] * 7


def test_a_scaler_shows_its_target_mode_algorithm_and_three_conditions() -> None:
    columns = named("modeldeploymentscalers.worker.gpustack.ai")["spec"]["versions"][0]["additionalPrinterColumns"]
    assert [(column["name"], column["jsonPath"]) for column in columns] == [
        ("Target", ".spec.targetRef.name"),
        ("Mode", ".spec.mode"),
        ("Algorithm", ".spec.algorithm.type"),
        ("Bound", ".status.conditions[?(@.type=='Bound')].status"),
        ("Active", ".status.conditions[?(@.type=='Active')].status"),
        ("Blocked", ".status.conditions[?(@.type=='Blocked')].status"),
    ]


def test_a_role_is_of_one_of_four_kinds_and_a_server_unless_it_says_so() -> None:
    kind = dict(schema_nodes())["ModelDeployment.spec.roles[]"]["properties"]["kind"]
    assert kind["enum"] == ["Server", "Prefill", "Decode", "Encode"]
    assert kind["default"] == "Server"


def test_amounts_default_to_the_spelling_of_the_documents() -> None:
    spec = dict(schema_nodes())
    throughput = spec["ModelDeploymentScaler.spec.algorithm.tokenThroughput"]["properties"]
    predictive = spec["ModelDeploymentScaler.spec.algorithm.predictive"]["properties"]
    proportional = spec["ModelDeploymentScaler.spec.algorithm.proportional"]["properties"]
    assert proportional["tolerance"]["default"] == "0.1"
    assert [throughput[name]["default"] for name in ("panicThreshold", "ttftTargetMilliseconds")] == ["2", "500"]
    assert throughput["itlTargetMilliseconds"]["default"] == "50"
    assert [predictive[name]["default"] for name in ("qLevel", "qTrend", "measurementNoise")] == ["1", "0.1", "10"]


def test_an_object_whose_fields_have_defaults_is_stored_with_them() -> None:
    defaulted = [path for path, node in schema_nodes() if node.get("default") == {}]
    assert defaulted == [
        "KVCacheBackend.spec.connection.managed.leader",
        "KVCacheBackend.spec.transport",
        "ModelDeploymentScaler.spec.sampling",
        "ModelDeploymentScaler.spec.algorithm",
        "ModelDeploymentScaler.spec.behavior",
        "ModelDeploymentScaler.spec.behavior.scaleUp",
        "ModelDeploymentScaler.spec.behavior.scaleDown",
        "ModelDeploymentScaler.spec.rebalance",
    ]


def test_only_what_others_write_keeps_fields_that_are_not_known() -> None:
    open_nodes = [path for path, node in schema_nodes() if "x-kubernetes-preserve-unknown-fields" in node]
    assert open_nodes == [
        "InstanceType.status",
        "InstanceType.status.detail",
        "KVCacheBackend.spec.connection.managed.members[].hostPaths[]",
        "KVCacheBackend.spec.connection.managed.members[].localDisks",
        "KVCacheBackend.spec.connection.managed.members[].securityContext",
        "KVCacheBackend.status",
        "KVCacheBackend.status.capacity",
        "KVCachePool.status",
        "KVCachePoolBinding.status",
        "ModelArtifact.status",
        "ModelArtifact.status.resolved",
    ]
