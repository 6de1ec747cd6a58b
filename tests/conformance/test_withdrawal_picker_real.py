"""What the picker's program publishes of its endpoints is what its withdrawal is proven by (facts control-plane §10).

The pinned v0.7.1 is run, or the program that MODELDEPLOYMENT_LAB_PICKER names, beside an API server that knows Pods and
a pool, in a network of its own.
"""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import conformance_pods
import pytest
from conformance_documents import documents, environment
from modeldeployment.api import keys
from modeldeployment.api.choices import RoleKind, RouterName
from modeldeployment.lab.errors import GoMissing, GoTooOld, ModulesUnreachable
from modeldeployment.lab.networks import alone, lonely
from modeldeployment.lab.routers import older
from modeldeployment.lab.toolchain.picker import Picker, ensure_picker
from modeldeployment.router import withdrawal
from modeldeployment.router.withdrawal import Heard, Step, Subject, Verdict

LABELS = {keys.INSTANCE: "qwen", keys.ELIGIBLE: keys.TRUE, keys.ROLE_KIND: "server"}
METRICS = "http://127.0.0.1:9090/metrics"
GOES = Subject("router Pod qwen-router-1", "qwen-server-1-0", "127.0.0.3", 8000, RoleKind.SERVER)
PATIENCE = 30.0


@pytest.fixture(scope="module")
def picker() -> Picker:
    """The picker program; built on first use, which takes minutes."""
    if why := lonely():
        pytest.skip(why)
    try:
        return ensure_picker(environment(), lambda _: None)
    except (GoMissing, GoTooOld, ModulesUnreachable) as missing:
        pytest.skip(f"no picker to ask: {missing}")


@dataclass
class Asked:
    """The picker that runs, and the API server beside it; whoever speaks to them does it through one of its own."""

    agent: "subprocess.Popen[str]"

    def say(self, **said: Any) -> str:
        """Have something done in the picker's network, and return what came of it."""
        assert self.agent.stdin is not None
        assert self.agent.stdout is not None
        self.agent.stdin.write(json.dumps(said) + "\n")
        self.agent.stdin.flush()
        return str(json.loads(self.agent.stdout.readline()))

    def put(self, name: str, address: str, **labels: str | None) -> None:
        eligible = {} if labels.get("eligible", "") is None else {keys.ELIGIBLE: keys.TRUE}
        kept = {key: value for key, value in LABELS.items() if key != keys.ELIGIBLE}
        self.say(put=name, address=address, labels=kept | eligible)


@contextmanager
def running(picker: Picker, folder: Path) -> Iterator[Asked]:
    """Run the picker with two Pods behind it."""
    data = documents("vLLM", "server")
    document = folder / "epp.yaml"
    document.write_text(older.document(data["epp.yaml"]) if picker.pinned else data["epp.yaml"], encoding="utf-8")
    with alone() as network:
        api = network.inside(sys.executable, str(Path(conformance_pods.__file__)), str(folder))
        with subprocess.Popen(api, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as agent:
            assert agent.stdout is not None
            kubeconfig = agent.stdout.readline().strip()
            asked = Asked(agent)
            asked.say(pool="qwen", labels=LABELS, port=8000)
            asked.put("qwen-server-0-0", "127.0.0.2")
            asked.put(GOES.name, GOES.address)
            candidates = (
                ["--pool-name=qwen"]
                if picker.pinned
                else [f"--endpoint-selector={','.join(map('='.join, LABELS.items()))}", "--endpoint-target-ports=8000"]
            )
            flags = ["--secure-serving=false", "--grpc-health-port=9003", "--metrics-endpoint-auth=false"]
            command = [str(picker.program), *candidates, "--pool-namespace=team", f"--config-file={document}", *flags]
            variables = {"KUBECONFIG": kubeconfig, "NAMESPACE": "team", "POD_NAME": "qwen-router-5d9c7b6f4-x2x4z"}
            with (
                (folder / "picker.log").open("w") as log,
                subprocess.Popen(
                    network.inside(*command, "--tracing=false"), env=variables, stdout=log, stderr=log
                ) as program,
            ):
                try:
                    yield asked
                finally:
                    program.kill()


def proven(
    asked: Asked, advance: withdrawal.Advance, about: Subject, until: Callable[[Step], bool], seconds: float = PATIENCE
) -> Step:
    """Ask the picker as the proof wants, until the step is so."""
    state, heard = None, list[Heard]()
    ends = time.monotonic() + seconds
    while True:
        step = advance(state, heard, about, datetime.now(UTC))
        if until(step):
            return step
        assert time.monotonic() < ends, step
        time.sleep(step.rest)
        state = step.state
        bodies = [(ask, asked.say(get=METRICS)) for ask in step.asks]
        heard = [Heard(ask, 200 if body else None, body.encode()) for ask, body in bodies]


def has(verdict: Verdict) -> Callable[[Step], bool]:
    return lambda step: step.verdict is verdict


def test_a_member_leaves_the_pickers_endpoints_with_its_label_and_comes_back_with_it(
    picker: Picker, tmp_path: Path
) -> None:
    known = withdrawal.program(RouterName.LLM_D, picker.version)
    assert known is not None
    with running(picker, tmp_path) as asked:
        proven(asked, known.restore, GOES, has(Verdict.PROVEN))
        held = proven(asked, known.withdraw, GOES, lambda step: "may still pick" in step.reason)
        assert held.verdict is Verdict.WAITING

        asked.put(GOES.name, GOES.address, eligible=None)
        assert proven(asked, known.withdraw, GOES, has(Verdict.PROVEN)).quiet is None
        asked.put(GOES.name, GOES.address)
        proven(asked, known.restore, GOES, has(Verdict.PROVEN))

        asked.say(delete=GOES.name)
        proven(asked, known.withdraw, GOES, has(Verdict.PROVEN))
        asked.say(delete="qwen-server-0-0")
        alone_now = proven(asked, known.withdraw, GOES, lambda step: "no other endpoint" in step.reason)
        assert alone_now.verdict is Verdict.WAITING
        proven(asked, known.withdraw, replace(GOES, peers=False), has(Verdict.PROVEN))
