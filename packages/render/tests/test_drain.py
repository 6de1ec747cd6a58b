"""The rendered hook run as the kubelet would run it, against a real server on loopback."""

import os
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from render_worlds import main, one_pod

BUSY = 'vllm:num_requests_running{engine="0",model_name="a b}"} 1.0\nvllm:num_requests_waiting 0.0\n'
IDLE = '# HELP x\n\nvllm:num_requests_running{engine="0",model_name="a b}"} 0.0\nvllm:num_requests_waiting 0.0 17\n'
LONG = "60"


class Engine(ThreadingHTTPServer):
    """Answers `/metrics` with each of `answers` in turn, then with the last one for ever; counts the reads."""

    daemon_threads = True

    def __init__(self, *answers: str | int, tls: bool = False) -> None:
        super().__init__(("127.0.0.1", 0), Answering)
        self.answers, self.reads, self.released = answers, 0, threading.Event()
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(Path(__file__).with_name("selfsigned.pem"))
            self.socket = context.wrap_socket(self.socket, server_side=True)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A caller that hangs up is part of the story."""


class Answering(BaseHTTPRequestHandler):
    server: Engine

    def do_GET(self) -> None:
        answer = self.server.answers[min(self.server.reads, len(self.server.answers) - 1)]
        self.server.reads += 1
        match answer:
            case "hang":
                self.server.released.wait()
            case "trickle":
                self.wfile.write(b"HTTP/1.0 200 ")
                while not self.server.released.wait(0.1):
                    self.wfile.write(b".")
            case int(status):
                self.send_error(status)
            case text:
                self.send_response(200)
                self.end_headers()
                self.wfile.write(text.encode())

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass


@contextmanager
def serving(*answers: str | int, tls: bool = False) -> Iterator[Engine]:
    engine = Engine(*answers, tls=tls)
    thread = threading.Thread(target=engine.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield engine
    finally:
        engine.released.set()
        engine.shutdown()
        thread.join()
        engine.server_close()


def hook(engine: str = "vLLM", **fields: Any) -> list[str]:
    command: list[str] = main(one_pod(engine, **fields))["lifecycle"]["preStop"]["exec"]["command"]
    return command


def run(port: int, *, deadline: str, engine: str = "vLLM", scheme: str = "http", **environment: str) -> None:
    """Run the hook of an engine on `port` with the waits shortened and the last one at `deadline`."""
    python, flag, program, settle, interval, _, url, expected, also = hook(engine, extraArgs=[f"--port={port}"])
    assert (python, flag, settle, interval, url) == ("python3", "-c", "5", "1", f"http://127.0.0.1:{port}/metrics")
    url = url.replace("http", scheme)
    shortened = [sys.executable, flag, program, "0", "0.01", deadline, url, expected, also]
    done = subprocess.run(
        shortened, env=os.environ | environment, timeout=40, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_hook_returns_on_the_second_idle_read_in_a_row() -> None:
    with serving(BUSY, IDLE, BUSY, IDLE, IDLE, BUSY) as engine:
        run(engine.server_port, deadline=LONG)
        assert engine.reads == 5


def test_an_engine_that_stays_busy_is_kept_until_the_deadline() -> None:
    with serving(BUSY) as engine:
        run(engine.server_port, deadline="1")
        assert engine.reads > 0


def test_nobody_listening_means_nothing_to_wait_for() -> None:
    with serving(BUSY) as engine:
        port = engine.server_port
    run(port, deadline=LONG)


def test_an_http_error_means_nothing_to_measure() -> None:
    with serving(404) as engine:
        run(engine.server_port, deadline=LONG)
        assert engine.reads == 1


def test_a_failed_tls_handshake_means_nothing_to_measure() -> None:
    with serving(BUSY) as engine:
        run(engine.server_port, deadline=LONG, scheme="https")
        assert engine.reads == 0


def test_an_https_engine_is_read_whatever_its_certificate_says() -> None:
    with serving(BUSY, IDLE, IDLE, tls=True) as engine:
        run(engine.server_port, deadline=LONG, scheme="https")
        assert engine.reads == 3


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("", id="empty"),
        pytest.param("<html>hello</html>", id="garbage"),
        pytest.param("process_cpu_seconds_total 3\n", id="no-series"),
        pytest.param("vllm:num_requests_running 0\n", id="one-series-missing"),
        pytest.param(IDLE.replace("0.0", "many"), id="no-number"),
        pytest.param(IDLE.replace("0.0", ""), id="no-value"),
        pytest.param(IDLE.replace("0.0", "NaN"), id="nan"),
        pytest.param("hang", id="hang"),
        pytest.param("trickle", id="trickle"),
    ],
)
def test_a_body_that_proves_nothing_is_busy(body: str) -> None:
    with serving(body, body, body, 404) as engine:
        run(engine.server_port, deadline=LONG)
        assert engine.reads == 4


def test_a_proxy_in_the_environment_is_not_asked_about_loopback() -> None:
    with serving(IDLE) as engine:
        run(engine.server_port, deadline=LONG, http_proxy="http://127.0.0.1:1", no_proxy="")
        assert engine.reads == 2


def test_sglang_needs_only_the_gauges_a_server_always_has() -> None:
    both = "sglang:num_running_reqs{} 0\nsglang:num_queue_reqs{} 0\n"
    with serving(both + "sglang:num_decode_prealloc_queue_reqs 2\n", both) as engine:
        run(engine.server_port, deadline=LONG, engine="SGLang")
        assert engine.reads == 3


@pytest.mark.parametrize(
    ("stated", "grace", "deadline"), [(None, 30, "25"), (30, 30, "25"), (15, 15, "10"), (3600, 3600, "3595")]
)
def test_the_deadline_leaves_the_engine_time_to_stop(stated: int | None, grace: int, deadline: str) -> None:
    assert one_pod(terminationGracePeriodSeconds=stated)["spec"]["terminationGracePeriodSeconds"] == grace
    assert hook(terminationGracePeriodSeconds=stated)[5] == deadline


def test_the_hook_follows_the_engine_and_its_tls() -> None:
    assert hook(extraArgs=["--port=9100", "--ssl-certfile=x"])[6] == "https://127.0.0.1:9100/metrics"
    assert hook(ports=[{"port": 9000}])[6] == "http://127.0.0.1:9000/metrics"


def test_writing_the_default_grace_is_no_rollout() -> None:
    assert one_pod() == one_pod(terminationGracePeriodSeconds=30)


def test_the_program_is_shipped_without_comments() -> None:
    program = hook()[2]
    assert "#" not in program
    compile(program, "hook", "exec")
