"""One operator process: the real controllers over real stores, taken pass by pass instead of by an event loop."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from modeldeployment.kube import Recorder
from modeldeployment.lab.model.agendas import ModelQueue
from modeldeployment.lab.model.client import ModelClient
from modeldeployment.lab.model.errors import Killed
from modeldeployment.lab.model.moves import Move
from modeldeployment.lab.model.server import Server
from modeldeployment.lab.model.testifying import Testifying
from modeldeployment.lab.model.wire import Wire
from modeldeployment.reconcile import CheckKeeper, DeploymentController, Joint, Key, SetController, Watched
from modeldeployment.render import Policy


@dataclass(frozen=True, slots=True)
class Failure:
    """A pass that ended with an error and will be tried again."""

    at: float
    controller: str
    key: str
    error: Exception


@dataclass(frozen=True, slots=True)
class _Runner:
    name: str
    reconcile: Callable[[Any], Awaitable[float | None]]
    queue: ModelQueue[Any]


class Process:
    """An operator from its start to its death; `client`, `wire`, `watched` and its controllers are its own."""

    def __init__(
        self,
        server: Server,
        loop: asyncio.AbstractEventLoop,
        name: str,
        *,
        seed: int = 0,
        proves: Callable[[], bool] = lambda: True,
        busy: Callable[[], bool] = lambda: False,
    ) -> None:
        self.name = name
        self.passes = 0
        self.failures: list[Failure] = []
        self._server = server
        self._loop = loop
        clock = server.clock
        deployments: ModelQueue[Key] = ModelQueue(clock, seed)
        joint: ModelQueue[Joint] = ModelQueue(clock, seed)
        named: ModelQueue[str] = ModelQueue(clock, seed)
        self.client = ModelClient(server, name)
        self.watched = Watched(deployments.add)
        self._recorder = Recorder(self.client, "modeldeployment-operator", name, clock=clock.epoch)
        self._witness = Testifying(clock, deployments, proves, busy)
        self.controller = DeploymentController(
            self.client, self.watched, self._recorder, Policy(), clock.utc, self._witness
        )
        self.sets = SetController(self.client, self.watched, joint, clock.utc)
        checks = CheckKeeper(self.client, self.watched, named, clock.utc)
        self._runners = (
            _Runner("deployments", self.controller.reconcile, deployments),
            _Runner("sets", self.sets.reconcile, joint),
            _Runner("checks", checks.reconcile, named),
        )
        self.wire = Wire(server, self.watched, lambda: self.passes)
        self.sets.begin()
        self._run(checks.begin())

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
            at = runner.queue.next_at
            if at is not None:
                yield Move(at, self.name, f"{runner.name} pass", partial(self._pass, runner))
        yield from self._witness.moves()
        if self._recorder.ledger.due(self._server.clock.epoch()):
            yield Move(self._server.clock.seconds, self.name, "tells", self._tell)

    def _tell(self) -> None:
        self._run(self._recorder.flush())

    def _pass(self, runner: _Runner) -> None:
        for key in runner.queue.take():
            self._taken(runner, key)

    def _taken(self, runner: _Runner, key: Hashable) -> None:
        self.passes += 1
        try:
            after = self._run(runner.reconcile(key))
        except Exception as error:  # noqa: BLE001 - as in the real controller: one key must not stop the others
            self.failures.append(Failure(self._server.clock.seconds, runner.name, str(key), error))
            runner.queue.retry(key)
        else:
            runner.queue.forget(key)
            if after is not None:
                runner.queue.wake(key, after)
        if self.alive:
            runner.queue.done(key)

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
