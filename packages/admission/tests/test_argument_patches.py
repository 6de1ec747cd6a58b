"""A patch takes away the whole of a flag: its entry and its values, and no more."""

from typing import Any

import pytest
from admission_table_b_owned import ARGUMENTS, ENV, variables
from modeldeployment.admission import arguments, patching
from modeldeployment.admission.examples import DEPLOYMENT, changed
from modeldeployment.admission.facts import Facts
from modeldeployment.admission.reviewing import review


def patched(changes: dict[str, Any]) -> Any:
    """The `extraArgs` of an object that is refused once, after the patch of that refusal."""
    new = changed(DEPLOYMENT, changes)
    (refusal,) = review(new, None, Facts()).refusals
    return patching.found(patching.applied(new, refusal.patch), ARGUMENTS)


@pytest.mark.parametrize(
    ("given", "left"),
    [
        pytest.param(
            ["--seed", "1", "--kv-transfer-config", "{}", "--swap", "8"], ["--seed", "1", "--swap", "8"], id="split"
        ),
        pytest.param(["--kv-transfer-config={}", "--swap", "8"], ["--swap", "8"], id="inline"),
        pytest.param(["--seed", "1", "--kv_events_config"], ["--seed", "1"], id="without a value"),
        pytest.param(["--kv-cache-dtype", "fp8", "--swap=8"], ["--swap=8"], id="dtype"),
    ],
)
def test_an_owned_argument_goes_with_its_value(given: list[str], left: list[str]) -> None:
    assert patched({ARGUMENTS: given}) == left


def test_every_repetition_of_a_port_flag_goes() -> None:
    given = ["--port", "1", "--seed=1", "--por=9000"]
    assert patched({ARGUMENTS: given, "spec.roles[0].ports": [{"port": 8000}]}) == ["--seed=1"]


def test_the_served_name_is_set_where_the_first_one_stood() -> None:
    given = ["--seed=1", "--served-model-name", "a", "b", "--swap", "8", "--served_model_name=c"]
    name = "--served-model-name=Qwen/Qwen2.5-72B-Instruct"
    assert patched({ARGUMENTS: given}) == ["--seed=1", name, "--swap", "8"]


def test_an_owned_variable_goes_and_the_others_stay() -> None:
    new = changed(DEPLOYMENT, {ENV: variables("A", "GPUSTACK_MEMBER_INDEX", "B")})
    (refusal,) = review(new, None, Facts()).refusals
    assert patching.found(patching.applied(new, refusal.patch), ENV) == variables("A", "B")


def test_a_flag_takes_up_what_follows_it_up_to_the_next_dash() -> None:
    assert arguments.extent(["--selector", "a=b", "c=d", "--host"], 0) == range(3)
    assert arguments.extent(["--selector=a=b", "c=d"], 0) == range(1)
