"""Warnings about makers, engine releases, mounts and capacity."""

from typing import Any

import pytest
from lint_worlds import cautions, role, warned
from modeldeployment.admission import telling
from modeldeployment.admission.examples import GONE, Change
from modeldeployment.admission.lints.cautioning import LONGEST
from modeldeployment.admission.lints.seen import version


def server(instance_type: str, **more: Any) -> dict[str, Any]:
    return {**role("Server", instance_type), "name": "other", **more}


def test_roles_with_a_command_are_not_on_the_pool() -> None:
    taken = server("mi300x", command=["vllm", "serve", "m"])
    assert "MDW18" not in [code for code, _ in warned({"spec.roles[1]": taken})]


def test_makers_may_differ_where_no_pool_is_shared() -> None:
    assert warned({"spec.roles[1]": server("mi300x"), "spec.kvCache": GONE}) == []


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"spec.engine": {"name": "vLLM", "version": "0.28.9"}}, "spec.engine.version"),
        ({"spec.engine": {"name": "vLLM", "version": "v0.29.0rc1"}}, "spec.engine.version"),
        ({"spec.engine": {"name": "vLLM", "version": "0.28"}}, "spec.engine.version"),
        ({"spec.engine.image": "gpustack/runner:cuda12.9-vllm0.28.0"}, "spec.engine.image"),
        ({"spec.engine.image": "registry.local:5000/vllm/vllm-openai:v0.28.1"}, "spec.engine.image"),
        ({"spec.roles[0].image": "gpustack/runner:cuda12.9-vllm0.28.0-dev"}, "spec.roles[0].image"),
        ({"spec.engine": {"name": "SGLang", "version": "0.5.17"}}, "spec.engine.version"),
        ({"spec.engine": {"name": "SGLang"}, "spec.engine.image": "lmsysorg/sglang:v0.5.9-cu126"}, "spec.engine.image"),
    ],
)
def test_a_release_below_the_floor_is_told_where_it_is_stated(changes: Change, field: str) -> None:
    assert warned(changes) == [("MDW19", field)]


@pytest.mark.parametrize(
    "changes",
    [
        {"spec.engine.version": "0.29.0"},
        {"spec.engine.version": "0.100.0"},
        {"spec.engine.version": "nightly"},
        {"spec.engine.image": "gpustack/runner:cuda12.9-vllm0.29.0"},
        {"spec.engine.image": "registry.local/team/engine@sha256:0123"},
        {"spec.engine": {"name": "SGLang", "version": "0.5.18"}},
        {"spec.engine.version": "0.28.0", "spec.engine.image": "registry.local/own:1"},
        {"spec.engine.version": "0.28.0", "spec.roles[0].instanceType": "unobserved"},
    ],
)
def test_what_meets_the_floor_or_cannot_be_told_is_let_be(changes: Change) -> None:
    assert warned(changes) == []


@pytest.mark.parametrize(
    ("instance_type", "release", "below"),
    [
        ("ascend-910b", "0.22.0", "0.23.0"),
        ("ascend-910b", "0.23.0", None),
        ("h20-8x", "0.23.0", "0.29.0"),
    ],
)
def test_the_floor_of_vllm_hangs_on_the_maker(instance_type: str, release: str, below: str | None) -> None:
    changes = {
        "spec.engine.version": release,
        "spec.roles[0].instanceType": instance_type,
        "spec.kvCache": GONE,
    }
    assert [f"below {below}" in each.why for each in cautions(changes)] == ([True] if below else [])


@pytest.mark.parametrize(
    ("instance_type", "release", "told"),
    [
        ("h20-8x", "0.29.0", ["MDW19"]),
        ("h20-8x", "0.30.0rc1", ["MDW19"]),
        ("ascend-910b", "0.30.0rc1", []),
        ("ascend-910b", "0.26.0rc1", ["MDW19"]),
    ],
)
def test_counting_tokens_raises_the_floor(instance_type: str, release: str, told: list[str]) -> None:
    changes = {
        "spec.engine.version": release,
        "spec.roles[0].instanceType": instance_type,
        "spec.roles[0].extraArgs": ["--enable-scale-out"],
        "spec.kvCache": GONE,
        "spec.router": {"name": "llm-d-router"},
    }
    assert [each.code for each in cautions(changes)] == told


