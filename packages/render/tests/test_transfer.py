"""The degrees both halves of an Ascend pair are told. Vectors B10 and B11 of facts rendering §14."""

from typing import Any

import pytest
from modeldeployment.api.choices import RoleKind
from modeldeployment.api.conditions import RefusalReason
from modeldeployment.api.modeldeployment import ModelDeployment
from modeldeployment.render import ENGINES, Facts, RenderRefusal, render, transfer
from modeldeployment.render.transfer import Half
from render_connectors import ascend, document, nvidia, pods
from render_worlds import ASCEND, deployment, facts, instance_type, joined, pair, role, store

VLLM = next(engine for engine in ENGINES.values() if engine.name == "vLLM")
TP4, TP2, WIDE = ["-tp", "4"], ["--tensor-parallel-size=2"], ["-tp", "2", "--data-parallel-size", "2"]


def refused(of: ModelDeployment, known: Facts) -> RenderRefusal:
    with pytest.raises(RenderRefusal) as refusal:
        render(of, known)
    assert not refusal.value.retryable
    return refusal.value


def test_b10_each_half_states_the_degrees_of_both() -> None:
    of = pair(router="llm-d-router", prefill={"extraArgs": TP4}, decode={"extraArgs": WIDE})
    both = pods(of, ascend(stored=False))
    degrees = {"prefill": {"tp_size": 4, "dp_size": 1}, "decode": {"tp_size": 2, "dp_size": 2}}
    assert document(both["prefill"]) == {
        "kv_connector": "MooncakeConnectorV1",
        "kv_role": "kv_producer",
        "kv_port": 8998,
        "kv_connector_extra_config": degrees,
    }
    assert document(both["decode"]) == {
        "kv_connector": "MooncakeConnectorV1",
        "kv_role": "kv_consumer",
        "kv_port": 8998,
        "kv_connector_extra_config": degrees,
    }


def test_the_leg_beside_a_store_states_them_too() -> None:
    of = pair(router="llm-d-router", cache=True, prefill={"extraArgs": TP4}, decode={"extraArgs": TP2})
    said = document(pods(of, ascend())["prefill"])
    assert said["kv_connector_extra_config"]["connectors"] == [
        {
            "kv_connector": "MooncakeConnectorV1",
            "kv_role": "kv_producer",
            "kv_port": 8998,
            "kv_connector_extra_config": {
                "prefill": {"tp_size": 4, "dp_size": 1},
                "decode": {"tp_size": 2, "dp_size": 1},
            },
        },
        {"kv_connector": "AscendStoreConnector", "kv_role": "kv_both"},
    ]


def test_degrees_nobody_declares_are_one() -> None:
    said = document(pods(pair(router="llm-d-router"), ascend(stored=False))["decode"])
    one = {"tp_size": 1, "dp_size": 1}
    assert said["kv_connector_extra_config"] == {"prefill": one, "decode": one}


def test_b11_fewer_prefill_ranks_than_decode_ranks_are_refused() -> None:
    refusal = refused(pair(router="llm-d-router", decode={"extraArgs": TP2}), ascend(stored=False))
    assert (refusal.reason, refusal.role) == (RefusalReason.ROLE_UNSUPPORTED, "prefill")
    assert refusal.message == (
        "spec.roles[prefill] has tensor parallel degree 1: that is below the 2 of spec.roles[decode], and no Decode "
        "rank can gather its blocks from fewer Prefill ranks; raise it on the Prefill role, or lower it on the Decode "
        "role"
    )


def test_data_degrees_are_not_compared() -> None:
    of = pair(router="llm-d-router", decode={"extraArgs": ["-dp", "8"]})
    said = document(pods(of, ascend(stored=False))["prefill"])
    assert said["kv_connector_extra_config"]["decode"] == {"tp_size": 1, "dp_size": 8}


def test_the_data_degree_may_come_from_the_engines_variable() -> None:
    of = pair(router="llm-d-router", prefill={"env": [{"name": "VLLM_DP_SIZE", "value": "3"}]})
    said = document(pods(of, ascend(stored=False))["decode"])
    assert said["kv_connector_extra_config"]["prefill"] == {"tp_size": 1, "dp_size": 3}


