"""Which change wakes which deployment, and what each is rendered from (facts reconcile §12)."""

from typing import Any

import msgspec
import pytest
from modeldeployment.api import Reason, keys
from modeldeployment.kube import Store, shapes
from modeldeployment.reconcile import Key, OwnedKind, Watched, following, reading
from modeldeployment.reconcile.kinds import Document
from modeldeployment.reconcile.watching import LABELS
from modeldeployment.render import Delivery, Domain, Policy, WeightsRefusal
from modeldeployment.render import Store as Cache

VERSIONS = iter(range(1, 10_000))
CHAT = Key("team", "chat")


def stored(
    name: str, spec: object = None, status: object = None, *, namespace: str = "", uid: str = ""
) -> shapes.Custom:
    """An object of a custom kind, newer than every other."""
    meta = shapes.ObjectMeta(
        name=name, namespace=namespace, uid=uid or f"uid-{name}", resource_version=str(next(VERSIONS))
    )
    raw = [msgspec.Raw(msgspec.json.encode(each or {})) for each in (spec, status)]
    return shapes.Custom(metadata=meta, spec=raw[0], status=raw[1])


def deployment(name: str = "chat", *, namespace: str = "team", cache: str = "", artifact: str = "") -> shapes.Custom:
    """A stored deployment of one role."""
    model = {"name": "qwen", **({"artifactRef": {"name": artifact}} if artifact else {})}
    spec: dict[str, Any] = {"model": model, "engine": {"name": "vLLM", "image": "e:1"}}
    spec["roles"] = [{"name": "server", "instanceType": "a10"}]
    if cache:
        spec["kvCache"] = {"poolRef": {"name": cache}}
    return stored(name, spec, namespace=namespace, uid=f"{namespace}-{name}")


def binding(status: dict[str, Any] | None = None, *, namespace: str = "team") -> shapes.Custom:
    """The binding `share` to the pool `big`, ready unless `status` says otherwise."""
    domain = {"name": "team", "blockSize": 16, "dtype": "bfloat16"}
    spec = {"poolRef": {"name": "big"}, "quota": {"ceiling": "1Gi"}, "domain": domain}
    granted = {"phase": "Ready", "conditions": [{"type": "QuotaGranted", "status": "True"}]}
    return stored("share", spec, granted if status is None else status, namespace=namespace)


def pool(name: str = "big", **status: Any) -> shapes.Custom:
    """A pool on the backend `rack`, whose store answers."""
    spec = {"backends": [{"name": "rack"}], "quota": {"total": "1Ti"}}
    return stored(name, spec, {"clientEndpoint": "store.kv.svc:50051", **status})


def backend(name: str = "rack", protocol: str = "TCP") -> shapes.Custom:
    """A backend that runs elsewhere."""
    external = {"endpoints": [{"name": "Client", "address": "store.kv.svc:50051"}]}
    return stored(name, {"connection": {"external": external}, "transport": {"protocol": protocol}})


def artifact(status: dict[str, Any] | None = None, *, namespace: str = "team", **source: Any) -> shapes.Custom:
    """The artifact `qwen`, of Hugging Face unless `source` says otherwise."""
    spec = {"source": source or {"huggingFace": {"repository": "Qwen/Qwen2.5-7B"}}}
    return stored("qwen", spec, status, namespace=namespace)


def watched() -> tuple[Watched, list[Key]]:
    """Stores with three deployments, of which `chat` in `team` alone names the cache and the artifact."""
    woken: list[Key] = []
    stores = Watched(woken.append)
    for each in (
        deployment(cache="share", artifact="qwen"),
        deployment("plain"),
        deployment("other", namespace="others", cache="share", artifact="qwen"),
    ):
        stores.deployments.put(each)
    woken.clear()
    return stores, woken


def full() -> tuple[Watched, list[Key]]:
    """The same with the whole way to the store."""
    stores, woken = watched()
    for store, thing in ((stores.backends, backend()), (stores.pools, pool()), (stores.bindings, binding())):
        store.put(thing)
    woken.clear()
    return stores, woken


def test_a_binding_wakes_the_deployments_of_its_namespace_that_name_it() -> None:
    stores, woken = watched()
    stores.bindings.put(binding())
    assert woken == [CHAT]


def test_objects_of_another_namespace_wake_its_own_deployments() -> None:
    stores, woken = watched()
    stores.bindings.put(binding(namespace="others"))
    stores.artifacts.put(artifact(namespace="others"))
    stores.bindings.put(binding(namespace="empty"))
    assert woken == [Key("others", "other")] * 2


def test_an_artifact_wakes_the_deployments_of_its_namespace_that_name_it() -> None:
    stores, woken = watched()
    stores.artifacts.put(artifact())
    assert woken == [CHAT]


