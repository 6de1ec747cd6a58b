"""Which status patches may wait: those that only count on."""

import pytest
from modeldeployment.reconcile.deciding.pacing import counts_on

ROLE = {"name": "server", "desired": 9, "ready": 3, "quotaReserved": 4, "endpoints": {"eligible": 3}}
QUOTA = {"type": "QuotaReserved", "status": "False", "reason": "Pending", "message": "5 of 9 wait"}
STATUS: dict[str, object] = {"phase": "Degraded", "phaseMessage": "3 of 9", "roles": [ROLE], "conditions": [QUOTA]}


@pytest.mark.parametrize(
    "patch",
    [
        {"phaseMessage": "4 of 9", "roleSummary": "4S"},
        {"roles": [{**ROLE, "ready": 4, "quotaReserved": 5, "assignedFlavors": ["a"], "endpoints": {"eligible": 4}}]},
        {"conditions": [{**QUOTA, "message": "4 of 9 wait"}]},
    ],
)
def test_figures_and_the_messages_that_say_them_may_wait(patch: dict[str, object]) -> None:
    assert counts_on(STATUS, patch)


@pytest.mark.parametrize(
    "patch",
    [
        {"phase": "Ready"},
        {"endpoint": "http://chat"},
        {"roles": [{**ROLE, "desired": 10}]},
        {"roles": [ROLE, {**ROLE, "name": "other"}]},
        {"conditions": [{**QUOTA, "status": "True"}]},
        {"conditions": [{**QUOTA, "reason": "Parked"}]},
        {"conditions": [{**QUOTA, "observedGeneration": 2}]},
        {"conditions": [QUOTA, {"type": "Rendered"}]},
        {"phaseMessage": "4 of 9", "phase": "Ready"},
    ],
)
def test_everything_else_is_written_at_once(patch: dict[str, object]) -> None:
    assert not counts_on(STATUS, patch)


def test_the_first_status_of_a_deployment_never_waits() -> None:
    assert not counts_on({}, STATUS)
