"""Warnings about pairs, their routers and what moves between the halves."""

from typing import Any

import pytest
from lint_worlds import cautions, role, warned
from modeldeployment.admission import telling
from modeldeployment.admission.examples import GONE, Change
from modeldeployment.admission.facts import Policy
from modeldeployment.admission.lints.cautioning import LONGEST

COUNTED: dict[str, Any] = {"extraArgs": ["--enable-scale-out"]}
PAIR: Change = {
    "spec.roles": [role("Prefill", **COUNTED), role("Decode", **COUNTED)],
    "spec.kvCache": GONE,
    "spec.router": {"name": "llm-d-router"},
}
ASCEND: Change = {
    **PAIR,
    "spec.roles": [role("Prefill", "ascend-910b", **COUNTED), role("Decode", "ascend-910b", **COUNTED)],
}
SGLANG: Change = {
    "spec.engine": {"name": "SGLang", "version": "0.5.18"},
    "spec.roles": [role("Prefill"), role("Decode")],
    "spec.kvCache": GONE,
    "spec.router": {"name": "sglang-gateway"},
}


GRACEFUL: Change = {
    **SGLANG,
    "spec.roles[0].terminationGracePeriodSeconds": 45,
    "spec.roles[1].terminationGracePeriodSeconds": 45,
}
REUSED = Policy(reuse_time_wait=True)
CACHED: Change = {"spec.kvCache": {"poolRef": {"name": "shared-kv"}}}


def test_servers_need_no_router() -> None:
    assert warned({}) == []


def test_a_pair_without_a_router_is_told_even_where_the_cluster_is_unknown() -> None:
    unknown = {**PAIR, "spec.router": GONE, "spec.roles[0].instanceType": "no-such-type"}
    assert ("MDW01", "spec.router") in warned(unknown)


def test_an_ascend_pair_without_a_router_is_told_which_router_it_needs() -> None:
    (caution,) = cautions({**ASCEND, "spec.router": GONE})
    assert (caution.code, caution.field) == ("MDW02", "spec.router")
    assert "llm-d-router" in caution.way_out


def test_an_ascend_pair_behind_vllm_router_is_not_told_about_mooncake_as_well() -> None:
    assert warned({**ASCEND, "spec.router": {"name": "vllm-router"}}) == [("MDW02", "spec.router.name")]


def test_an_ascend_pair_of_sglang_halves_is_judged_like_any_other() -> None:
    grace = {"spec.roles[0].terminationGracePeriodSeconds": 45, "spec.roles[1].terminationGracePeriodSeconds": 45}
    ascend = {**SGLANG, "spec.roles": [role("Prefill", "ascend-910b"), role("Decode", "ascend-910b")], **grace}
    assert warned(ascend, policy=REUSED) == []
    assert warned({**ascend, "spec.router": GONE}, policy=REUSED) == [("MDW01", "spec.router")]


def test_servers_behind_vllm_router_are_not_warned_about() -> None:
    assert warned({"spec.router": {"name": "vllm-router"}}) == []


@pytest.mark.parametrize(("decode", "words"), [("ascend-910b", "ever move"), ("mi300x", "never measured")])
def test_a_pair_of_two_makers_is_told_what_is_known_of_it(decode: str, words: str) -> None:
    (caution,) = cautions({**PAIR, "spec.roles[1].instanceType": decode})
    assert (caution.code, caution.field) == ("MDW04", "spec.roles")
    assert words in caution.why


def test_a_pair_on_hardware_nobody_observed_is_of_no_known_maker() -> None:
    assert warned({**PAIR, "spec.roles[1].instanceType": "unobserved"}) == []


def test_a_transfer_protocol_without_a_router_renders_nothing() -> None:
    fields = warned({**PAIR, "spec.router": GONE, "spec.kvTransfer": {"protocol": "TCP"}})
    assert fields == [("MDW01", "spec.router"), ("MDW05", "spec.kvTransfer.protocol")]


