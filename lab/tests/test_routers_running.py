import stat
import sys
from pathlib import Path

import pytest
from modeldeployment.lab.packaged import Program
from modeldeployment.lab.routers import RouterFailed, RunningRouter, listed

CONTAINER = {
    "name": "router",
    "command": ["vllm-router"],
    "args": ["--host=0.0.0.0", "--port=8081", "--prometheus-host=0.0.0.0", "--prometheus-port=9090"],
}
SERVES = """#!/usr/bin/env python3
import http.server, json, os, sys

flags = dict(argument.split("=", 1) for argument in sys.argv[1:])
print("environment", sorted(os.environ), flush=True)

class Answers(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = json.dumps({"path": self.path}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

http.server.HTTPServer((flags["--host"], int(flags["--port"])), Answers).serve_forever()
"""
ENDS = """#!/bin/sh
echo "no such selector" >&2
exit 3
"""


def installed(folder: Path, text: str) -> Program:
    """A program of that text in the place of the router's."""
    (folder / "bin").mkdir(parents=True)
    executable = folder / "bin" / "vllm-router"
    executable.write_text(text)
    executable.chmod(executable.stat().st_mode | stat.S_IXUSR)
    return Program("vllm-router", "0", folder)


async def test_a_router_runs_while_it_is_open_and_inherits_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    program = installed(tmp_path / "program", SERVES.replace("/usr/bin/env python3", sys.executable))
    async with RunningRouter(CONTAINER, program, tmp_path / "kubeconfig", tmp_path / "here") as router:
        assert await router.ask("GET", "/workers/a%2Fb") == (200, {"path": "/workers/a%2Fb"})
        before = router.ended
    assert (before, router.ended) == (None, -15)
    said = router.log.read_text()
    assert "KUBECONFIG" in said
    assert "HTTP_PROXY" not in said


async def test_a_router_at_a_pods_address_listens_where_it_is_rendered_to(tmp_path: Path) -> None:
    program = installed(tmp_path / "program", SERVES.replace("/usr/bin/env python3", sys.executable))
    here = tmp_path / "here"
    async with RunningRouter(CONTAINER, program, tmp_path / "kubeconfig", here, address="127.1.254.7") as router:
        assert router.url == "http://127.1.254.7:8081"
        assert await router.ask("GET", "/workers") == (200, {"path": "/workers"})


async def test_a_router_that_ends_is_told_with_its_last_words(tmp_path: Path) -> None:
    program = installed(tmp_path / "program", ENDS)
    with pytest.raises(RouterFailed, match=r"(?s)ended with code 3.*no such selector"):
        async with RunningRouter(CONTAINER, program, tmp_path / "kubeconfig", tmp_path / "here"):
            pass


def test_workers_are_named_as_each_router_names_them() -> None:
    shared = {"worker_type": "prefill", "is_healthy": True, "load": 0, "url": "http://127.1.2.3:8000"}
    vllm, sglang = listed({"workers": [{**shared, "bootstrap_port": 8998}, {**shared, "id": "an-id"}]})
    assert (vllm.key, vllm.bootstrap_port) == ("http%3A%2F%2F127.1.2.3%3A8000", 8998)
    assert (sglang.key, sglang.kind, sglang.bootstrap_port) == ("an-id", "prefill", None)
