"""What the cluster cannot give a deployment: each a typed refusal, said in the condition and in the event, with nothing
half rendered."""

import json
from dataclasses import dataclass
from typing import Any

import e2e_cached
import pytest
from e2e_worlds import World
from modeldeployment.api import keys
from modeldeployment.kube import PatchType
from modeldeployment.kube.kinds import PODS, SERVICES
from modeldeployment.reconcile import INSTANCE_TYPES

pytestmark = pytest.mark.lab

DETAIL = {"manufacturer": "ascend", "family": "910B", "runtimeVersions": ["9.0"]}


@dataclass(frozen=True)
class Bad:
    """What a type publishes, whether its deployment names a cache over TCP, and what the user reads."""

    detail: dict[str, Any]
    reason: str
    says: str
    entrance: bool = True
    cached: bool = False


BAD = {
    "no-entrance": Bad(DETAIL, "InstanceTypeNotReady", "publishes no queue entrance yet", entrance=False),
    "no-runtime": Bad(
        {**DETAIL, "runtimeVersions": []}, "RuntimeVersionNotObserved", "has not observed a runtime version yet"
    ),
    "no-variant": Bad(
        {**DETAIL, "family": "910"}, "ImageNotSynthesizable", 'ascend family "910" has no runner backend variant'
    ),
    "no-such-maker": Bad(
        {**DETAIL, "manufacturer": "acme"}, "ImageNotSynthesizable", 'manufacturer "acme" has no runner backend'
    ),
    "no-transport": Bad(DETAIL, "TransportUnsupported", "reads blocks over ascend alone", cached=True),
}


@pytest.mark.parametrize("case", BAD)
async def test_what_cannot_be_rendered_is_said_and_nothing_of_it_is_made(world: World, case: str) -> None:
    bad, type_name = BAD[case], f"{world.namespace}-{case}"
    copied = json.loads((await world.kubectl("get", "instancetype", world.instance_type, "-o", "json")).out)
    body = {"apiVersion": copied["apiVersion"], "kind": copied["kind"], "metadata": {"name": type_name}}
    await world.client.create(INSTANCE_TYPES, {**body, "spec": copied["spec"]})
    store = await e2e_cached.cache(world) if bad.cached else None
    try:
        status = {"detail": bad.detail, **({"entrance": world.provision.local_queue} if bad.entrance else {})}
        await world.client.patch(
            INSTANCE_TYPES, type_name, {"status": status}, how=PatchType.MERGE, subresource="status"
        )
        manifest = world.manifest("chat", instanceType=type_name)
        manifest["spec"]["router"] = {"name": "llm-d-router"}
        if store is not None:
            await store.grant()
            await store.answer("10.0.0.1:50051")
            store.attached(manifest)
        assert (await world.apply(manifest)).code == 0
        await world.board.until(
            lambda: world.board.says("chat", "Rendered", "False", bad.reason), what=f"{bad.reason} is said"
        )
        message = world.board.condition("chat", "Rendered")["message"]
        assert bad.says in message
        await world.board.until(lambda: world.board.notes("RenderFailed")[-1:] == [message], what="the event says so")
        assert world.board.came(PODS) == []
        assert world.board.came(SERVICES) == []
        routers = await world.kubectl("get", "deployments,configmaps,roles", "-l", keys.ROUTER, "-o", "name")
        assert routers.out == ""
        await world.delete("chat")
        await world.gone("chat")
    finally:
        await world.client.delete(INSTANCE_TYPES, type_name)
        if store is not None:
            await store.clear()
