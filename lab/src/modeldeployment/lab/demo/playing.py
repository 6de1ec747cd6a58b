"""Runs the scenario: acts, waits, judges, and on failure gathers what helps to find out why."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from modeldeployment.kube import Client
from modeldeployment.kube.kinds import EVENTS
from modeldeployment.lab.demo import claims
from modeldeployment.lab.demo.acting import perform
from modeldeployment.lab.demo.claims import Verdict
from modeldeployment.lab.demo.errors import OperatorEnded
from modeldeployment.lab.demo.history import World
from modeldeployment.lab.demo.kubectl import Kubectl, Told
from modeldeployment.lab.demo.operating import Operator
from modeldeployment.lab.demo.recording import Recorder
from modeldeployment.lab.demo.scenario import Step

EVENTS_SHOWN: Final = 12

_PULSE: Final = 0.2


class Show(Protocol):
    """How the story is told."""

    def step(self, title: str) -> None:
        """A step begins."""

    def told(self, told: Told) -> None:
        """A command was run, and printed something."""

    def progress(self, world: World) -> None:
        """The world changed."""

    def verdict(self, verdict: Verdict, *, seconds: float | None = None) -> None:
        """Something was claimed; `seconds` is how long the step took."""

    def picture(self, world: World) -> None:
        """Show all there is."""

    def trouble(self, title: str, lines: Iterable[str]) -> None:
        """Show something that helps to find out why a claim failed."""


@dataclass(frozen=True, slots=True)
class Cast:
    """Who plays: a client and a kubectl of the cluster, the recorder of its namespace, the operator, the document.

    `serve` puts engines behind the Pods that come from now on, or nobody.
    """

    client: Client
    kubectl: Kubectl
    recorder: Recorder
    operator: Operator
    document: Mapping[str, Any]
    serve: Callable[[bool], Awaitable[None]]


async def play(cast: Cast, steps: Iterable[Step], show: Show, *, patience: float) -> bool:
    """Run the steps and tell whether every claim held; stop at the first step that has no effect in `patience` seconds.

    Raises OperatorEnded, StoryTorn and the client's errors.
    """
    good = True
    for step in steps:
        show.step(step.title)
        await cast.serve(step.served)
        reached, window_good = await _run(cast, step, show, patience)
        good = good and window_good
        if not reached:
            break
    verdict = claims.no_complaints(cast.operator.complaints())
    show.verdict(verdict)
    return good and verdict.holds


async def _run(cast: Cast, step: Step, show: Show, patience: float) -> tuple[bool, bool]:
    """Run one step; tell whether it reached its goal, and whether all of its claims held."""
    recorder = cast.recorder
    before, began = recorder.now, time.monotonic()
    told = await perform(cast.client, cast.kubectl, step.act, cast.document, before)
    if told.command:
        show.told(told)
    reached = await _within(patience, cast, lambda now: step.reached(before, now))
    seconds = time.monotonic() - began
    window = recorder.cut(told.lines)
    if not reached:
        show.verdict(Verdict(f"{step.goal} within {patience:.0f} s", tuple(shortfall(window.after))))
        return False, False
    verdicts = step.judge(window)
    for place, verdict in enumerate(verdicts):
        show.verdict(verdict, seconds=seconds if place == 0 else None)
    if step.pictured:
        show.picture(window.after)
    return True, all(verdict.holds for verdict in verdicts)


async def _within(patience: float, cast: Cast, reached: Any) -> bool:
    waiting = asyncio.create_task(cast.recorder.until(reached))
    try:
        async with asyncio.timeout(patience):
            while not (await asyncio.wait({waiting}, timeout=_PULSE))[0]:
                if how := cast.operator.ending():
                    raise OperatorEnded(f"the operator {how}; see {cast.operator.log}")
            waiting.result()
    except TimeoutError:
        return False
    finally:
        waiting.cancel()
    return True


def shortfall(world: World) -> tuple[str, ...]:
    """Say what a world that did not come to rest looks like."""
    deployment = world.deployment
    if deployment is None:
        return tuple(f"{type(each).__name__.removesuffix('Seen')} {each.name}" for each in world.objects.values()) or (
            "the deployment is not there",
        )
    said = [f"phase {deployment.phase or 'not set'}: {deployment.message}".rstrip(": ")]
    said += [
        f"{each.type} is {each.status} ({each.reason}): {each.message}"
        for each in deployment.conditions
        if each.status != "True"
    ]
    return tuple(said)


async def events(client: Client, namespace: str) -> tuple[str, ...]:
    """Return the latest events of a namespace as lines; raises the client's errors."""
    found = sorted((await client.list(EVENTS, namespace)).items, key=lambda each: int(each.metadata.resource_version))
    return tuple(
        f"{each.type} {each.reason} {each.regarding.kind}/{each.regarding.name}: {each.note}"
        for each in found[-EVENTS_SHOWN:]
    )
