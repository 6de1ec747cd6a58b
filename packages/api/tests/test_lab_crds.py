"""The definitions on a real API server: accepted, with their defaults, and every rule refusing what it is there for."""

from typing import Any

import pytest
from guard_examples import SHOWN, Shown, changed
from lab_kinds import OURS, create, placed, replace
from modeldeployment.api.crds import KINDS, crds
from modeldeployment.kube import Client, Invalid
from modeldeployment.kube.kinds import CUSTOM_RESOURCE_DEFINITIONS
from modeldeployment.lab.flavors.installing import install_kinds
from modeldeployment.lab.flavors.writing import remove


@pytest.fixture
async def client(kube_client: Client) -> Client:
    await install_kinds(kube_client)
    return kube_client


@pytest.mark.lab
@pytest.mark.parametrize("name", [crd["metadata"]["name"] for crd in crds()])
async def test_a_definition_is_accepted_and_established(client: Client, name: str) -> None:
    stored = await client.get(CUSTOM_RESOURCE_DEFINITIONS, name)
    conditions = {condition.type: condition.status for condition in stored.status.conditions}
    assert conditions["Established"] == "True"
    assert conditions["NamesAccepted"] == "True"
    assert "NonStructuralSchema" not in conditions


@pytest.mark.lab
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
async def test_the_least_object_of_a_kind_is_accepted(client: Client, namespace: str, kind: Any) -> None:
    document = placed(changed(kind.name, {}), namespace, namespace)
    stored = await create(client, document, dry=True)
    assert stored["metadata"]["name"] == namespace


@pytest.mark.lab
@pytest.mark.parametrize("shown", SHOWN, ids=lambda shown: shown.name)
async def test_a_rule_refuses_its_example_and_nothing_near_it(client: Client, namespace: str, shown: Shown) -> None:
    kind = shown.rule.kind
    refused, accepted = (
        placed(changed(kind, change), namespace, namespace) for change in (shown.refused, shown.accepted)
    )
    if shown.stored is None:
        with pytest.raises(Invalid) as answer:
            await create(client, refused, dry=True)
        await create(client, accepted, dry=True)
    else:
        stored = await create(client, placed(changed(kind, shown.stored), namespace, namespace))
        try:
            with pytest.raises(Invalid) as answer:
                await replace(client, refused)
            await replace(client, accepted)
        finally:
            await remove(client, OURS[kind], namespace, stored["metadata"].get("namespace"))
    ours = [cause.message for cause in answer.value.details.causes if "(MD" in cause.message]
    assert ours
    assert [text for text in ours if not text.endswith(shown.rule.keywords()["message"])] == []


@pytest.mark.lab
async def test_what_a_scaler_leaves_out_is_stored_with_its_defaults(client: Client, namespace: str) -> None:
    document = placed(changed("ModelDeploymentScaler", {}), namespace, namespace)
    document["spec"]["algorithm"]["predictive"] = {"tokenThroughput": {}}
    document["spec"]["algorithm"]["proportional"] = {"metric": "QueueDepth"}
    stored = (await create(client, document, dry=True))["spec"]
    throughput = {
        "stableWindowSeconds": 180,
        "panicWindowSeconds": 60,
        "panicThreshold": "2",
        "ttftTargetMilliseconds": "500",
        "itlTargetMilliseconds": "50",
    }
    assert stored == {
        "targetRef": {"name": "qwen-72b"},
        "mode": "Shadow",
        "suspend": False,
        "sampling": {"intervalSeconds": 15, "pendingTimeoutSeconds": 300},
        "roles": [{"name": "server", "minReplicas": 1, "maxReplicas": 16}],
        "algorithm": {
            "proportional": {"metric": "QueueDepth", "tolerance": "0.1"},
            "tokenThroughput": {"serverTargetTokensPerSecond": "2000", **throughput},
            "predictive": {
                "tokenThroughput": throughput,
                "horizonSeconds": 300,
                "qLevel": "1",
                "qTrend": "0.1",
                "measurementNoise": "10",
                "minPoints": 6,
            },
        },
        "behavior": {
            "scaleUp": {"stabilizationWindowSeconds": 0, "maxStepReplicas": 4, "maxStepPercent": 100},
            "scaleDown": {
                "stabilizationWindowSeconds": 300,
                "cooldownAfterAbortSeconds": 300,
                "decodePostScaleUpGraceSeconds": 120,
            },
        },
        "rebalance": {"policy": "Opposing"},
    }


@pytest.mark.lab
async def test_what_a_backend_leaves_out_is_stored_with_its_defaults(client: Client, namespace: str) -> None:
    stored = await create(client, placed(changed("KVCacheBackend", {}), namespace, namespace), dry=True)
    assert stored["spec"] == {
        "type": "Mooncake",
        "connection": {
            "managed": {
                "leader": {
                    "replicas": 1,
                    "electionBackend": "Kubernetes",
                    "multiTenancy": True,
                    "memberAddressing": "Service",
                },
                "members": [{"medium": "DRAM", "capacityPerMember": "64Gi"}],
            }
        },
        "transport": {"protocol": "Auto"},
    }


@pytest.mark.lab
@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("ModelDeployment", {"spec.roles.0.template": {}}),
        ("ModelDeployment", {"spec.kvCache": {"poolRef": {"name": "a", "namespace": "b"}}}),
        ("ModelDeploymentScaler", {"spec.replicas": 3}),
        ("KVCachePoolBinding", {"spec.quotaCeiling": "1Gi"}),
    ],
)
async def test_a_field_that_a_kind_does_not_have_is_refused(
    client: Client, namespace: str, kind: str, change: dict[str, Any]
) -> None:
    with pytest.raises(Invalid, match="unknown field"):
        await create(client, placed(changed(kind, change), namespace, namespace), dry=True)


@pytest.mark.lab
async def test_a_role_or_a_ratio_is_declared_once(client: Client, namespace: str) -> None:
    ratio = {"numeratorRole": "a", "denominatorRole": "b"}
    for change in ({"spec.roles": [{"name": "a", "maxReplicas": 1}] * 2}, {"spec.ratios": [ratio, ratio]}):
        with pytest.raises(Invalid, match="Duplicate value"):
            await create(client, placed(changed("ModelDeploymentScaler", change), namespace, namespace), dry=True)
