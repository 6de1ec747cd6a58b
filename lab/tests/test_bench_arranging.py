"""Which deployments shrink in the benchmark of retirement."""

import pytest
from modeldeployment.api.modeldeployment import ModelDeployment
from modeldeployment.lab.bench.arranging import TOKEN_SECONDS, Arrangement, shrinks
from modeldeployment.lab.bench.retiring import ABREAST
from modeldeployment.lab.loading import requests


@pytest.mark.parametrize("retirements", [1, 20, 500])
def test_every_arrangement_and_router_takes_part_and_about_as_many_leave_as_were_asked_for(retirements: int) -> None:
    planned = shrinks(retirements)
    assert {each.arrangement for each in planned} == set(Arrangement)
    assert {each.router for each in planned} == {"vllm-router", "sglang-gateway"}
    assert sum(each.retirements for each in planned) >= retirements
    assert sum(each.retirements for each in planned) <= retirements + 6
    assert len({each.name for each in planned}) == len(planned)


def test_those_that_are_there_at_one_time_fit_the_fleet_of_the_suite() -> None:
    largest = sorted((each.pods for each in shrinks(1000)), reverse=True)
    assert sum(largest[:ABREAST]) < 1024


def test_no_deployment_of_a_thousand_has_more_to_lose_than_a_few_minutes_take() -> None:
    assert {each.arrangement: each.leaving for each in shrinks(1000)} == {
        Arrangement.HALF: 1,
        Arrangement.GROUP: 4,
        Arrangement.SERVER: 5,
    }
    assert max(each.retirements for each in shrinks(1000)) == 7


def test_the_manifests_are_deployments() -> None:
    for each in shrinks(20):
        read = ModelDeployment.model_validate(each.manifest("bench", "a10g"))
        assert sum(role.replicas * role.size for role in read.spec.roles) == each.pods
        assert {role.termination_grace_period_seconds for role in read.spec.roles} == {each.grace}


def test_the_longest_request_fits_between_settle_and_reserve() -> None:
    for seed, each in enumerate(shrinks(20)):
        longest = max(request.tokens for request in requests(each.load(seed))[:500])
        assert longest * TOKEN_SECONDS <= each.grace - 10