def test_a_half_whose_user_took_over_is_read_from_its_command_and_not_from_its_arguments() -> None:
    command = ["vllm", "serve", "m", "-tp", "8"]
    of = pair(router="llm-d-router", prefill={"command": command, "extraArgs": TP2}, decode={"extraArgs": TP4})
    said = document(pods(of, ascend(stored=False))["decode"])
    assert said["kv_connector_extra_config"]["prefill"] == {"tp_size": 8, "dp_size": 1}


@pytest.mark.parametrize(
    ("fields", "flag", "where"),
    [
        ({"extraArgs": ["-tp", "two"]}, "--tensor-parallel-size 'two': it is not an integer", "extraArgs"),
        ({"extraArgs": ["-tp2"]}, "--tensor-parallel-size '-tp2': it carries a glued value", "extraArgs"),
        ({"extraArgs": ["-dp"]}, "--data-parallel-size: it has no value", "extraArgs"),
        ({"command": ["serve", "-tp", "0"]}, "--tensor-parallel-size '0': it is below 1", "command"),
        ({"env": [{"name": "VLLM_DP_SIZE", "value": "x"}]}, "VLLM_DP_SIZE 'x': it is not an integer", "env"),
    ],
)
@pytest.mark.parametrize("half", ["prefill", "decode"])
def test_a_degree_that_cannot_be_read_is_refused_naming_its_role(
    half: str, fields: dict[str, Any], flag: str, where: str
) -> None:
    other: dict[str, Any] = {half: fields}
    refusal = refused(pair(router="llm-d-router", **other), ascend(stored=False))
    assert (refusal.reason, refusal.role) == (RefusalReason.DEGREE_UNREADABLE, half)
    assert refusal.message.startswith(f"spec.roles[{half}].")
    assert flag in refusal.message
    assert where in refusal.message.partition(" has ")[0]
    assert refusal.message.endswith(" in full, with a whole number such as 2")


@pytest.mark.parametrize(
    ("router", "known"),
    [
        ("llm-d-router", nvidia(stored=False)),
        ("vllm-router", nvidia(stored=False)),
        ("vllm-router", ascend(stored=False)),
        (None, ascend(stored=False)),
    ],
)
def test_nobody_else_pays_for_degrees_that_no_document_names(router: str | None, known: Facts) -> None:
    of = pair(router=router, prefill={"extraArgs": ["-tp2"]}, decode={"extraArgs": ["-tp", "8"]})
    assert set(pods(of, known)) == {"prefill", "decode"}


def several(*degrees: tuple[str, str, list[str]]) -> ModelDeployment:
    roles = [role(name, kind=kind, extraArgs=arguments) for name, kind, arguments in degrees]
    return deployment(*roles, spec=joined(router="llm-d-router"))


def test_several_roles_of_a_kind_share_a_block_while_they_agree() -> None:
    of = several(("a", "Prefill", TP4), ("b", "Prefill", ["--tensor_parallel_size=4"]), ("c", "Decode", TP2))
    assert transfer.halves(of, VLLM) == {RoleKind.PREFILL: Half(4, 1), RoleKind.DECODE: Half(2, 1)}


@pytest.mark.parametrize(
    ("roles", "named"),
    [
        ((("a", "Prefill", TP4), ("b", "Prefill", TP2), ("c", "Decode", TP2)), "b"),
        ((("a", "Prefill", TP4), ("c", "Decode", TP2), ("d", "Decode", WIDE)), "d"),
    ],
)
def test_several_roles_of_a_kind_that_differ_are_refused(roles: Any, named: str) -> None:
    refusal = refused(several(*roles), ascend(stored=False))
    assert (refusal.reason, refusal.role) == (RefusalReason.ROLE_UNSUPPORTED, named)
    assert "give both roles the same degrees, or keep one of them" in refusal.message


def test_a_lone_half_has_nobody_to_agree_with() -> None:
    assert transfer.halves(several(("a", "Prefill", TP2)), VLLM) == {}


def test_a_pair_on_two_makers_renders_each_half_in_its_own_words() -> None:
    types = (instance_type(), instance_type("npu", status=ASCEND))
    of = pair(router="llm-d-router", decode={"instanceType": "npu"})
    both = pods(of, facts(*types, store=store()))
    assert document(both["prefill"])["kv_connector"] == "MooncakeConnector"
    assert document(both["decode"])["kv_connector"] == "MooncakeConnectorV1"
