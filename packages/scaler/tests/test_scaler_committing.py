"""The one request that writes counts and their decision."""

from modeldeployment.api.binding import Decision
from modeldeployment.scaler import committing, observing
from scaler_worlds import deployment


def test_counts_that_move_and_their_decision_go_over_one_version() -> None:
    seen = observing.declared(deployment({"prefill": 2, "decode": 3}, version=41))
    decision = Decision(decision_id="d-1", term=3, vector={"prefill": 4, "decode": 3})
    assert committing.counts(seen, decision) == [
        {"op": "replace", "path": "/metadata/uid", "value": "uid-t"},
        {"op": "replace", "path": "/metadata/resourceVersion", "value": "41"},
        {"op": "add", "path": "/spec/roles/0/replicas", "value": 4},
        {
            "op": "add",
            "path": "/metadata/annotations/modeldeployment.gpustack.ai~1scaler-decision",
            "value": '{"decisionID":"d-1","term":3,"vector":{"prefill":4,"decode":3}}',
        },
    ]
