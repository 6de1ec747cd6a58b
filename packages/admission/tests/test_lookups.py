"""Which objects a write names."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from modeldeployment.admission import lookups
from modeldeployment.admission.examples import DEPLOYMENT, GONE, SCALER, changed
from modeldeployment.admission.lookups import NOTHING, Named
from modeldeployment.api import keys

CLAIM = f"metadata.annotations[{keys.SCALER_BINDING}]"
CLAIMED = {CLAIM: '{"scalerName":"qwen","scalerUID":"8c4e","term":3}'}
DELETING = {"metadata.deletionTimestamp": "2026-03-01T12:00:00Z"}


def test_a_create_reads_every_type_once_and_the_cache() -> None:
    server = DEPLOYMENT["spec"]["roles"][0]
    roles = [server, {**server, "name": "b", "instanceType": "cpu"}, {**server, "name": "c"}]
    assert lookups.to_judge(changed(DEPLOYMENT, {"spec.roles": roles}), None) == Named(("h20-8x", "cpu"), "shared-kv")


@pytest.mark.parametrize(
    ("change", "cache"),
    [
        ({"spec.roles[0].replicas": 5}, ""),
        ({"metadata.labels": {"a": "b"}}, ""),
        ({"spec.kvCache.poolRef.name": "other"}, "other"),
        ({"spec.router": {"name": "llm-d-router"}}, "shared-kv"),
        ({"spec.kvTransfer": {"protocol": "RDMA"}}, "shared-kv"),
        ({"spec.kvCache": GONE}, ""),
    ],
)
def test_an_update_reads_the_cache_where_it_can_mean_something_else_now(change: dict[str, Any], cache: str) -> None:
    assert lookups.to_judge(changed(DEPLOYMENT, change), DEPLOYMENT).cache == cache


@pytest.mark.parametrize(
    ("old", "new", "scalers"),
    [
        (CLAIMED, {}, ("qwen",)),
        (CLAIMED, {"metadata.annotations": {"other": "kept"}}, ("qwen",)),
        (CLAIMED, CLAIMED, ()),
        ({}, CLAIMED, ()),
        ({CLAIM: "nonsense"}, {}, ()),
    ],
)
def test_a_scaler_is_read_when_its_claim_is_taken_away(
    old: dict[str, Any], new: dict[str, Any], scalers: tuple[str, ...]
) -> None:
    assert lookups.to_judge(changed(DEPLOYMENT, new), changed(DEPLOYMENT, old)).scalers == scalers


def test_a_scaler_names_its_target() -> None:
    assert lookups.to_judge(SCALER, None) == Named(targets=("qwen-72b",))


@pytest.mark.parametrize("base", [DEPLOYMENT, SCALER])
def test_an_object_on_its_way_out_names_nothing(base: dict[str, Any]) -> None:
    assert lookups.to_judge(changed(base, DELETING), base) == NOTHING
    assert lookups.to_default(changed(base, DELETING)) == NOTHING


@pytest.mark.parametrize(
    ("resources", "types"),
    [
        (GONE, ("h20-8x",)),
        ({}, ("h20-8x",)),
        ({"accelerator": None}, ("h20-8x",)),
        ({"accelerator": 0}, ()),
        ({"accelerator": 4}, ()),
    ],
)
def test_defaulting_reads_the_types_of_counts_left_open(resources: Any, types: tuple[str, ...]) -> None:
    new = changed(DEPLOYMENT, {"spec.roles[0].resources": resources})
    assert lookups.to_default(new) == Named(types)


JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner, max_size=2),
    max_leaves=5,
)
FIELDS = (
    "metadata",
    "metadata.annotations",
    CLAIM,
    "spec",
    "spec.roles",
    "spec.roles[0]",
    "spec.roles[0].instanceType",
)
MORE = (
    "spec.roles[0].resources",
    "spec.kvCache",
    "spec.kvCache.poolRef",
    "spec.kvCache.poolRef.name",
    "spec.targetRef",
)


@settings(deadline=None)
@given(st.sampled_from((*FIELDS, *MORE)), JSON, st.sampled_from(("ModelDeployment", "ModelDeploymentScaler")))
def test_an_object_of_any_shape_names_only_texts(field: str, value: Any, kind: str) -> None:
    odd = {**changed(DEPLOYMENT, {field: value}), "kind": kind}
    for old in (None, odd, changed(DEPLOYMENT, CLAIMED)):
        named = lookups.to_judge(odd, old)
        texts = (
            *named.instance_types,
            named.cache,
            *named.scalers,
            *named.targets,
            *lookups.to_default(odd).instance_types,
        )
        assert all(isinstance(text, str) for text in texts)
