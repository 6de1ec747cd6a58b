"""What the scaler's series say."""

from operator_metrics import everything, samples


def test_what_passes_came_to_is_counted_by_what_it_was() -> None:
    found = samples(everything(), "modeldeployment_scaler_")
    assert found["plans_total",] == 9
    assert {key: count for key, count in found.items() if key[0] in ("commits_total", "commits_failed_total")} == {
        ("commits_total", "Planned"): 3,
        ("commits_total", "Rollback"): 1,
        ("commits_failed_total", "Abandoned"): 2,
    }
    assert found["bindings_total", "Acquired"] == 1
    assert found["commits_adopted_total",] == 1


def test_lateness_is_a_histogram_of_passes_that_plan() -> None:
    found = samples(everything(), "modeldeployment_scaler_pass_lateness_seconds_")
    assert [found["bucket", bound] for bound in ("0.1", "0.5", "30.0", "+Inf")] == [1, 2, 2, 3]
    assert found["sum",] == 60.45


def test_the_counts_of_a_role_are_told_as_status_tells_them() -> None:
    found = samples(everything(), "modeldeployment_scaler_replicas")
    assert found == {("", "current", "team", "server", "chat"): 4, ("", "ready", "team", "server", "chat"): 3}
