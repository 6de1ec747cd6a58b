"""The warning about an edit that reads like a merge patch."""

import pytest
from lint_worlds import cautions, role, warned
from modeldeployment.admission.examples import GONE, Change

ROLE = "spec.roles[0]"
STORED: Change = {
    f"{ROLE}.image": "registry.local/vllm:1",
    f"{ROLE}.env": [{"name": "HF_HUB_OFFLINE", "value": "1"}],
    f"{ROLE}.ports": [{"port": 9000}],
}


def test_a_restated_role_with_another_image_lost_the_rest() -> None:
    (caution,) = cautions({f"{ROLE}.image": "registry.local/vllm:2"}, STORED)
    assert (caution.code, caution.field, caution.value) == ("MDW23", ROLE, ["ports", "env"])


def test_the_patch_puts_back_what_was_lost_and_nothing_else() -> None:
    (caution,) = cautions({f"{ROLE}.replicas": 5}, STORED)
    assert caution.patch == (
        {"op": "add", "path": "/spec/roles/0/image", "value": "registry.local/vllm:1"},
        {"op": "add", "path": "/spec/roles/0/ports", "value": [{"port": 9000, "protocol": "TCP"}]},
        {"op": "add", "path": "/spec/roles/0/env", "value": [{"name": "HF_HUB_OFFLINE", "value": "1"}]},
    )


@pytest.mark.parametrize(
    "edit",
    [
        pytest.param({}, id="taking everything back and changing nothing"),
        pytest.param({**STORED, f"{ROLE}.replicas": 5}, id="changing replicas alone"),
        pytest.param({**STORED, f"{ROLE}.env": GONE, f"{ROLE}.replicas": 5}, id="taking one field back"),
        pytest.param({f"{ROLE}.image": "registry.local/vllm:1", f"{ROLE}.replicas": 5}, id="keeping one as it was"),
    ],
)
def test_an_edit_that_looks_meant_is_let_be(edit: Change) -> None:
    assert warned(edit, STORED) == []


def test_one_lost_field_is_an_edit_of_its_own() -> None:
    assert warned({f"{ROLE}.replicas": 5}, {f"{ROLE}.image": "registry.local/vllm:1"}) == []


def test_roles_are_matched_by_name() -> None:
    other = {"name": "other", "instanceType": "h20-other", "resources": {"accelerator": 1}}
    stored = {**STORED, "spec.roles[1]": other}
    server = {"name": "server", "replicas": 4, "instanceType": "h20-8x", "resources": {"accelerator": 1}}
    assert warned({"spec.roles": [other, {**server, "replicas": 5}]}, stored) == [("MDW23", "spec.roles[1]")]


def test_a_create_drops_nothing() -> None:
    assert warned({f"{ROLE}.replicas": 5}) == []


BEHIND_PROXY: Change = {
    "spec.roles": [role("Decode", ports=[{"port": 8000}], extraArgs=["--enable-scale-out", "--port=9000"])],
    "spec.router": {"name": "llm-d-router"},
}


def test_a_router_that_goes_takes_the_proxy_before_a_moved_engine_along() -> None:
    (caution,) = cautions({**BEHIND_PROXY, "spec.router": GONE}, BEHIND_PROXY)
    assert (caution.code, caution.field, caution.value) == ("MDW27", "spec.roles[0].extraArgs", 9000)
    assert "8000" in caution.why


@pytest.mark.parametrize(
    "edit",
    [
        pytest.param({}, id="keeping the router"),
        pytest.param({"spec.router": GONE, f"{ROLE}.extraArgs": []}, id="dropping the flag with it"),
        pytest.param({"spec.router": GONE, f"{ROLE}.ports": [{"port": 9000}]}, id="declaring its port with it"),
    ],
)
def test_an_engine_that_stays_reachable_is_let_be(edit: Change) -> None:
    assert "MDW27" not in [code for code, _ in warned({**BEHIND_PROXY, **edit}, BEHIND_PROXY)]


def test_a_new_role_with_two_ports_is_refused_and_not_warned_about() -> None:
    assert "MDW27" not in [code for code, _ in warned({**BEHIND_PROXY, "spec.router": GONE})]
