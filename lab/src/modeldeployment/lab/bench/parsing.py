"""How long the scaler takes to read an engine's numbers, beside prometheus-client's own parser.

Both have the same body: what vLLM 0.32.0 answered on a CPU machine, all of it. Only one of them reads all of it.
"""

import gc
import time
from collections.abc import Callable
from importlib import resources
from typing import Final

from prometheus_client.parser import text_string_to_metric_families

from modeldeployment.api import EngineName, RoleKind
from modeldeployment.lab.bench import goals
from modeldeployment.lab.bench.rows import Value
from modeldeployment.render import ENGINES
from modeldeployment.scaler.sampling.tallies import Tally, tally

BODY: Final = "vllm-metrics.prom"
TURNS: Final = 9
OURS: Final = 50
THEIRS: Final = 5


def measure() -> tuple[Value, ...]:
    """Read a whole body of vLLM for the signals of a scaler, in turn with the official parser; the best turns."""
    body = (resources.files("modeldeployment.lab.bench") / BODY).read_bytes()
    ours, theirs = [], []
    began = time.perf_counter()
    found = read(body)
    first = time.perf_counter() - began
    for _ in range(TURNS):
        gc.collect()
        ours.append(_taken(lambda: read(body), OURS))
        theirs.append(_taken(lambda: list(text_string_to_metric_families(body.decode())), THEIRS))
    return (
        Value(
            goals.PARSER_RATIO,
            min(theirs) / min(ours),
            f"prometheus-client {min(theirs) * 1000:.1f} ms against {min(ours) * 1000:.2f} ms"
            f" ({first * 1000:.1f} ms the first time) for {len(found.counts)} counts of {len(body)} bytes",
        ),
    )


def read(body: bytes) -> Tally:
    """Read what a scaler reads of vLLM. Raises AssertionError where the recording says nothing, which it does not."""
    found = tally(body, ENGINES[EngineName.VLLM].signals, RoleKind.SERVER)
    assert isinstance(found, Tally)
    return found


def _taken(run: Callable[[], object], times: int) -> float:
    began = time.perf_counter()
    for _ in range(times):
        run()
    return (time.perf_counter() - began) / times
