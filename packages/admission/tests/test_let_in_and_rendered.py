"""What is let in with everything known can be rendered: nobody stores a deployment that never could be."""

from collections.abc import Mapping
from typing import Any, Final

from admission_plausible import edited, plausible
from admission_strategies import deployments
from hypothesis import event, given, settings
from hypothesis import strategies as st
from modeldeployment.admission import Verdict
from modeldeployment.admission.examples import CLUSTER, changed
from modeldeployment.admission.facts import Facts, Policy
from modeldeployment.admission.gathering import from_manifests
from modeldeployment.admission.reviewing import review
from modeldeployment.api import ModelDeployment
from modeldeployment.api.artifact import ModelArtifact
from modeldeployment.api.conditions import RefusalReason
from modeldeployment.render import Facts as Known
from modeldeployment.render import RenderRefusal, connection, render

PROTOCOLS: Final[tuple[tuple[str, ...], ...]] = (
    ("TCP",),
    ("RDMA",),
    ("EFA",),
    ("CANN",),
    ("TCP", "RDMA"),
    ("TCP", "CANN"),
)
"""What the groups of the store's members may offer."""

EXCEPTIONS: Final = frozenset(
    {
        # Spec 1 §Runner image formula: hardware without a published runner is refused where the image is put together.
        RefusalReason.IMAGE_NOT_SYNTHESIZABLE,
        # Spec 2 §Pair connections: a store that offers Ascend no transport of its own is edited by an administrator,
        # and the deployment renders as soon as it is.
        RefusalReason.TRANSPORT_UNSUPPORTED,
    }
)
"""Reasons for which rendering may refuse what was let in with everything known."""

_PARTITIONS: Final = {
    "status.detail.memory": "80Gi",
    "status.detail.slicedDetail.physical.count": 7,
    "status.detail.slicedDetail.physical.profiles": [
        {"name": "1g.10gb", "count": 7, "memoryMib": 9728},
        {"name": "3g.40gb", "count": 2, "memoryMib": 40192},
    ],
}
_NEW: Final = changed(
    next(each for each in CLUSTER if each["metadata"]["name"] == "mi300x"),
    {"metadata.name": "new", "status.detail.manufacturer": "acme"},
)
"""A type with cards of a maker this release does not know."""
_WEIGHTS: Final = ModelArtifact.model_validate(
    {
        "metadata": {"name": "weights", "namespace": "team-a", "uid": "u-2"},
        "spec": {"source": {"huggingFace": {"repository": "Qwen/Qwen2.5-72B-Instruct"}}},
        "status": {
            "conditions": [{"type": "Resolved", "status": "True"}],
            "resolved": {"revision": "a" * 40, "manifestDigest": f"sha256:{'0' * 64}", "sizeBytes": 2**30},
        },
    }
)


def cluster(protocols: tuple[str, ...]) -> tuple[dict[str, Any], ...]:
    """The cluster of the examples with everything observed, ready and sized."""
    members = [
        {"medium": "DRAM", "capacityPerMember": "64Gi", "transport": {"protocol": protocol}} for protocol in protocols
    ]
    ready: Mapping[str, Mapping[str, Any]] = {
        "a100-mig": _PARTITIONS,
        "shared-kv": {"status": {"phase": "Ready", "conditions": [{"type": "QuotaGranted", "status": "True"}]}},
        "dram": {"status": {"clientEndpoint": "mooncake.kv.svc:50051"}},
        "mi300x": _PARTITIONS,
        "unobserved": {"status.detail.manufacturer": "nvidia", "status.detail.runtimeVersions": ["12.9"]},
        "mooncake": {"spec.connection.managed.members": members},
    }
    return tuple(changed(each, ready.get(each["metadata"]["name"], {})) for each in (*CLUSTER, _NEW))


FACTS: Final = {protocols: from_manifests(cluster(protocols), Policy()) for protocols in PROTOCOLS}


def known(facts: Facts) -> Known:
    """The same facts as rendering reads them."""
    types = {each["metadata"]["name"] for each in (*CLUSTER, _NEW) if each["kind"] == "InstanceType"}
    cache = facts.caches["shared-kv"]
    store = connection(cache.binding, cache.pool, cache.backend)
    assert store is not None
    found = {name: facts.instance_types[name] for name in types}
    return Known({name: each for name, each in found.items() if each}, store=store, artifact=_WEIGHTS)


KNOWN: Final = {protocols: known(facts) for protocols, facts in FACTS.items()}


def refused(verdict: Verdict, facts: Known) -> RefusalReason | None:
    """Why what was let in cannot be rendered, its router included."""
    deployment = ModelDeployment.model_validate(verdict.defaulted)
    try:
        rendering = render(deployment, facts)
    except RenderRefusal as refusal:
        return refusal.reason
    return rendering.router.reason if isinstance(rendering.router, RenderRefusal) else None


def held(verdict: Verdict, protocols: tuple[str, ...]) -> bool:
    """Whether a verdict keeps its word: what is not let in, is rendered, or is refused as the exceptions say."""
    event("let in" if verdict.allowed else "refused")
    return not verdict.allowed or refused(verdict, KNOWN[protocols]) in {None, *EXCEPTIONS}


@settings(max_examples=250, deadline=None)
@given(st.one_of(plausible(), plausible(), deployments()), st.sampled_from(PROTOCOLS))
def test_what_is_let_in_is_rendered(body: dict[str, Any], protocols: tuple[str, ...]) -> None:
    assert held(review(body, None, FACTS[protocols]), protocols)


@settings(max_examples=120, deadline=None)
@given(st.data(), plausible(), st.sampled_from(PROTOCOLS))
def test_an_edit_that_is_let_in_is_rendered(
    data: st.DataObject, body: dict[str, Any], protocols: tuple[str, ...]
) -> None:
    stored = review(body, None, FACTS[protocols])
    if stored.allowed:
        new = data.draw(edited(stored.defaulted))
        assert held(review(new, stored.defaulted, FACTS[protocols]), protocols)
