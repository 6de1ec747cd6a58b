"""The controllers' work queue on virtual time."""

from modeldeployment.kube import WorkQueue
from modeldeployment.kube.queue import Agenda, K
from modeldeployment.lab.model.clock import Clock


class ModelQueue(WorkQueue[K]):
    """A queue that controllers fill as they do any other; whoever drives the world takes keys from it."""

    def __init__(self, clock: Clock, seed: int) -> None:
        super().__init__()
        self._clock = clock
        self._keys: Agenda[K] = Agenda(seed=seed)

    def __len__(self) -> int:
        return len(self._keys)

    @property
    def next_at(self) -> float | None:
        """When a key may next be taken."""
        return self._keys.next_at()

    def take(self) -> tuple[K, ...]:
        """Take the key whose turn it is, if any."""
        return self._keys.take(self._clock.seconds)

    def add(self, key: K) -> None:
        """Let a key have a pass now."""
        self._keys.add(key, self._clock.seconds)

    def wake(self, key: K, after: float) -> None:
        """Let a key have a pass after so many seconds."""
        self._keys.wake(key, self._clock.seconds + after)

    def retry(self, key: K) -> None:
        """Note that a pass failed."""
        self._keys.retry(key, self._clock.seconds)

    def forget(self, key: K) -> None:
        """Note that a pass succeeded."""
        self._keys.forget(key)

    def done(self, key: K, worked: float = 0.0) -> None:  # noqa: ARG002 - passes take no time here
        """Note that a pass is over."""
        self._keys.done(key, self._clock.seconds)
