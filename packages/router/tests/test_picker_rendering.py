"""What `llm-d-router` is told: its documents, and the command line of its picker."""

import pytest
from modeldeployment.router import FrontedRole, Metric, MetricMissing, front
from router_fronts import (
    LLM_D,
    SGLANG,
    VLLM,
    config,
    containers,
    decode,
    document,
    encode,
    plugins,
    prefill,
    profiles,
    routed,
    server,
    template,
)

SELECTED = (
    "app.kubernetes.io/name=model-deployment,app.kubernetes.io/instance=qwen,"
    "modeldeployment.gpustack.ai/endpoint-eligible=true,!modeldeployment.gpustack.ai/router"
)
KIND = "modeldeployment.gpustack.ai/role-kind"
HASH = "modeldeployment.gpustack.ai/router-config-hash"
PAIR = (prefill(), decode())


@pytest.mark.parametrize(
    "text",
    [
        "vllm:num_requests_waiting",
        "vllm:num_requests_running",
        "vllm:kv_cache_usage_perc",
        "port: 8000",
        "topicFilter: kv@",
        "socketPort: 5557",
        "replaySocketPort: 5558",
        "url: http://qwen-prefill.team-a.svc:8000",
        "nonCachedTokens: 8",
        "promptTokens: 0",
        "role-kind!=decode",
    ],
)
def test_a_pair_is_told_of_as_the_documents_say(text: str) -> None:  # R8
    assert text in config(routed(LLM_D, *PAIR))["epp.yaml"]


def test_the_picker_is_told_everything_about_a_pair_on_vllm() -> None:
    events = {
        "topicFilter": "kv@",
        "concurrency": 4,
        "engineType": "vllm",
        "discoverPods": True,
        "podDiscoveryConfig": {
            "podLabelSelector": f"{SELECTED},{KIND}!=decode",
            "podNamespace": "team-a",
            "socketPort": 5557,
            "replaySocketPort": 5558,
        },
    }
    series = {
        "name": "vllm",
        "queuedRequestsSpec": "vllm:num_requests_waiting",
        "runningRequestsSpec": "vllm:num_requests_running",
        "kvUsageSpec": "vllm:kv_cache_usage_perc",
    }
    found = plugins(routed(LLM_D, *PAIR))
    assert list(found.items()) == [
        ("decode-pods", {"matchLabels": {KIND: "decode"}}),
        ("prefill-pods", {"matchLabels": {KIND: "prefill"}}),
        (
            "token-producer",
            {"modelName": "Qwen/Qwen2.5-72B-Instruct", "vllm": {"url": "http://qwen-prefill.team-a.svc:8000"}},
        ),
        ("endpoint-notification-source", None),
        ("precise-prefix-cache-producer", {"kvEventsConfig": events}),
        ("queue-scorer", None),
        ("kv-cache-utilization-scorer", None),
        ("max-score-picker", None),
        ("prefix-cache-scorer", {"prefixMatchInfoProducerName": "precise-prefix-cache-producer"}),
        ("metrics-data-source", {"port": 8000}),
        ("core-metrics-extractor", {"engineConfigs": [series]}),
        ("prefix-based-pd-decider", {"promptTokens": 0, "nonCachedTokens": 8}),
        (
            "disagg-profile-handler",
            {
                "profiles": {"prefill": "prefill", "decode": "decode"},
                "deciders": {"prefill": "prefix-based-pd-decider"},
            },
        ),
    ]


def test_the_document_follows_events_and_reads_metrics_through_its_data_layer() -> None:
    read = document(routed(LLM_D), "epp.yaml")
    assert (read["apiVersion"], read["kind"]) == ("llm-d.ai/v1alpha1", "EndpointPickerConfig")
    assert read["dataLayer"] == {
        "sources": [
            {"pluginRef": "metrics-data-source", "extractors": [{"pluginRef": "core-metrics-extractor"}]},
            {
                "pluginRef": "endpoint-notification-source",
                "extractors": [{"pluginRef": "precise-prefix-cache-producer"}],
            },
        ]
    }


def test_a_role_at_a_port_of_its_own_is_scraped_there_and_status_says_so() -> None:  # R9
    rendering = routed(LLM_D, prefill(port=8100), decode(port=8100))
    assert plugins(rendering)["metrics-data-source"] == {"port": 8100}
    assert config(rendering)["endpoint-target-ports"] == "8100"
    assert rendering.contract.metrics is not None
    assert rendering.contract.metrics.port == 8100