def test_a_pool_wakes_what_is_attached_through_its_bindings_and_a_backend_through_its_pools() -> None:
    stores, woken = full()
    stores.pools.put(pool(clientEndpoint="other:1"))
    assert woken == [CHAT]
    stores.backends.put(backend(protocol="RDMA"))
    assert woken == [CHAT, CHAT]
    stores.pools.put(pool("small"))
    stores.backends.put(backend("unused"))
    assert woken == [CHAT, CHAT]


def test_what_goes_wakes_as_what_comes() -> None:
    stores, woken = full()
    for store, name, namespace in (
        (stores.backends, "rack", ""),
        (stores.pools, "big", ""),
        (stores.bindings, "share", "team"),
    ):
        last = store.get(namespace, name)
        assert last is not None
        store.remove(last)
    assert woken == [CHAT] * 3


@pytest.mark.parametrize(
    "heartbeat",
    [
        lambda stores: stores.pools.put(pool(usage={"total": "7Gi"}, phase="Ready", domains=[{"name": "team"}])),
        lambda stores: stores.bindings.put(
            binding(
                {
                    "phase": "Ready",
                    "usage": "3Gi",
                    "blocks": 5,
                    "conditions": [
                        {"type": "QuotaGranted", "status": "True", "message": "again"},
                        {"type": "Releasable", "status": "False"},
                    ],
                }
            )
        ),
        lambda stores: stores.backends.put(backend()),
    ],
    ids=["pool", "binding", "backend"],
)
def test_figures_that_move_wake_nobody_and_lead_to_the_same_store(heartbeat: Any) -> None:
    stores, woken = full()
    of = reading.deployment(deployment(cache="share"))
    before = following.cache(stores, of)
    heartbeat(stores)
    assert woken == []
    assert following.cache(stores, of) == before


def test_a_figure_of_an_artifact_wakes_nobody() -> None:
    stores, woken = watched()
    stores.artifacts.put(artifact())
    stores.artifacts.put(artifact({"conditions": [{"type": "Degraded", "status": "True"}]}))
    assert woken == [CHAT]


@pytest.mark.parametrize("kind", OwnedKind)
def test_an_owned_object_of_any_kind_wakes_its_owner_by_the_controller_reference(kind: OwnedKind) -> None:
    stores, woken = watched()
    owner = shapes.OwnerReference(kind="ModelDeployment", name="chat", uid="team-chat", controller=True)
    meta = shapes.ObjectMeta(
        name="chat-router", namespace="team", uid="o", resource_version="1", owner_references=(owner,)
    )
    stores.owned[kind].put(Document(metadata=meta))
    assert woken == [CHAT]
    labelled = msgspec.structs.replace(meta, resource_version="2", labels={keys.RESOURCE_TYPE: "modeldeployments"})
    stores.owned[kind].put(Document(metadata=labelled))
    assert set(woken[1:]) == {CHAT}
    woken.clear()
    beat = msgspec.structs.replace(labelled, resource_version="3", annotations={})
    stores.owned[kind].put(Document(metadata=beat, status=msgspec.Raw(b'{"observedGeneration":2}')))
    assert woken == []


def test_an_instance_type_wakes_the_deployments_that_name_it_by_what_they_are_rendered_from() -> None:
    stores, woken = watched()
    spec = {"os": "linux", "arch": "amd64"}

    def published(name: str, **status: object) -> None:
        stores.types.put(stored(name, spec, {"entrance": "q", **status}))

    published("other")
    assert woken == []
    published("a10")
    everybody = {CHAT, Key("team", "plain"), Key("others", "other")}
    assert set(woken) == everybody
    woken.clear()
    published("a10", phase="Ready", accelerator={"remaining": "7", "capacity": "8"})
    assert woken == []
    published("a10", detail={"manufacturer": "nvidia", "runtimeVersions": ["12.8"]})
    assert set(woken) == everybody


def test_of_every_kind_but_services_only_the_objects_of_routers_are_watched() -> None:
    router = "app.kubernetes.io/name=model-deployment,modeldeployment.gpustack.ai/router"
    assert {kind.value: selector for kind, selector in LABELS.items()} == {
        "ServiceAccount": router,
        "Role": router,
        "RoleBinding": router,
        "ConfigMap": router,
        "Service": "app.kubernetes.io/name=model-deployment",
        "Deployment": router,
    }


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
    found = following.artifact(stores, reading.deployment(deployment(artifact="qwen")))
    told = following.weights(found, policy)
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
    assert following.artifact(stores, reading.deployment(deployment(artifact="qwen"))) is None
    assert following.weights(None, Policy()) is None
