import pytest
from hypothesis import given
from hypothesis import strategies as st
from modeldeployment.api.choices import RouterName
from modeldeployment.router import ROUTERS, Policies

VLLM, SGLANG = ROUTERS[RouterName.VLLM], ROUTERS[RouterName.SGLANG]


def policies(name: RouterName) -> Policies:
    policy = ROUTERS[name].policy
    assert isinstance(policy, Policies)
    return policy


@pytest.mark.parametrize(
    ("arguments", "pair", "in_force"),
    [
        ([], False, {"cache_aware"}),
        ([], True, {"cache_aware"}),
        (["--policy", "round_robin"], False, {"round_robin"}),
        (["--policy=round_robin"], True, {"round_robin"}),
        (["--policy=random", "--policy=round_robin"], False, {"round_robin"}),
        (["--policy="], False, {""}),
        (["--policy"], False, {""}),
        (["--prefill-policy=random"], True, {"random", "cache_aware"}),
        (["--prefill-policy=random"], False, {"cache_aware"}),
        (["--policy=power_of_two", "--decode-policy", "random"], True, {"power_of_two", "random"}),
        (["--prefill-policy=random", "--decode-policy=round_robin"], True, {"random", "round_robin"}),
        (["--policy-other=random"], False, {"cache_aware"}),
    ],
)
def test_the_last_flag_counts_and_a_half_without_one_follows_the_whole(
    arguments: list[str], pair: bool, in_force: set[str]
) -> None:
    assert policies(RouterName.VLLM).in_force(arguments, pair=pair) == in_force


def test_prefix_caches_are_scored_by_some_policies_and_by_the_fixed_profile() -> None:
    assert VLLM.prefix_policies([], pair=False) == {"cache_aware"}
    assert VLLM.prefix_policies(["--policy=kv_aware"], pair=False) == {"kv_aware"}
    assert VLLM.prefix_policies(["--policy=round_robin"], pair=False) == frozenset()
    assert SGLANG.prefix_policies(["--policy=kv_aware"], pair=False) == frozenset()
    assert SGLANG.prefix_policies(["--prefill-policy=random"], pair=True) == {"cache_aware"}
    assert ROUTERS[RouterName.LLM_D].prefix_policies(["--policy=round_robin"], pair=True) == {"fixed"}


@given(st.lists(st.text() | st.sampled_from(["--policy", "--prefill-policy=x", "--decode-policy"])), st.booleans())
def test_no_command_line_is_too_odd(arguments: list[str], pair: bool) -> None:
    for row in ROUTERS.values():
        assert len(row.prefix_policies(arguments, pair=pair)) <= 2
        assert all(row.owns(argument) is None or argument.startswith("--") for argument in arguments)