def test_without_a_decoder_every_replica_may_publish_events() -> None:  # R11
    found = plugins(routed(LLM_D))
    events = found["precise-prefix-cache-producer"]["kvEventsConfig"]
    assert events["podDiscoveryConfig"]["podLabelSelector"] == SELECTED
    assert "disagg-profile-handler" not in found


def test_neither_order_nor_anything_else_of_roles_moves_a_document() -> None:  # R12
    one, other = prefill(name="b"), prefill(name="a")
    assert config(routed(LLM_D, one, decode(), other)) == config(routed(LLM_D, other, one, decode()))


def test_a_further_argument_moves_the_hash_and_with_it_the_pods() -> None:  # R14, the rendered half
    plain, chatty = routed(LLM_D), routed(LLM_D, extraArgs=["--zap-log-level=debug"])
    assert config(plain)["extra-args.json"] == "null"
    assert config(chatty)["extra-args.json"] == '["--zap-log-level=debug"]'
    assert containers(chatty)["epp"]["args"][-1] == "--zap-log-level=debug"
    hashes = [template(each)["metadata"]["annotations"][HASH] for each in (plain, chatty)]
    assert hashes[0] != hashes[1]
    assert all(len(each) == 64 and set(each) <= set("0123456789abcdef") for each in hashes)


SCORED = [("queue-scorer", 2), ("kv-cache-utilization-scorer", 2), ("max-score-picker", None)]


@pytest.mark.parametrize(
    ("roles", "expected"),
    [
        pytest.param(
            PAIR,
            {
                "decode": [("decode-pods", None), *SCORED],
                "prefill": [("prefill-pods", None), *SCORED, ("prefix-cache-scorer", 3)],
            },
            id="R21-pair",
        ),
        pytest.param(
            (server(),), {"server": [("server-pods", None), *SCORED, ("prefix-cache-scorer", 3)]}, id="R21-server"
        ),
        pytest.param((decode(),), {"decode": [("decode-pods", None), *SCORED]}, id="R21-lone-decode"),
    ],
)
def test_prefixes_are_scored_for_every_kind_but_decode(
    roles: tuple[FrontedRole, ...], expected: dict[str, list[tuple[str, int | None]]]
) -> None:
    assert profiles(routed(LLM_D, *roles)) == expected


@pytest.mark.parametrize(
    ("threshold", "tokens"),
    [
        pytest.param({"disaggregationThresholdTokens": 0}, 0, id="R31"),
        ({}, 8),
        ({"disaggregationThresholdTokens": 96}, 96),
    ],
)
def test_a_threshold_of_zero_is_a_value_and_not_its_absence(threshold: dict[str, int], tokens: int) -> None:
    decider = plugins(routed(LLM_D, *PAIR, **threshold))["prefix-based-pd-decider"]
    assert decider == {"promptTokens": 0, "nonCachedTokens": tokens}


def test_what_sglang_holds_is_guessed_from_its_own_series() -> None:  # R32
    rendering = routed(LLM_D, *PAIR, engine=SGLANG)
    found = plugins(rendering)
    assert found["approx-prefix-cache-producer"] is None
    assert found["prefix-cache-scorer"] is None
    assert found["core-metrics-extractor"] == {
        "engineConfigs": [
            {
                "name": "sglang",
                "queuedRequestsSpec": "sglang:num_queue_reqs",
                "runningRequestsSpec": "sglang:num_running_reqs",
                "kvUsageSpec": "sglang:token_usage",
                "cacheBlockSizeSpec": "sglang:page_size",
                "cacheNumBlocksSpec": "sglang:num_pages",
            }
        ],
        "defaultEngine": "sglang",
    }
    assert not {"token-producer", "endpoint-notification-source", "precise-prefix-cache-producer"} & set(found)
    assert "dataLayer" not in document(rendering, "epp.yaml")


