"""When a Lease may be taken."""

import pytest
from modeldeployment.kube.leader import Occupied, Timing, Vacancy, judge
from modeldeployment.kube.shapes import LeaseSpec

TIMING = Timing(lease=15.0)


@pytest.mark.parametrize(
    ("spec", "now", "verdict"),
    [
        (LeaseSpec(), 100.0, Vacancy.FREE),
        (LeaseSpec(holder_identity="me", lease_duration_seconds=15), 100.0, Vacancy.OURS),
        (LeaseSpec(holder_identity="other", lease_duration_seconds=15), 100.0, Occupied("other", 115.0)),
        (LeaseSpec(holder_identity="other", lease_duration_seconds=15), 114.9, Occupied("other", 115.0)),
        (LeaseSpec(holder_identity="other", lease_duration_seconds=15), 115.0, Vacancy.OVERDUE),
        (LeaseSpec(holder_identity="other", lease_duration_seconds=60), 115.0, Occupied("other", 160.0)),
        (LeaseSpec(holder_identity="other"), 114.9, Occupied("other", 115.0)),
    ],
)
def test_a_lease_is_taken_when_it_is_free_ours_or_unrenewed_for_its_whole_time(
    spec: LeaseSpec, now: float, verdict: Vacancy | Occupied
) -> None:
    assert judge(spec, "me", seen_at=100.0, now=now, timing=TIMING) == verdict
