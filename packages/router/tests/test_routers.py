import pytest
from modeldeployment.api.choices import EngineName, RouterName
from modeldeployment.router import ROUTERS, Metric

VLLM, SGLANG = EngineName.VLLM, EngineName.SGLANG
SHARED = {
    "--host",
    "--port",
    "--prometheus-host",
    "--prometheus-port",
    "--service-discovery",
    "--service-discovery-namespace",
    "--service-discovery-port",
    "--selector",
    "--prefill-selector",
    "--decode-selector",
}
ALL_METRICS = (Metric.QUEUED_REQUESTS, Metric.RUNNING_REQUESTS, Metric.KV_CACHE_UTILIZATION)


def test_every_router_a_deployment_can_name_has_a_row() -> None:
    assert list(ROUTERS) == list(RouterName)
    assert all(row.name is name for name, row in ROUTERS.items())


@pytest.mark.parametrize(
    ("name", "engines"),
    [("llm-d-router", {VLLM, SGLANG}), ("vllm-router", {VLLM}), ("sglang-gateway", {SGLANG})],
)
def test_a_router_fronts_the_engines_of_its_own_project_only_unless_it_has_both(
    name: RouterName, engines: set[EngineName]
) -> None:
    assert ROUTERS[name].engines == engines


@pytest.mark.parametrize(
    ("name", "owned"),
    [
        (
            "llm-d-router",
            {
                "--endpoint-selector",
                "--endpoint-target-ports",
                "--config-file",
                "--secure-serving",
                "--grpc-health-port",
                "--metrics-endpoint-auth",
            },
        ),
        ("vllm-router", SHARED | {"--kv-connector", "--vllm-pd-disaggregation", "--epd-config"}),
        ("sglang-gateway", SHARED | {"--pd-disaggregation"}),
    ],
)
def test_the_owned_flags_are_those_of_the_documents(name: RouterName, owned: set[str]) -> None:
    assert ROUTERS[name].owned_arguments == owned


@pytest.mark.parametrize(
    ("name", "argument", "owned"),
    [
        ("llm-d-router", "--endpoint-selector=a=b", "--endpoint-selector"),
        ("llm-d-router", "--secure-serving", "--secure-serving"),
        ("llm-d-router", "--secure-serv", None),
        ("llm-d-router", "--secure_serving", None),
        ("llm-d-router", "--secure-serving-more", None),
        ("llm-d-router", "--host", None),
        ("vllm-router", "--host", "--host"),
        ("vllm-router", "--kv-connector=nixl", "--kv-connector"),
        ("vllm-router", "--verbose", None),
        ("sglang-gateway", "--pd-disaggregation", "--pd-disaggregation"),
        ("sglang-gateway", "--vllm-pd-disaggregation", None),
        ("sglang-gateway", "--kv-connector", None),
        ("sglang-gateway", "0.0.0.0", None),
        ("sglang-gateway", "", None),
        ("sglang-gateway", "=", None),
    ],
)
def test_a_flag_is_owned_by_its_exact_name_and_by_that_router_only(
    name: RouterName, argument: str, owned: str | None
) -> None:
    assert ROUTERS[name].owns(argument) == owned


@pytest.mark.parametrize(
    ("name", "thresholds", "metrics", "events", "proxies", "counts", "ascend", "embeds"),
    [
        ("llm-d-router", True, ALL_METRICS, True, True, True, True, False),
        ("vllm-router", False, (), False, False, False, False, True),
        ("sglang-gateway", False, (), False, False, False, False, False),
    ],
)
def test_what_each_router_asks_for(
    name: RouterName,
    thresholds: bool,
    metrics: tuple[Metric, ...],
    events: bool,
    proxies: bool,
    counts: bool,
    ascend: bool,
    embeds: bool,
) -> None:
    row = ROUTERS[name]
    assert (row.thresholds, row.metrics, row.needs_metrics) == (thresholds, metrics, bool(metrics))
    assert (row.kv_events, row.proxies_decode, row.counts_tokens) == (events, proxies, counts)
    assert (row.pairs_ascend, row.embeds) == (ascend, embeds)


def test_an_engine_without_a_number_lacks_it_only_where_the_router_scores_by_it() -> None:
    names = {Metric.QUEUED_REQUESTS: "engine:queued", Metric.RUNNING_REQUESTS: ""}
    assert ROUTERS[RouterName.LLM_D].lacks(names) == (Metric.RUNNING_REQUESTS, Metric.KV_CACHE_UTILIZATION)
    assert ROUTERS[RouterName.VLLM].lacks(names) == ()
