"""Warnings as the webhook answers them."""

import json
from typing import Any

from modeldeployment.admission import Policy
from modeldeployment.admission.examples import SCALER, changed
from modeldeployment.admission.webhook.answering import Reviewer
from modeldeployment.admission.webhook.configurations import Half
from modeldeployment.kube import Access, Client, Credential

ZERO = "spec.behavior.scaleUp.maxStepReplicas"


def review(body: dict[str, Any]) -> bytes:
    """A create of a scaler, as the API server asks about it."""
    request = {
        "uid": "7c8f1c1e",
        "kind": {"group": "worker.gpustack.ai", "version": "v1", "kind": "ModelDeploymentScaler"},
        "operation": "CREATE",
        "namespace": "team-a",
        "object": body,
    }
    return json.dumps({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}).encode()


async def test_the_half_that_replaces_a_zero_tells_of_it() -> None:
    # Defaulting a scaler reads nothing, so nobody has to answer at that address.
    async with Client(Access(lambda: Credential(server="http://127.0.0.1:1"))) as client:
        reviewer = Reviewer(client, Policy())
        answers = [
            json.loads(await reviewer.answer(Half.MUTATE, "ModelDeploymentScaler", review(body)))["response"]
            for body in (changed(SCALER, {ZERO: 0}), SCALER)
        ]
    zero, usual = answers
    assert zero["allowed"] is True
    assert [line.split()[:2] for line in zero["warnings"]] == [["MDW51", f"{ZERO}:"]]
    assert "warnings" not in usual
