"""Warnings about routers that do less than their owner expects."""

from typing import Any

import pytest
from lint_worlds import cautions, role, warned
from modeldeployment.admission.examples import GONE, Change
from modeldeployment.admission.facts import Policy

LLM_D: Change = {"spec.router": {"name": "llm-d-router"}}
PAIR: Change = {"spec.roles": [role("Prefill"), role("Decode")], "spec.kvCache": GONE, **LLM_D}


@pytest.mark.parametrize(
    "flag", ["--enable-scale-out", "--enable_scale_out", "--enable-scale-o", "--enable-scale-out=true"]
)
def test_the_flag_that_counts_tokens_counts_in_every_spelling_vllm_reads(flag: str) -> None:
    assert warned({**LLM_D, "spec.roles[0].extraArgs": [flag]}) == []


@pytest.mark.parametrize("arguments", [["--", "--enable-scale-out"], ["--enable-scale-outs"], ["enable-scale-out"]])
def test_what_only_looks_like_the_flag_does_not_count(arguments: list[str]) -> None:
    assert ("MDW08", "spec.roles[0].extraArgs") in warned({**LLM_D, "spec.roles[0].extraArgs": arguments})


def test_each_vllm_role_without_the_flag_is_told() -> None:
    fields = warned(PAIR)
    assert fields == [("MDW08", "spec.roles[0].extraArgs"), ("MDW08", "spec.roles[1].extraArgs")]


def test_the_patch_appends_the_flag_to_the_arguments_there_are() -> None:
    (caution,) = cautions({**LLM_D, "spec.roles[0].extraArgs": ["--max-model-len=4096"]})
    assert caution.patch == ({"op": "add", "path": "/spec/roles/0/extraArgs/1", "value": "--enable-scale-out"},)


def test_a_command_is_searched_for_the_flag_and_gets_no_patch() -> None:
    command = {**LLM_D, "spec.kvCache": GONE, "spec.roles[0].command": ["vllm", "serve", "m", "--port=8000"]}
    (caution,) = cautions(command)
    assert (caution.field, caution.patch) == ("spec.roles[0].command", ())
    assert warned({**command, "spec.roles[0].command": ["vllm", "serve", "m", "--enable-scale-out"]}) == []


def test_a_shell_may_hold_the_flag_where_nobody_reads_it() -> None:
    shell = {**LLM_D, "spec.kvCache": GONE, "spec.roles[0].command": ["/bin/sh", "-c", "vllm serve m"]}
    assert "MDW08" not in [code for code, _ in warned(shell)]


def test_sglang_and_encode_deployments_need_no_flag() -> None:
    assert warned({**LLM_D, "spec.engine": {"name": "SGLang", "version": "0.5.18"}}) == []
    encoded = warned({**PAIR, "spec.roles": [role("Encode"), role("Prefill"), role("Decode")]})
    assert "MDW08" not in [code for code, _ in encoded]


def test_an_engine_too_old_for_the_flag_is_told_about_its_age_instead() -> None:
    assert warned({**LLM_D, "spec.engine.version": "0.29.0"}) == [("MDW19", "spec.engine.version")]


def test_a_threshold_of_zero_on_servers_splits_nothing_anyway() -> None:
    alone = {**LLM_D, "spec.router.disaggregationThresholdTokens": 0, "spec.roles[0].extraArgs": ["--enable-scale-out"]}
    assert warned(alone) == []


def test_a_threshold_of_zero_beside_an_encode_role_says_where_encodings_go() -> None:
    encoded = {**PAIR, "spec.roles": [role("Encode"), role("Prefill"), role("Decode")]}
    told = cautions({**encoded, "spec.router.disaggregationThresholdTokens": 0})
    assert [each.code for each in told] == ["MDW07", "MDW09"]
    assert "encoded or not" in told[1].why


@pytest.mark.parametrize(
    ("router", "warns"),
    [
        ({"name": "llm-d-router", "replicas": 2}, True),
        ({"name": "llm-d-router", "replicas": 1}, False),
        ({"name": "vllm-router", "replicas": 3}, True),
        ({"name": "vllm-router", "replicas": 2, "extraArgs": ["--policy=cache_aware"]}, True),
        ({"name": "vllm-router", "replicas": 2, "extraArgs": ["--policy=round_robin"]}, False),
        ({"name": "vllm-router", "replicas": 2, "extraArgs": ["--policy", "random", "--policy", "cache_aware"]}, True),
    ],
)
def test_several_router_pods_are_told_where_each_scores_prefixes(router: dict[str, object], warns: bool) -> None:
    fields = warned({"spec.router": router, "spec.roles[0].extraArgs": ["--enable-scale-out"]})
    assert fields == ([("MDW10", "spec.router.replicas")] if warns else [])


def test_a_pair_scores_prefixes_unless_both_halves_are_told_otherwise() -> None:
    graceful: dict[str, Any] = {"terminationGracePeriodSeconds": 45}
    pair: Change = {
        "spec.engine": {"name": "SGLang", "version": "0.5.18"},
        "spec.roles": [role("Prefill", **graceful), role("Decode", **graceful)],
        "spec.kvCache": GONE,
        "spec.router": {"name": "sglang-gateway", "replicas": 2},
    }
    one = {**pair, "spec.router.extraArgs": ["--prefill-policy=round_robin"]}
    both = {**pair, "spec.router.extraArgs": ["--prefill-policy=round_robin", "--decode-policy=random"]}
    reused = Policy(reuse_time_wait=True)
    assert warned(one, policy=reused) == [("MDW10", "spec.router.replicas")]
    assert warned(both, policy=reused) == []


@pytest.mark.parametrize("flag", [["--request-timeout-secs=60"], ["--request-timeout-secs", "60"]])
def test_a_timeout_among_the_arguments_of_a_router_is_told_to_take_the_fields_place(flag: list[str]) -> None:
    router = {"name": "vllm-router", "requestTimeoutSeconds": 120, "extraArgs": flag}
    (caution,) = cautions({"spec.router": router})
    assert (caution.code, caution.field, caution.value) == ("MDW26", "spec.router.requestTimeoutSeconds", 120)
    assert "--request-timeout-secs" in caution.why


@pytest.mark.parametrize(
    "router",
    [
        {"name": "vllm-router", "requestTimeoutSeconds": 120},
        {"name": "vllm-router", "requestTimeoutSeconds": 120, "extraArgs": ["--worker-startup-timeout-secs=60"]},
        {"name": "llm-d-router", "requestTimeoutSeconds": 120, "extraArgs": ["--request-timeout-secs=60"]},
    ],
)
def test_a_timeout_that_is_said_once_holds(router: dict[str, Any]) -> None:
    assert warned({"spec.router": router, "spec.roles[0].extraArgs": ["--enable-scale-out"]}) == []
