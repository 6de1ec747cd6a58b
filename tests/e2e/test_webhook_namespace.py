"""The webhook for one namespace of a control plane that others use too, served by the test process."""

from copy import deepcopy
from typing import Any

import pytest
from e2e_webhooks import UNREVIEWED, Reviewed, create
from modeldeployment.admission import Policy
from modeldeployment.admission.examples import DEPLOYMENT, GONE, changed
from modeldeployment.api import keys
from modeldeployment.kube import Client, Invalid, custom, load

pytestmark = pytest.mark.lab

DEPLOYMENTS = custom(keys.GROUP, keys.VERSION, "modeldeployments", "ModelDeployment")
CLAIM = {keys.SCALER_BINDING: '{"scalerName":"qwen","scalerUID":"8c4e","term":1}'}


def privileged(namespace: str, **labels: str) -> dict[str, Any]:
    body = changed(DEPLOYMENT, {"metadata.namespace": namespace, "spec.kvCache": GONE})
    body["metadata"]["labels"] = labels
    body["spec"]["roles"][0]["privileged"] = True
    return deepcopy(body)


async def refused(client: Client, body: dict[str, Any]) -> list[str]:
    """The fields a dry run of a create is refused for."""
    try:
        await client.raw(create(body, dry_run=True))
    except Invalid as error:
        return list(dict.fromkeys(cause.field for cause in error.details.causes))
    return []


async def test_it_reviews_its_namespace_and_no_other(webhook_namespace: Reviewed, kube_client: Client) -> None:
    absent, allowed = "spec.roles[0].instanceType", "spec.roles[0].privileged"
    assert await refused(kube_client, privileged(webhook_namespace.namespace)) == [absent, allowed]
    assert await refused(kube_client, privileged("default")) == []


async def test_it_passes_over_what_is_marked(webhook_namespace: Reviewed, kube_client: Client) -> None:
    assert await refused(kube_client, privileged(webhook_namespace.namespace, **{UNREVIEWED: "true"})) == []


async def test_it_judges_by_the_settings_of_the_moment(webhook_namespace: Reviewed, kube_client: Client) -> None:
    body = privileged(webhook_namespace.namespace)
    webhook_namespace.judge_by(Policy(privileged_allowed=True))
    try:
        assert await refused(kube_client, body) == ["spec.roles[0].instanceType"]
    finally:
        webhook_namespace.judge_by(Policy())


async def test_the_account_it_runs_as_is_the_operator(webhook_namespace: Reviewed, kube_client: Client) -> None:
    namespace = webhook_namespace.namespace
    stored = privileged(namespace, **{UNREVIEWED: "true"})
    del stored["spec"]["roles"][0]["privileged"]
    await kube_client.raw(create(stored))
    try:
        change = {"metadata": {"annotations": CLAIM, "labels": {UNREVIEWED: None}}}
        with pytest.raises(Invalid) as said:
            await kube_client.patch(DEPLOYMENTS, "qwen-72b", change, namespace)
        fields = {cause.field for cause in said.value.details.causes}
        assert f"metadata.annotations[{keys.SCALER_BINDING}]" in fields
        async with Client(load(webhook_namespace.operators), field_manager="operator") as operator:
            with pytest.raises(Invalid) as said:
                await operator.patch(DEPLOYMENTS, "qwen-72b", change, namespace)
        assert {cause.field for cause in said.value.details.causes} == {"spec.roles[0].instanceType"}
    finally:
        await kube_client.delete(DEPLOYMENTS, "qwen-72b", namespace)