def test_an_encode_role_raises_the_floor_once_for_all_roles() -> None:
    changes = {
        "spec.engine.version": "0.29.0",
        "spec.roles": [role("Encode"), role("Prefill"), role("Decode")],
        "spec.kvCache": GONE,
        "spec.router": {"name": "llm-d-router"},
    }
    assert sorted(each.code for each in cautions(changes)) == ["MDW07", "MDW19"]


def test_one_version_below_two_floors_is_told_of_both() -> None:
    changes = {
        "spec.engine.version": "0.22.0",
        "spec.roles[1]": server("ascend-910b"),
        "spec.kvCache": GONE,
    }
    assert [each.why.split(":")[0] for each in cautions(changes)] == [
        "vLLM 0.22.0 is below 0.29.0",
        "vLLM-Ascend 0.22.0 is below 0.23.0",
    ]


def test_releases_are_ordered_by_their_numbers_and_candidates_come_first() -> None:
    written = ["0.9.0", "0.29.0rc1", "0.29.0", "0.29.1", "0.30.0rc1", "0.30.0rc2", "0.30.0", "0.100.0"]
    assert [str(each) for each in sorted(version(text) for text in reversed(written))] == written


@pytest.mark.parametrize("path", ["/etc/gpustack/kvcache", "/etc/gpustack/kvcache/mooncake.json"])
def test_a_volume_at_or_below_the_client_configuration_covers_it(path: str) -> None:
    volume = {"mountPath": path, "configMap": {"name": "own"}}
    assert warned({"spec.roles[0].additionalVolumes": [volume]}) == [
        ("MDW20", "spec.roles[0].additionalVolumes[0].mountPath")
    ]


@pytest.mark.parametrize(
    "elsewhere",
    [
        {"spec.kvCache": GONE},
        {"spec.engine": {"name": "SGLang", "version": "0.5.18"}},
        {"spec.roles[0].additionalVolumes[0].mountPath": "/etc/gpustack"},
        {"spec.roles[0].additionalVolumes[0].mountPath": "/etc/gpustack/kvcaches"},
    ],
)
def test_a_volume_that_covers_no_configuration_is_let_be(elsewhere: Change) -> None:
    volume = {"mountPath": "/etc/gpustack/kvcache", "configMap": {"name": "own"}}
    assert warned({"spec.roles[0].additionalVolumes": [volume], **elsewhere}) == []


@pytest.mark.parametrize(
    ("role_changes", "asked"),
    [
        ({"replicas": 9}, 9),
        ({"replicas": 3, "resources": {"accelerator": 3}}, 9),
        ({"replicas": 3, "size": 3}, 9),
        ({"replicas": 1024, "size": 64, "resources": {"accelerator": 8}}, 524288),
        ({"replicas": 8}, None),
        ({"replicas": 1024, "resources": {"accelerator": 0}}, None),
    ],
)
def test_whole_cards_of_every_pod_are_held_against_the_pool(role_changes: dict[str, Any], asked: int | None) -> None:
    told = cautions({f"spec.roles[0].{name}": value for name, value in role_changes.items()})
    assert [f"{asked} whole" in each.why for each in told] == ([True] if asked else [])


def test_roles_on_one_type_are_added_up_and_told_once() -> None:
    assert warned({"spec.roles[0].replicas": 5, "spec.roles[1]": server("h20-8x", replicas=4)}) == [
        ("MDW22", "spec.roles[1].replicas")
    ]


def test_slices_and_partitions_are_no_whole_cards() -> None:
    sliced = {"accelerator": 1, "acceleratorSlicedMemoryPercentage": 10}
    changes = {"spec.roles[0].instanceType": "l40s-slices", "spec.roles[0].replicas": 80}
    assert warned({**changes, "spec.roles[0].resources": sliced}) == []


def test_a_pool_that_published_no_capacity_is_not_judged() -> None:
    unknown = {"h20-8x": {"status.accelerator": GONE}}
    assert "MDW22" not in [code for code, _ in warned({"spec.roles[0].replicas": 900}, known=unknown)]


def test_a_warning_about_capacity_stays_whole_with_the_longest_type_there_is() -> None:
    name = "t" * 253
    known = {"h20-8x": {"metadata.name": name}}
    told = cautions({"spec.roles[0].instanceType": name, "spec.roles[0].replicas": 1024}, known=known)
    assert [each.code for each in told] == ["MDW22"]
    assert len(telling.caution(told[0])) <= LONGEST
