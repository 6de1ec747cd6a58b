"""An object that a later release stored, under the status writes of this one.

The later release is a copy of our definition with more fields, under a group of its own so that no other test meets it.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
import yaml
from modeldeployment.api import (
    Condition,
    ConditionStatus,
    Domain,
    KVCacheStatus,
    ModelDeploymentStatus,
    Phase,
    RoleKind,
    RoleStatus,
)
from modeldeployment.api.crds import crds
from modeldeployment.api.minimal import MINIMAL
from modeldeployment.kube import Client, Kind, NotFound, PatchType, Verb, custom, request_for
from modeldeployment.kube.kinds import CUSTOM_RESOURCE_DEFINITIONS
from modeldeployment.kube.shapes import Custom
from modeldeployment.lab.flavors.writing import remove

GROUP = "later.example.com"
LATER = {"description": "Of a later release.", "type": "object", "x-kubernetes-preserve-unknown-fields": True}
KIND: Kind[Custom] = custom(GROUP, "v1", "modeldeployments", "ModelDeployment", namespaced=True)


def later_definition() -> dict[str, Any]:
    definition = next(crd for crd in crds() if crd["spec"]["names"]["kind"] == "ModelDeployment")
    definition["metadata"]["name"] = f"modeldeployments.{GROUP}"
    definition["spec"]["group"] = GROUP
    del definition["spec"]["names"]["shortNames"], definition["spec"]["names"]["categories"]
    fields = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
    for node in (fields["spec"], fields["spec"]["properties"]["roles"]["items"], fields["status"]):
        node["properties"]["later"] = LATER
    fields["status"]["properties"]["kvCache"]["properties"]["later"] = LATER
    return definition


async def until_served(client: Client) -> None:
    async with asyncio.timeout(60):
        while True:
            try:
                await client.raw(request_for(Verb.LIST, KIND, query={"limit": "1"}))
            except NotFound:
                await asyncio.sleep(0.05)
            else:
                return


@pytest.fixture
async def later(kube_client: Client) -> AsyncIterator[Client]:
    await kube_client.create(CUSTOM_RESOURCE_DEFINITIONS, later_definition())
    await until_served(kube_client)
    yield kube_client
    await remove(kube_client, CUSTOM_RESOURCE_DEFINITIONS, f"modeldeployments.{GROUP}")


async def read(client: Client, namespace: str) -> dict[str, Any]:
    stored: dict[str, Any] = json.loads(await client.raw(request_for(Verb.GET, KIND, namespace, "qwen-72b")))
    return stored


def observed(ready: int) -> ModelDeploymentStatus:
    return ModelDeploymentStatus(
        phase=Phase.READY if ready else Phase.STARTING,
        conditions=(Condition(type="Rendered", status=ConditionStatus.TRUE, reason="Rendered"),),
        roles=(
            RoleStatus(name="server", kind=RoleKind.SERVER, desired=1, ready=ready, quota_reserved=1, unmanaged=False),
        ),
        kv_cache=KVCacheStatus(
            binding="shared-kv", pool="dram", domain=Domain(name="default", block_size=128, dtype="bfloat16")
        ),
    )


@pytest.mark.lab
async def test_what_a_later_release_stored_outlives_the_status_this_one_writes(later: Client, namespace: str) -> None:
    document = yaml.safe_load(MINIMAL["ModelDeployment"])
    document["apiVersion"] = f"{GROUP}/v1"
    document["metadata"]["namespace"] = namespace
    document["spec"]["later"] = {"a": [1, None, {"b": "c"}]}
    document["spec"]["roles"][0]["later"] = {"d": True}
    await later.create(KIND, document, namespace)
    newer = {"later": {"e": 1}, "kvCache": {"later": {"f": 2}, **observed(0).body()["kvCache"]}}
    for status in (newer, observed(0).body(), observed(1).body()):
        await later.patch(KIND, "qwen-72b", {"status": status}, namespace, how=PatchType.MERGE, subresource="status")

    stored = await read(later, namespace)
    assert stored["spec"]["later"] == {"a": [1, None, {"b": "c"}]}
    assert stored["spec"]["roles"][0]["later"] == {"d": True}
    assert stored["status"]["later"] == {"e": 1}
    assert stored["status"]["kvCache"]["later"] == {"f": 2}
    assert stored["status"]["phase"] == "Ready"
    assert stored["metadata"]["generation"] == 1
