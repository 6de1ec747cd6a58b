"""Crash anywhere: whatever goes wrong once, a deployment ends as if nothing had, and no promise breaks on the way.

A fixed part of all runs is played here; `make reliability` plays all of them.
"""

import pytest
from modeldeployment.lab.crashes import SCENARIOS, Scenario, Undisturbed, faults_of, judged, play, sound

RUNS = 20
"""Runs of each scenario in this suite."""


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_a_scenario_that_one_thing_disturbs_ends_as_if_nothing_had(scenario: Scenario) -> None:
    plain = play(scenario, Undisturbed())
    assert sound(plain) == []
    for fault in faults_of(plain)[:RUNS]:
        assert judged(play(scenario, fault), plain) == [], f"{scenario.name}, {fault}"
