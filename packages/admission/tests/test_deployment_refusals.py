"""What holds of all refusals of shape, names, identity and resources: order, patches, causes."""

from typing import Any

import pytest
from admission_case import Case
from admission_tables import TABLES
from modeldeployment.admission import patching
from modeldeployment.admission.examples import CLUSTER, DEPLOYMENT, GONE, changed
from modeldeployment.admission.facts import Facts, Policy
from modeldeployment.admission.gathering import from_manifests
from modeldeployment.admission.reviewing import review
from modeldeployment.admission.verdict import Cause, Refusal

FACTS = from_manifests(CLUSTER, Policy())
PATCHED = ("MD009", "MD033", "MD034", "MD035", "MD036", "MD042")
"""Codes of these rows for which one edit can be right."""
CASES = [
    case for table in TABLES for case in table if not case.scaler and any(each.code in PATCHED for each in case.refused)
]


def refused(changes: dict[str, Any], old: dict[str, Any] | None = None, facts: Facts = FACTS) -> list[Refusal]:
    stored = None if old is None else changed(DEPLOYMENT, old)
    return list(review(changed(DEPLOYMENT, changes), stored, facts).refusals)


@pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])
def test_each_patch_answers_the_refusal_it_comes_with(case: Case) -> None:
    new, old = case.example.objects()
    facts = from_manifests(case.example.cluster(), case.policy)
    before = review(new, old, facts, case.actor)
    for each in before.refusals:
        if each.code not in PATCHED or not each.patch:
            continue
        after = review(patching.applied(before.defaulted, each.patch), old, facts, case.actor)
        assert (each.code, each.field, each.value) not in [
            (left.code, left.field, left.value) for left in after.refusals
        ]


def test_a_patch_of_the_freeze_puts_the_stored_value_back() -> None:
    stored = {"spec.roles[0].command": ["vllm", "serve", "/models/qwen"], "spec.roles[0].resources.interface": 0}
    new = {"spec.model.artifactRef": {"name": "w"}, "spec.roles[0].resources": {"accelerator": 2}}
    patches = {each.field: list(each.patch) for each in refused(new, old=stored)}
    assert patches == {
        "spec.model": [{"op": "add", "path": "/spec/model", "value": {"name": "Qwen/Qwen2.5-72B-Instruct"}}],
        "spec.roles[0].resources": [
            {"op": "add", "path": "/spec/roles/0/resources", "value": {"accelerator": "1", "interface": "0"}}
        ],
        "spec.roles[0].command": [
            {"op": "add", "path": "/spec/roles/0/command", "value": ["vllm", "serve", "/models/qwen"]}
        ],
    }


def test_a_role_that_went_is_put_back_whole_and_one_that_came_is_taken_out() -> None:
    second = {"name": "second", "kind": "Server", "instanceType": "mi300x", "image": "registry.example/runner:1"}
    (gone,) = refused({}, old={"spec.roles[1]": second})
    assert list(gone.patch) == [{"op": "add", "path": "/spec/roles/-", "value": second}]
    (new,) = refused({"spec.roles[1]": second}, old={})
    assert list(new.patch) == [{"op": "remove", "path": "/spec/roles/1"}]


def test_a_count_that_must_be_one_is_set_to_one() -> None:
    sliced = {"accelerator": 3, "acceleratorSlicedMemoryPercentage": 50}
    (refusal,) = refused({"spec.roles[0].instanceType": "l40s-slices", "spec.roles[0].resources": sliced})
    assert list(refusal.patch) == [{"op": "add", "path": "/spec/roles/0/resources/accelerator", "value": 1}]


def test_refusals_come_in_the_order_of_the_fields() -> None:
    wrong = {
        "metadata.name": "qwen.72b",
        "spec.engine.version": GONE,
        "spec.kvCache.poolRef.name": "",
        "spec.roles": [
            {
                "name": "server",
                "instanceType": "h20-8x",
                "resources": {"accelerator": 9, "interface": -1},
                "topology": {"requiredLevel": "kubernetes.io/hostname"},
                "elasticEp": {"width": 2},
                "size": 2,
            },
            {"name": "server", "kind": "Prefill", "instanceType": "h30"},
        ],
    }
    assert [(each.code, each.field) for each in refused(wrong)] == [
        ("MD048", "metadata.name"),
        ("MD010", "spec.engine.version"),
        ("MD011", "spec.kvCache.poolRef.name"),
        ("MD005", "spec.roles[0]"),
        ("MD003", "spec.roles[0].name"),
        ("MD006", "spec.roles[0].kind"),
        ("MD035", "spec.roles[0].resources.accelerator"),
        ("MD016", "spec.roles[0].resources.interface"),
        ("MD009", "spec.roles[0].topology.requiredLevel"),
        ("MD042", "spec.roles[0].elasticEp"),
        ("MD002", "spec.roles[1].name"),
        ("MD003", "spec.roles[1].name"),
        ("MD006", "spec.roles[1].kind"),
        ("MD049", "spec.roles[1].instanceType"),
    ]


