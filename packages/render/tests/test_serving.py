from typing import Any

import pytest
from render_worlds import main, one_pod, rendered

HTTP, HTTPS = "HTTP", "HTTPS"
CERT = ["--ssl-certfile", "x"]


def seen(engine: str = "vLLM", **fields: Any) -> tuple[int, int, str | None, str | None]:
    """Service port, target port, scraped (so engine) port, and the scheme of the probes."""
    pod, (service, *_) = one_pod(engine, **fields), rendered(engine, **fields).services
    (port,) = service["spec"]["ports"]
    probe = main(pod).get("readinessProbe")
    if probe:
        assert probe["httpGet"]["port"] == port["targetPort"]
        assert probe["httpGet"]["path"] == "/health"
    scraped = pod["metadata"]["annotations"].get("prometheus.io/port")
    return port["port"], port["targetPort"], scraped, probe and probe["httpGet"]["scheme"]


@pytest.mark.parametrize(
    ("engine", "fields", "expected"),
    [
        pytest.param("vLLM", {}, (8000, 8000, "8000", HTTP), id="F1"),
        pytest.param("vLLM", {"extraArgs": ["--port", "9100"]}, (8000, 9100, "9100", HTTP), id="F2-two-tokens"),
        pytest.param("vLLM", {"extraArgs": ["--port=9100"]}, (8000, 9100, "9100", HTTP), id="F2-equals"),
        pytest.param("vLLM", {"extraArgs": ["--por", "9100"]}, (8000, 9100, "9100", HTTP), id="F2-short"),
        pytest.param("vLLM", {"extraArgs": ["--por=9100"]}, (8000, 9100, "9100", HTTP), id="F2-short-equals"),
        pytest.param(
            "vLLM", {"extraArgs": ["--port", "9000", "--por", "9100"]}, (8000, 9100, "9100", HTTP), id="F3-last-wins"
        ),
        pytest.param("SGLang", {"extraArgs": ["--po", "9100"]}, (8000, 9100, "9100", HTTP), id="F4"),
        pytest.param(
            "vLLM", {"ports": [{"port": 9100}], "extraArgs": ["--port", "9100"]}, (9100, 9100, "9100", HTTP), id="F5"
        ),
        pytest.param(
            "vLLM", {"command": ["vllm", "serve", "m", "--port", "9100"]}, (8000, 9100, None, None), id="F6-take-over"
        ),
        pytest.param(
            "vLLM", {"ports": [{"port": 9000}], "extraArgs": ["--port", "9100"]}, (9000, 9000, "9100", None), id="F9"
        ),
        pytest.param("vLLM", {"ports": [{"port": 53, "protocol": "UDP"}]}, (53, 53, "53", None), id="F17-udp"),
        pytest.param("vLLM", {"ports": [{"port": 53, "protocol": "SCTP"}]}, (53, 53, "53", None), id="F17-sctp"),
        pytest.param("vLLM", {"ports": [{"port": 9000}, {"port": 9001}]}, (9000, 9000, "9000", HTTP), id="F18"),
        pytest.param("vLLM", {"extraArgs": ["--host", "0.0.0.0"]}, (8000, 8000, "8000", None), id="own-host"),
        pytest.param("vLLM", {"extraArgs": ["--po", "9100"]}, (8000, 8000, "8000", HTTP), id="ambiguous"),
        pytest.param("vLLM", {"extraArgs": ["--port", "many"]}, (8000, 8000, "8000", HTTP), id="unreadable"),
        pytest.param("vLLM", {"extraArgs": ["--port", "65536"]}, (8000, 8000, "8000", HTTP), id="out-of-range"),
        pytest.param("vLLM", {"extraArgs": ["--", "--port", "9100"]}, (8000, 8000, "8000", HTTP), id="after-dashes"),
    ],
)
def test_service_target_engine_and_probes_follow_the_ports(
    engine: str, fields: dict[str, Any], expected: tuple[int, int, str | None, str | None]
) -> None:
    assert seen(engine, **fields) == expected


