import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

COMMAND = [str(Path(sys.executable).with_name("md-lab")), "engines"]


@pytest.fixture
def engines() -> Iterator["subprocess.Popen[str]"]:
    command = [*COMMAND, "--engine", "sglang", "--count", "2", "--model", "qwen"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        yield process
        process.kill()


def test_engines_say_where_they_are_and_answer_until_they_are_told_to_end(engines: "subprocess.Popen[str]") -> None:
    assert engines.stdout is not None
    urls = [engines.stdout.readline().strip() for _ in range(2)]
    for url in urls:
        assert url.startswith("http://127.1.")
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(f"{url}/model_info") as answer:
            assert b'"model_path": "qwen"' in answer.read()
    engines.send_signal(signal.SIGTERM)
    _, said = engines.communicate(timeout=20)
    assert said == "md-lab engines: ended; 2 requests arrived\n"
    assert engines.returncode == 0


def test_an_address_outside_the_pods_network_is_refused_in_a_sentence() -> None:
    done = subprocess.run([*COMMAND, "--address", "127.0.0.1"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "address '127.0.0.1' is no Pod address of the lab; choose one inside 127.1.0.0/16" in done.stderr
