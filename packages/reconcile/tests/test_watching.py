"""Which change wakes which deployment (facts reconcile §12)."""

from dataclasses import replace
from typing import Any

import msgspec
import pytest
from modeldeployment.api import Reason, keys
from modeldeployment.kube import shapes
from modeldeployment.reconcile import Key, OwnedKind, following, reading
from modeldeployment.reconcile.deciding.seen import User
from modeldeployment.reconcile.kinds import Document
from modeldeployment.reconcile.watching import LABELS
from modeldeployment.render import Policy
from reconcile_stored import CHAT, artifact, backend, binding, claim, deployment, full, pool, stored, watched

GRANTED: dict[str, Any] = {"phase": "Ready", "conditions": [{"type": "QuotaGranted", "status": "True"}]}


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
                    "blocks": 0,
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
    before, store = following.cache(stores, of)
    heartbeat(stores)
    assert woken == []
    after, same = following.cache(stores, of)
    assert before is not None
    assert after is not None
    assert (replace(after, version=before.version), same) == (before, store)


@pytest.mark.parametrize("where", ["binding", "pool"])
def test_a_domain_that_fills_wakes_once_and_not_with_every_block(where: str) -> None:
    stores, woken = full()
    of = reading.deployment(deployment(cache="share"))

    def blocks(count: int) -> bool:
        if where == "binding":
            stores.bindings.put(binding({**GRANTED, "blocks": count}))
        else:
            own = {"name": "team", "binding": {"namespace": "team", "name": "share"}, "blocks": count}
            stores.pools.put(pool(domains=[{**own, "hitRate": f"0.{count}"}]))
        attachment, _ = following.cache(stores, of)
        assert attachment is not None
        return attachment.filled

    assert [blocks(0), blocks(1), blocks(7), blocks(900)] == [False, True, True, True]
    assert woken == [CHAT]


def test_who_claims_a_binding_is_read_even_where_the_rest_of_it_cannot_be() -> None:
    stores, woken = full()
    user = {"kind": "ModelDeployment", "namespace": "", "name": "other"}
    for spec in ({"poolRef": {"name": "big"}}, None):
        status = {**GRANTED, "usedBy": [user]}
        broken = stored("share", spec, status, namespace="team") if spec else binding(status)
        stores.bindings.put(broken)
        attachment, _ = following.cache(stores, reading.deployment(deployment(cache="share")))
        assert attachment is not None
        assert (attachment.used_by, attachment.version) == (
            (User("ModelDeployment", "", "other"),),
            broken.metadata.resource_version,
        )
    assert woken == [CHAT, CHAT]


def test_a_claim_wakes_the_deployments_whose_weights_it_holds() -> None:
    stores, woken = watched()
    stores.claims.put(claim(name="other"))
    stores.artifacts.put(artifact(persistentVolumeClaim={"claimName": "weights"}))
    woken.clear()
    stores.claims.put(claim("Pending"))
    stores.claims.put(claim("Pending"))
    stores.claims.put(claim("Bound"))
    stores.claims.put(claim("Bound", name="other"))
    assert woken == [CHAT, CHAT]


@pytest.mark.parametrize("reason", ["Materializing", "MaterializationFailed", "NodeDeliveryUnavailable"])
def test_an_artifact_that_says_it_is_not_delivered_is_heard_whatever_its_condition(reason: str) -> None:
    stores, woken = watched()
    stores.artifacts.put(artifact())
    stores.artifacts.put(artifact({"conditions": [{"type": "Delivered", "status": "False", "reason": reason}]}))
    assert woken == [CHAT, CHAT]
    of = reading.deployment(deployment(artifact="qwen"))
    weights = following.weights(stores, of, following.artifact(stores, of), Policy())
    assert weights is not None
    assert weights.said is Reason(reason)


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


def test_a_workload_whose_pods_are_gone_wakes_the_deployment_that_has_reserved_them() -> None:
    stores, woken = watched()
    status = {"retirement": {"roleName": "server", "targetMemberUIDs": ["p"], "state": "Settling"}}
    stores.deployments.put(stored("chat", status=status, namespace="team", uid="team-chat"))
    woken.clear()
    mine, other = (
        shapes.Workload(
            metadata=shapes.ObjectMeta(
                name=uid,
                namespace="team",
                uid=f"w-{uid}",
                owner_references=(shapes.OwnerReference(kind="Pod", uid=uid),),
            )
        )
        for uid in "pq"
    )
    for each in (mine, other):
        stores.workloads.put(each)
    assert woken == [CHAT]
    stores.workloads.remove(mine)
    assert woken == [CHAT, CHAT]


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
