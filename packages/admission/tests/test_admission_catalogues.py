"""Rows K4 and K5 of facts admission §9: routers that score by metrics, and the engines they front."""

import pytest
from modeldeployment.api.choices import EngineName, RouterName
from modeldeployment.render import ENGINES
from modeldeployment.router import ROUTERS, Metric

FRONTED = [(router, engine) for router, row in ROUTERS.items() for engine in sorted(row.engines)]


@pytest.mark.parametrize(("router", "engine"), FRONTED)
def test_every_engine_has_the_metrics_of_every_router_that_fronts_it(router: RouterName, engine: EngineName) -> None:
    assert ROUTERS[router].lacks(ENGINES[engine].metrics) == ()


def test_llm_d_router_says_which_metrics_an_engine_without_any_lacks() -> None:
    lacking = ROUTERS[RouterName.LLM_D].lacks({})
    assert lacking == (Metric.QUEUED_REQUESTS, Metric.RUNNING_REQUESTS, Metric.KV_CACHE_UTILIZATION)


@pytest.mark.parametrize("router", [RouterName.VLLM, RouterName.SGLANG])
def test_the_other_routers_ask_for_no_metric(router: RouterName) -> None:
    assert ROUTERS[router].lacks({}) == ()