@pytest.mark.parametrize(
    ("roles", "url"),
    [
        ((server(name="b"), prefill(name="z"), prefill(name="c")), "http://qwen-c.team-a.svc:8000"),
        ((decode(), server(name="b"), server(name="a")), "http://qwen-a.team-a.svc:8000"),
        ((decode(name="y"), decode(name="x")), "http://qwen-x.team-a.svc:8000"),
    ],
)
def test_tokens_are_counted_by_prefill_then_server_then_whoever_is_first_by_name(
    roles: tuple[FrontedRole, ...], url: str
) -> None:
    assert plugins(routed(LLM_D, *roles))["token-producer"]["vllm"] == {"url": url}


@pytest.mark.parametrize("metric", list(Metric))
def test_an_engine_without_a_number_to_score_by_is_refused_by_the_numbers_name(metric: Metric) -> None:
    numbers = {each: name for each, name in VLLM.numbers.items() if each is not metric}
    engine = front.Engine(VLLM.name, VLLM.tag, numbers, {})
    with pytest.raises(MetricMissing) as refused:
        routed(LLM_D, engine=engine)
    assert str(refused.value).startswith(
        f'metric "{metric}" required by router "llm-d-router" is unavailable on engine "vllm"'
    )


def test_the_selector_is_written_term_by_term_in_one_order() -> None:
    assert config(routed(LLM_D, *PAIR))["endpoint-selector"] == SELECTED


def test_the_picker_is_pointed_at_its_documents() -> None:
    epp = containers(routed(LLM_D))["epp"]
    assert epp["args"] == [
        "--endpoint-selector=$(ENDPOINT_SELECTOR)",
        "--endpoint-target-ports=$(ENDPOINT_TARGET_PORTS)",
        "--config-file=/config/epp.yaml",
        "--secure-serving=false",
        "--grpc-health-port=9003",
        "--metrics-endpoint-auth=false",
    ]
    referred = {each["name"]: each["valueFrom"] for each in epp["env"]}
    assert referred == {
        name: {"configMapKeyRef": {"name": "qwen-router", "key": key, "optional": False}}
        for name, key in (
            ("ENDPOINT_SELECTOR", "endpoint-selector"),
            ("ENDPOINT_TARGET_PORTS", "endpoint-target-ports"),
        )
    } | {
        "NAMESPACE": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}},
        "POD_NAME": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}},
    }


# Beside an Encode role.
ENCODED = (*PAIR, encode())
ELIGIBLE = "modeldeployment.gpustack.ai/endpoint-eligible"


def test_encoders_are_candidates_and_a_retired_replica_of_another_kind_is_none() -> None:
    rendering = routed(LLM_D, *ENCODED)
    assert config(rendering)["endpoint-selector"] == (
        "app.kubernetes.io/name=model-deployment,app.kubernetes.io/instance=qwen,!modeldeployment.gpustack.ai/router"
    )
    found = plugins(rendering)
    assert found["encode-pods"] == {"matchLabels": {KIND: "encode"}}
    assert found["prefill-pods"] == {"matchLabels": {KIND: "prefill", ELIGIBLE: "true"}}
    assert found["decode-pods"] == {"matchLabels": {KIND: "decode", ELIGIBLE: "true"}}


def test_media_are_encoded_first_and_tokens_are_estimated_without_a_call() -> None:
    rendering = routed(LLM_D, *ENCODED)
    found = plugins(rendering)
    assert found["token-producer"] == {"estimate": {}}
    assert found["always-disagg-multimodal-decider"] is None
    assert found["disagg-profile-handler"] == {
        "profiles": {"prefill": "prefill", "decode": "decode", "encode": "encode"},
        "deciders": {"prefill": "prefix-based-pd-decider", "encode": "always-disagg-multimodal-decider"},
    }
    assert profiles(rendering)["encode"] == [("encode-pods", None), ("queue-scorer", 2), ("max-score-picker", None)]


def test_estimated_tokens_are_looked_for_among_guesses_since_no_event_has_them() -> None:
    rendering = routed(LLM_D, *ENCODED)
    found = plugins(rendering)
    assert found["approx-prefix-cache-producer"] is None
    assert "precise-prefix-cache-producer" not in found
    assert found["core-metrics-extractor"]["engineConfigs"][0]["cacheInfoSpec"] == "vllm:cache_config_info"
    assert "dataLayer" not in document(rendering, "epp.yaml")


def test_an_engine_that_finds_its_encoders_itself_is_routed_to_like_any_pair() -> None:
    assert config(routed(LLM_D, *ENCODED, engine=SGLANG)) == config(routed(LLM_D, *PAIR, engine=SGLANG))