@pytest.mark.parametrize(
    ("engine", "extra", "probes", "scheme"),
    [
        pytest.param("vLLM", ["--ssl-certfile", "x"], HTTPS, "https", id="F12-certificate"),
        pytest.param("vLLM", ["--ssl-keyfile=y"], HTTPS, "https", id="F12-key"),
        pytest.param("vLLM", ["--ssl_certfile=x"], HTTPS, "https", id="F12-underscores"),
        pytest.param("vLLM", ["--ssl-certf=x"], HTTPS, "https", id="F12-short"),
        pytest.param("SGLang", ["--ssl-ce", "x"], HTTPS, "https", id="F12-SGLang-short"),
        pytest.param("SGLang", ["--ssl_certfile", "x"], HTTP, "http", id="SGLang-knows-no-underscores"),
        pytest.param("vLLM", ["--ssl-ce", "x"], HTTP, "http", id="ambiguous-on-vLLM"),
        pytest.param("vLLM", ["--ssl-ca-certs", "x"], HTTP, "http", id="F13-ca"),
        pytest.param("vLLM", ["--ssl-ciphers", "x"], HTTP, "http", id="F13-ciphers"),
        pytest.param("SGLang", ["--ssl-keyfile-password", "x"], HTTP, "http", id="F13-password"),
        pytest.param("vLLM", ["--ssl-cert-reqs", "2"], HTTP, "http", id="F13-cert-reqs-alone"),
        pytest.param("vLLM", [*CERT, "--ssl-cert-reqs", "2"], None, "https", id="F14-2"),
        pytest.param("vLLM", [*CERT, "--ssl-cert-reqs=2"], None, "https", id="F14-equals-2"),
        pytest.param("vLLM", [*CERT, "--ssl-cert-reqs", "02"], None, "https", id="F14-02"),
        pytest.param("vLLM", [*CERT, "--ssl-cert-reqs", "3"], None, "https", id="F14-3"),
        pytest.param("vLLM", [*CERT, "--ssl-cert-reqs=-1"], None, "https", id="F14-minus-1"),
        pytest.param("vLLM", [*CERT, "--ssl-cert-reqs", "required"], None, "https", id="F14-required"),
        pytest.param("vLLM", [*CERT, "--ssl-cert-reqs"], None, "https", id="F14-no-value"),
        pytest.param("vLLM", [*CERT, "--ssl-cert-reqs=0", "--ssl-cert-reqs=2"], None, "https", id="F14-last-wins"),
        pytest.param("vLLM", [*CERT, "--ssl-cert-reqs", "0"], HTTPS, "https", id="F15-0"),
        pytest.param("vLLM", [*CERT, "--ssl-cert-reqs=1"], HTTPS, "https", id="F15-1"),
        pytest.param("vLLM", [*CERT, "--ssl-cert-reqs=2", "--ssl-cert-reqs=0"], HTTPS, "https", id="F15-last-wins"),
        pytest.param("vLLM", ["--served-model-name", "ssl-demo"], HTTP, "http", id="F16"),
    ],
)
def test_tls_follows_the_engines_own_flags(engine: str, extra: list[str], probes: str | None, scheme: str) -> None:
    assert seen(engine, extraArgs=extra) == (8000, 8000, "8000", probes)
    assert rendered(engine, extraArgs=extra).endpoint == f"{scheme}://qwen.team-a.svc:8000"
    assert one_pod(engine, extraArgs=extra)["metadata"]["annotations"]["prometheus.io/scheme"] == scheme


def test_the_three_probes_differ_only_in_patience() -> None:
    container = main(one_pod())
    get = {"httpGet": {"path": "/health", "port": 8000, "scheme": "HTTP"}, "periodSeconds": 10, "timeoutSeconds": 3}
    assert container["startupProbe"] == {**get, "failureThreshold": 180}
    assert container["readinessProbe"] == {**get, "failureThreshold": 3}
    assert container["livenessProbe"] == {**get, "failureThreshold": 6}


def test_every_declared_port_is_opened_under_its_own_name() -> None:
    ports = [{"port": 9000}, {"port": 9000, "protocol": "UDP"}]
    assert main(one_pod(ports=ports))["ports"] == [
        {"name": "tcp-9000", "containerPort": 9000, "protocol": "TCP"},
        {"name": "udp-9000", "containerPort": 9000, "protocol": "UDP"},
    ]


def test_an_undeclared_port_is_called_http_wherever_the_engine_was_moved() -> None:
    assert main(one_pod(extraArgs=["--port", "9100"]))["ports"] == [
        {"name": "http", "containerPort": 9100, "protocol": "TCP"}
    ]


def test_a_take_over_roles_own_tls_shows_in_the_endpoint() -> None:
    command = ["vllm", "serve", "m", "--ssl-keyfile", "k"]
    assert rendered(command=command).endpoint == "https://qwen.team-a.svc:8000"


def test_what_is_scraped_is_the_engine() -> None:
    annotations = one_pod(ports=[{"port": 9000}], extraArgs=["--port=9100"])["metadata"]["annotations"]
    assert {key: value for key, value in annotations.items() if key.startswith("prometheus.io/")} == {
        "prometheus.io/scrape": "true",
        "prometheus.io/path": "/metrics",
        "prometheus.io/port": "9100",
        "prometheus.io/scheme": "http",
    }
