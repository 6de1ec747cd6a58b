"""Looks for anything wrong in the tree that is imported, and stops at the first finding.

`python -m … RUNS PART PARTS [FIRST]`, where FIRST names the run to begin with. The first line on standard output is one
JSON object: `found` (empty where nothing was), `by`, `runs`, `seconds`.
"""

import json
import logging
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import chain, zip_longest

from modeldeployment.lab.crashes.faults import Fault, Undisturbed
from modeldeployment.lab.crashes.judging import judged, sound
from modeldeployment.lab.crashes.playing import Run, play
from modeldeployment.lab.crashes.product import faults_of
from modeldeployment.lab.crashes.scenarios import SCENARIOS, Scenario


@dataclass(frozen=True, slots=True)
class Catch:
    """What was found first, by which run; how many runs and seconds of processor time it took."""

    found: str
    by: str
    runs: int
    seconds: float


def hunt(most: int, part: int = 0, parts: int = 1, first: str = "") -> Catch:
    """Play the undisturbed run of every scenario, then their faults in turn, at most so many runs.

    One of several parts plays each so many-th fault only. What is named `first`, as a catch names its run, is played
    before all others, where there is such a run.
    """
    began = time.process_time()
    runs = 0
    for runs, (run, wrong) in enumerate(chain(named(first), _runs(most, part, parts)), start=1):
        if wrong:
            return Catch(wrong[0], run, runs, time.process_time() - began)
    return Catch("", "", runs, time.process_time() - began)


def named(name: str) -> Iterator[tuple[str, list[str]]]:
    """Play the run of a name, as a catch names it, and say what was wrong with it; nothing where there is none such."""
    for scenario in SCENARIOS:
        if not name.startswith(f"{scenario.name}, "):
            continue
        plain, wrong = _played(scenario, Undisturbed(), None)
        if wrong or plain is None:
            yield f"{scenario.name}, undisturbed", wrong
            return
        for fault in faults_of(plain):
            if f"{scenario.name}, {fault}" == name:
                yield name, _played(scenario, fault, plain)[1]


def _runs(most: int, part: int, parts: int) -> Iterator[tuple[str, list[str]]]:
    plains: list[Run] = []
    for scenario in SCENARIOS:
        plain, wrong = _played(scenario, Undisturbed(), None)
        yield f"{scenario.name}, undisturbed", wrong
        if plain is not None:
            plains.append(plain)
    left = most - len(plains)
    for turn in zip_longest(*(faults_of(plain)[part::parts] for plain in plains)):
        for plain, fault in zip(plains, turn, strict=True):
            if fault is None:
                continue
            if left <= 0:
                return
            left -= 1
            _, wrong = _played(plain.scenario, fault, plain)
            yield f"{plain.scenario.name}, {fault}", wrong


def _played(scenario: Scenario, fault: Fault, plain: Run | None) -> tuple[Run | None, list[str]]:
    try:
        run = play(scenario, fault)
    except Exception as error:  # noqa: BLE001 - a bug may raise anything anywhere, which is a finding like any other
        return None, [f"raises {error!r}"]
    return run, sound(run) if plain is None else judged(run, plain)


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    most, part, parts = map(int, sys.argv[1:4])
    print(json.dumps(asdict(hunt(most, part, parts, "".join(sys.argv[4:])))))
