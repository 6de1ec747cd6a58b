"""What a deployment names, followed to the facts it is rendered from."""

from typing import Any

import pytest
from modeldeployment.api import Reason
from modeldeployment.kube import Store, shapes
from modeldeployment.reconcile import Watched, following, reading
from modeldeployment.reconcile.deciding.seen import Claim
from modeldeployment.render import Delivery, Domain, Policy, WeightsRefusal
from modeldeployment.render import Store as Cache
from reconcile_stored import artifact, claim, deployment, full, pool, stored, watched

FILLED: dict[str, Any] = {"phase": "Ready", "conditions": [{"type": "QuotaGranted", "status": "True"}]}


def test_a_domain_of_the_same_name_of_another_binding_fills_nothing() -> None:
    stores, _ = full()
    stores.pools.put(pool(domains=[{"name": "team", "binding": {"namespace": "b", "name": "x"}, "blocks": 3}]))
    attachment, _ = following.cache(stores, reading.deployment(deployment(cache="share")))
    assert attachment is not None
    assert not attachment.filled


def test_the_claim_that_holds_the_weights_is_told_with_the_nodes_that_are_to_mount_it() -> None:
    stores, _ = watched()
    stores.types.put(stored("a10", {"os": "linux", "arch": "amd64"}, {"entrance": "q"}))
    of = reading.deployment(deployment(artifact="qwen"))
    held = following.artifact(stores, of)
    assert held is None
    stores.artifacts.put(artifact(persistentVolumeClaim={"claimName": "weights"}))
    assert told_claim(stores) == Claim("weights")
    stores.claims.put(claim("Pending", "ReadWriteOnce"))
    assert told_claim(stores) == Claim("weights", "Pending", ("ReadWriteOnce",), ("linux/amd64",))


def told_claim(stores: Watched) -> Claim | None:
    """The claim of the weights of `chat`."""
    of = reading.deployment(deployment(artifact="qwen"))
    weights = following.weights(stores, of, following.artifact(stores, of), Policy())
    assert weights is not None
    return weights.claim


def test_the_whole_way_leads_to_the_store_and_is_echoed() -> None:
    stores, _ = full()
    attachment, store = following.cache(stores, reading.deployment(deployment(cache="share")))
    assert store == Cache("store.kv.svc:50051", ("tcp",), "team", "bfloat16", 16)
    assert attachment is not None
    assert (attachment.domain, attachment.connected, attachment.unreadable) == (Domain.REGISTERED, True, "")
    assert attachment.echo == {
        "binding": "share",
        "pool": "big",
        "domain": {"name": "team", "blockSize": 16, "dtype": "bfloat16"},
    }


def test_without_a_cache_there_is_nothing_to_follow() -> None:
    stores, _ = full()
    assert following.cache(stores, reading.deployment(deployment())) == (None, None)


def test_a_missing_binding_is_not_found() -> None:
    stores, _ = watched()
    attachment, store = following.cache(stores, reading.deployment(deployment(cache="share")))
    assert attachment is not None
    assert (attachment.domain, attachment.echo, store) == (Domain.NOT_FOUND, None, None)


@pytest.mark.parametrize("missing", ["pools", "backends"])
def test_a_link_that_is_missing_leads_nowhere(missing: str) -> None:
    stores, _ = full()
    links: Store[shapes.Custom] = getattr(stores, missing)
    links.replace([], "9999999")
    attachment, store = following.cache(stores, reading.deployment(deployment(cache="share")))
    assert attachment is not None
    assert (attachment.domain, attachment.connected, store) == (Domain.REGISTERED, False, None)


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        (
            lambda stores: stores.bindings.put(stored("share", {"poolRef": {"name": "big"}}, namespace="team")),
            "spec.quota",
        ),
        (
            lambda stores: stores.pools.put(stored("big", {"backends": [{"name": "rack"}]})),
            "KVCachePool big: spec.quota",
        ),
        (lambda stores: stores.backends.put(stored("rack", {})), "KVCacheBackend rack: spec.connection"),
    ],
    ids=["binding", "pool", "backend"],
)
def test_a_link_that_cannot_be_read_leads_nowhere_and_is_named(broken: Any, says: str) -> None:
    stores, _ = full()
    broken(stores)
    attachment, store = following.cache(stores, reading.deployment(deployment(cache="share")))
    assert attachment is not None
    assert store is None
    assert says in attachment.unreadable


@pytest.mark.parametrize(
    ("source", "policy", "mounted", "delivery"),
    [
        ({}, Policy(), False, "Engine"),
        ({}, Policy(delivery=Delivery.NODE), True, "Node"),
        ({"persistentVolumeClaim": {"claimName": "weights"}}, Policy(), True, "PVC"),
        ({"image": {"reference": f"weights@sha256:{'0' * 64}"}}, Policy(), True, "Image"),
    ],
)
def test_who_delivers_the_weights_is_told(source: Any, policy: Policy, mounted: bool, delivery: str) -> None:
    stores, _ = watched()
    stores.artifacts.put(artifact({"resolved": {"revision": "0" * 40}}, **source))
    of = reading.deployment(deployment(artifact="qwen"))
    told = following.weights(stores, of, following.artifact(stores, of), policy)
    assert told is not None
    assert (told.mounted, told.echo) == (
        mounted,
        {"artifact": "qwen", "revision": "0" * 40, "delivery": delivery},
    )


def test_an_artifact_that_cannot_be_read_is_not_resolved_and_says_why() -> None:
    stores, _ = watched()
    stores.artifacts.put(stored("qwen", {"source": {"huggingFace": {}}}, namespace="team"))
    with pytest.raises(WeightsRefusal, match=r"ModelArtifact qwen: spec\.source\.huggingFace\.repository") as raised:
        following.artifact(stores, reading.deployment(deployment(artifact="qwen")))
    assert (raised.value.why, raised.value.retryable) == (Reason.ARTIFACT_NOT_RESOLVED, True)


def test_an_artifact_that_is_not_there_is_none() -> None:
    stores, _ = watched()
    of = reading.deployment(deployment(artifact="qwen"))
    assert following.artifact(stores, of) is None
    assert following.weights(stores, of, None, Policy()) is None
