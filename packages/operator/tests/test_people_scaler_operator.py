"""`kubectl md why mds/NAME --operator URL`: the passes that the operator keeps, over a real socket."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from modeldeployment.operator import serving
from modeldeployment.operator.errors import UsageError
from modeldeployment.operator.people.scalers import passes
from modeldeployment.scaler.journal import Journal
from people_journals import planned


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


async def test_the_passes_of_a_scaler_come_from_the_operators_memory() -> None:
    kept = Journal(2)
    for seconds in (0, 15, 30):
        kept.append(planned(seconds))
    port = free_port()
    async with serving.endpoints(("127.0.0.1", port), serving.Endpoints(lambda: b"", lambda: (), kept.of)):
        found = await passes.kept(f"http://127.0.0.1:{port}/", "default", "chat")
        assert found.line == planned(30)
        before = await passes.kept(f"http://127.0.0.1:{port}", "default", "chat", planned(20).at)
        assert before.line == planned(15)
        assert found.source == f"http://127.0.0.1:{port}/scalers/default/chat/journal"
        with pytest.raises(UsageError) as none:
            await passes.kept(f"http://127.0.0.1:{port}", "default", "none")
    assert str(none.value) == (
        f"--operator is http://127.0.0.1:{port}: it answers 404: no pass of default/none is kept here: it does not "
        "plan yet, or another process leads"
    )


async def test_an_operator_that_does_not_answer_is_told_with_its_address() -> None:
    port = free_port()
    with pytest.raises(UsageError) as away:
        await passes.kept(f"http://127.0.0.1:{port}", "default", "chat")
    assert str(away.value).startswith(f"--operator is http://127.0.0.1:{port}: Cannot connect to host")
    assert str(away.value).endswith("; kubectl port-forward leads to an operator within a cluster")


@pytest.mark.parametrize("url", ["operator:8080", "ftp://operator", "http://", "http://operator?x=1"])
async def test_what_is_no_address_is_told(url: str) -> None:
    with pytest.raises(UsageError) as wrong:
        await passes.kept(url, "default", "chat")
    assert str(wrong.value) == (f"--operator is {url}: it must be http://HOST:PORT, where the operator serves /metrics")


@contextlib.contextmanager
def answering(body: bytes) -> Iterator[int]:
    """A server that says the same to everything; answers its port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


async def test_somebody_else_who_answers_is_not_taken_for_the_operator() -> None:
    with answering(b"<html>hello</html>\n") as port, pytest.raises(UsageError) as wrong:
        await passes.kept(f"http://127.0.0.1:{port}", "default", "chat")
    assert str(wrong.value) == (
        "the operator and this program are of different releases: "
        f"http://127.0.0.1:{port}/scalers/default/chat/journal:1: it is not JSON: JSON is malformed: "
        "invalid character (byte 0)"
    )
