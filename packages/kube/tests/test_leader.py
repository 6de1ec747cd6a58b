"""When a Lease may be taken."""

import pytest
from modeldeployment.kube.leader import Timing, free_at
from modeldeployment.kube.shapes import LeaseSpec

NOW = float("-inf")


@pytest.mark.parametrize(
    ("spec", "free"),
    [
        (LeaseSpec(), NOW),
        (LeaseSpec(holder_identity="me", lease_duration_seconds=15), NOW),
        (LeaseSpec(holder_identity="other", lease_duration_seconds=15), 115.0),
        (LeaseSpec(holder_identity="other", lease_duration_seconds=60), 160.0),
        (LeaseSpec(holder_identity="other"), 115.0),
    ],
)
def test_a_lease_is_free_when_nobody_else_holds_it_or_it_was_not_renewed_for_its_whole_time(
    spec: LeaseSpec, free: float
) -> None:
    assert free_at(spec, "me", seen_at=100.0, timing=Timing(lease=15.0)) == free