def test_a_transfer_protocol_on_ascend_is_ignored() -> None:
    (caution,) = cautions({**ASCEND, "spec.kvTransfer": {"protocol": "TCP"}})
    assert caution.code == "MDW05"
    assert "Ascend" in caution.why


def test_an_empty_transfer_block_asks_for_nothing() -> None:
    assert warned({"spec.kvTransfer": {}}) == []


def test_unset_grace_of_an_sglang_pair_is_thirty_seconds_on_both_halves() -> None:
    both = cautions(SGLANG, policy=REUSED)
    assert [(each.code, each.field) for each in both] == [
        ("MDW06", "spec.roles[0].terminationGracePeriodSeconds"),
        ("MDW06", "spec.roles[1].terminationGracePeriodSeconds"),
    ]
    assert "of 30 s only 10 are left" in both[0].why


@pytest.mark.parametrize(("grace", "left"), [(15, "only 0 are"), (44, "only 24 are")])
def test_a_short_grace_says_what_is_left_of_it(grace: int, left: str) -> None:
    first, _ = cautions({**SGLANG, "spec.roles[0].terminationGracePeriodSeconds": grace}, policy=REUSED)
    assert left in first.why


def test_sglang_servers_may_keep_thirty_seconds() -> None:
    assert warned({"spec.engine": {"name": "SGLang", "version": "0.5.18"}}) == []


def test_a_role_with_its_own_command_has_no_drain_to_cut_short() -> None:
    taken = {**SGLANG, "spec.roles[0].command": ["sglang"], "spec.roles[1].command": ["sglang"]}
    assert warned(taken) == []


def test_an_encode_role_behind_vllm_router_hands_over_by_nixl() -> None:
    encoded = {**PAIR, "spec.roles": [role("Encode"), role("Prefill"), role("Decode")]}
    assert warned({**encoded, "spec.router": {"name": "vllm-router"}}) == [("MDW07", "spec.roles[0].kind")]


def test_a_warning_stays_whole_with_the_longest_names_there_are() -> None:
    makers = {
        "a100-mig": {"status.detail.manufacturer": "m" * 200},
        "mi300x": {"status.detail.manufacturer": "n" * 200},
    }
    mixed = cautions(
        {**PAIR, "spec.roles[0].instanceType": "a100-mig", "spec.roles[1].instanceType": "mi300x"}, known=makers
    )
    assert [each.code for each in mixed] == ["MDW04"]
    assert max(len(telling.caution(each)) for each in mixed) <= LONGEST


@pytest.mark.parametrize("transfer", [GONE, {}, {"protocol": "Auto"}, {"protocol": "TCP"}])
def test_an_sglang_pair_over_tcp_is_told_that_ports_run_out_while_they_are_not_reused(transfer: Any) -> None:
    pair = {**GRACEFUL, "spec.kvTransfer": transfer}
    assert warned(pair) == [("MDW25", "spec.kvTransfer.protocol")]
    assert warned(pair, policy=REUSED) == []


def test_an_sglang_pair_over_another_transport_keeps_its_ports() -> None:
    assert warned({**GRACEFUL, "spec.kvTransfer": {"protocol": "RDMA"}}) == []


def test_an_sglang_pair_that_a_cache_alone_joins_runs_out_of_ports_too() -> None:
    unrouted = {**GRACEFUL, "spec.router": GONE}
    assert ("MDW25", "spec.kvTransfer.protocol") in warned({**unrouted, **CACHED})
    assert warned(unrouted) == [("MDW01", "spec.router")]


def test_a_prefill_half_with_its_own_command_opens_connections_nobody_here_knows_of() -> None:
    taken = {**GRACEFUL, "spec.roles[0].command": ["python3", "-m", "sglang.launch_server"]}
    assert warned(taken) == []


def test_a_vllm_pair_over_tcp_keeps_its_connections() -> None:
    assert warned({**PAIR, "spec.kvTransfer": {"protocol": "TCP"}}) == []
