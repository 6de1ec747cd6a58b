"""One operator process: the real controllers over real stores, taken pass by pass instead of by an event loop."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from modeldeployment.kube import Recorder
from modeldeployment.kube.queue import Agenda
from modeldeployment.lab.model.client import ModelClient
from modeldeployment.lab.model.errors import Killed
from modeldeployment.lab.model.moves import Move
from modeldeployment.lab.model.server import Server
from modeldeployment.lab.model.wire import Wire
from modeldeployment.reconcile import DeploymentController, Key, Watched
from modeldeployment.render import Policy


@dataclass(frozen=True, slots=True)
class Failure:
    """A pass that ended with an error and will be tried again."""

    at: float
    controller: str
    key: str
    error: Exception


@dataclass(slots=True)
class _Runner:
    name: str
    reconcile: Callable[[Any], Awaitable[float | None]]
    agenda: Agenda[Any]


class Process:
    """An operator from its start to its death; `client`, `wire` and `watched` are its own."""

    def __init__(self, server: Server, loop: asyncio.AbstractEventLoop, name: str, *, seed: int = 0) -> None:
        self.name = name
        self.passes = 0
        self.failures: list[Failure] = []
        self._server = server
        self._loop = loop
        self.client = ModelClient(server, name)
        deployments: Agenda[Key] = Agenda(seed=seed)
        clock = server.clock
        self.watched = Watched(lambda key: deployments.add(key, clock.seconds))
        self._recorder = Recorder(self.client, "modeldeployment-operator", name, clock=clock.epoch)
        controller = DeploymentController(self.client, self.watched, self._recorder, Policy(), clock.utc)
        self.controller = controller
        self._runners = [_Runner("deployments", controller.reconcile, deployments)]
        self.wire = Wire(server, self.watched, lambda: self.passes)

    @property
    def alive(self) -> bool:
        """Whether it still runs."""
        return self.client.alive

    def kill(self) -> None:
        """End it where it stands."""
        self.client.alive = False
        self.wire.close()

    def moves(self) -> Iterator[Move]:
        """The next pass of each controller, and its events."""
        for runner in self._runners:
            at = runner.agenda.next_at()
            if at is not None:
                yield Move(at, self.name, f"{runner.name} pass", partial(self._pass, runner))
        now = self._server.clock.epoch()
        if self._recorder.ledger.due(now):
            yield Move(self._server.clock.seconds, self.name, "tells", self._tell)

    def _tell(self) -> None:
        self._run(self._recorder.flush())

    def _pass(self, runner: _Runner) -> None:
        clock = self._server.clock
        for key in runner.agenda.take(clock.seconds):
            self._taken(runner, key)

    def _taken(self, runner: _Runner, key: Hashable) -> None:
        clock = self._server.clock
        self.passes += 1
        try:
            after = self._run(runner.reconcile(key))
        except Exception as error:  # noqa: BLE001 - as in the real controller: one key must not stop the others
            self.failures.append(Failure(clock.seconds, runner.name, str(key), error))
            runner.agenda.retry(key, clock.seconds)
        else:
            runner.agenda.forget(key)
            if after is not None:
                runner.agenda.wake(key, clock.seconds + after)
        if self.alive:
            runner.agenda.done(key, clock.seconds)

    def _run(self, work: Awaitable[Any]) -> Any:
        """Run a coroutine to its end; nothing in it waits. A Killed in it ends the process."""
        try:
            return self._loop.run_until_complete(work)
        except Killed:
            self.kill()
        except BaseExceptionGroup as group:
            if group.subgroup(Killed) is None:
                raise
            self.kill()
        return None