def test_what_is_not_ready_is_no_refusal_and_keeps_the_object_out() -> None:
    sliced = {"accelerator": 1, "acceleratorSlicedMemoryPercentage": 50}
    new = changed(DEPLOYMENT, {"spec.roles[0].instanceType": "unobserved", "spec.roles[0].resources": sliced})
    verdict = review(new, None, FACTS)
    assert (verdict.refusals, verdict.allowed) == ((), False)
    (held,) = verdict.unready
    assert held.field == "spec.roles[0].resources"
    assert "unobserved" in held.why
    assert "retry" in held.why


def test_what_is_not_ready_does_not_hide_what_is_wrong() -> None:
    sliced = {"accelerator": 1, "acceleratorSlicedMemoryPercentage": 50, "interface": -1}
    new = changed(DEPLOYMENT, {"spec.roles[0].instanceType": "unobserved", "spec.roles[0].resources": sliced})
    verdict = review(new, None, FACTS)
    assert [each.code for each in verdict.refusals] == ["MD016"]
    assert len(verdict.unready) == 1


def test_a_missing_type_is_not_found_and_a_mode_not_offered_is_forbidden() -> None:
    sliced = {"spec.roles[0].resources": {"accelerator": 1, "acceleratorSlicedCoresPercentage": 50}}
    assert [each.cause for each in refused(sliced)] == [Cause.FORBIDDEN]
    assert [each.cause for each in refused({"spec.roles[0].instanceType": "h30"})] == [Cause.NOT_FOUND]
    assert [each.cause for each in refused({"spec.kvCache.poolRef.name": ""})] == [Cause.REQUIRED]
    assert [each.cause for each in refused({"spec.roles[1]": DEPLOYMENT["spec"]["roles"][0]})] == [Cause.DUPLICATE]


def test_rules_that_read_types_or_pools_say_nothing_where_nobody_looked() -> None:
    wrong = {
        "spec.roles[0].resources": {"accelerator": 99, "interface": 1},
        "spec.roles[1]": {"name": "none", "instanceType": "h20-8x", "resources": {"accelerator": 0}},
    }
    assert refused(wrong, facts=Facts()) == []


def test_a_role_of_many_replicas_costs_no_walk_over_them() -> None:
    roles = [
        {"name": f"x-r{index}", "instanceType": "h20-8x", "size": 64, "replicas": 1024, "resources": {"accelerator": 1}}
        for index in range(9)
    ]
    new = {"spec.roles": [*roles, {"name": "x-r8-r1023", "instanceType": "h20-8x", "resources": {"accelerator": 1}}]}
    (refusal,) = refused(new)
    assert (refusal.code, refusal.field) == ("MD004", "spec.roles[9].name")
    assert '"qwen-72b-x-r8-r1023"' in refusal.why


ARGUMENTS = "spec.roles[0].extraArgs"
LLM_D = {"spec.router": {"name": "llm-d-router"}}
FIXED = "is fixed here"


@pytest.mark.parametrize(
    ("new", "old", "field", "way_out"),
    [
        ({ARGUMENTS: ["--kv-transfer-config={}"]}, {}, f"{ARGUMENTS}[0]", FIXED),
        ({ARGUMENTS: ["--kv-cache-dtype=fp8"]}, {}, f"{ARGUMENTS}[0]", "takes another deployment"),
        ({ARGUMENTS: ["--served-model-name=other"]}, {}, ARGUMENTS, FIXED),
        ({ARGUMENTS: ["-tp", "two"]}, {}, "spec.roles[0]", FIXED),
        ({ARGUMENTS: ["-dpm"]}, {}, ARGUMENTS, FIXED),
        (
            {ARGUMENTS: ["-tp", "2"]},
            {},
            "spec.roles[0].resources.accelerator",
            "lower a degree in spec.roles[0].extraArgs, or create another deployment",
        ),
        (
            {"spec.roles[0].resources.accelerator": 9},
            {"spec.roles[0].resources.accelerator": 9},
            "spec.roles[0].resources.accelerator",
            "add nodes to its pool, or create another deployment",
        ),
        (
            {"spec.roles[0].name": "router", **LLM_D},
            {"spec.roles[0].name": "router"},
            "spec.roles[0].name",
            "leave spec.router out, or create another deployment",
        ),
        (
            {"metadata.name": "q.72b", **LLM_D},
            {"metadata.name": "q.72b"},
            "spec.router",
            "leave spec.router out, or create another deployment",
        ),
        (
            {"spec.roles[0].resources.interface": 1, "spec.kvTransfer.protocol": "TCP"},
            {"spec.roles[0].resources.interface": 1, "spec.kvTransfer.protocol": "RDMA"},
            "spec.roles[0].resources.interface",
            "or create another deployment without interface, which is fixed here",
        ),
    ],
    ids=lambda value: next(iter(value), "nothing") if isinstance(value, dict) else None,
)
def test_no_way_out_of_an_update_is_another_refusal(
    new: dict[str, Any], old: dict[str, Any], field: str, way_out: str
) -> None:
    (refusal,) = refused(new, old)
    assert refusal.field == field
    assert way_out in refusal.way_out
