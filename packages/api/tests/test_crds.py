"""The generated CRDs against the ones kept under golden/; UPDATE_GOLDEN=1 rewrites those instead of comparing."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from modeldeployment.api import RoleKind
from modeldeployment.api.crds import crds

GOLDEN = Path(__file__).parent / "golden"
NAMES = ("instancetypes.worker.gpustack.ai", "modeldeployments.worker.gpustack.ai")


def named(name: str) -> dict[str, Any]:
    return next(crd for crd in crds() if crd["metadata"]["name"] == name)


def nodes(schema: dict[str, Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    yield path, schema
    for name, child in schema.get("properties", {}).items():
        yield from nodes(child, f"{path}.{name}")
    if "items" in schema:
        yield from nodes(schema["items"], f"{path}[]")


def schema_nodes() -> list[tuple[str, dict[str, Any]]]:
    return [
        (f"{crd['spec']['names']['kind']}{path}", node)
        for crd in crds()
        for path, node in nodes(crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"])
    ]


def test_instance_types_are_applied_before_the_deployments_that_name_them() -> None:
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
        if "description" not in node and not path.endswith("[]") and path.split(".", 1)[-1] not in own
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


def test_of_the_kinds_the_models_read_only_server_is_admitted() -> None:
    role = dict(schema_nodes())["ModelDeployment.spec.roles[]"]
    assert role["properties"]["kind"]["enum"] == ["Server"]
    assert role["properties"]["kind"]["default"] == "Server"
    assert [kind.value for kind in RoleKind] == ["Server", "Prefill", "Decode", "Encode"]


def test_what_a_later_release_adds_is_not_in_the_schema_yet() -> None:
    spec = dict(schema_nodes())["ModelDeployment.spec"]["properties"]
    assert list(spec) == ["model", "engine", "kvCache", "roles"]
    assert list(spec["model"]["properties"]) == ["name"]
    assert "elasticEp" not in spec["roles"]["items"]["properties"]


def test_only_status_of_an_instance_type_keeps_what_it_does_not_know() -> None:
    open_nodes = [path for path, node in schema_nodes() if "x-kubernetes-preserve-unknown-fields" in node]
    assert open_nodes == ["InstanceType.status", "InstanceType.status.detail"]
