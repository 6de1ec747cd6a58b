"""Virtual time: it moves when the world says so and never by itself."""

from datetime import UTC, datetime, timedelta
from typing import Final

_ORIGIN: Final = datetime(2030, 1, 1, tzinfo=UTC)


class Clock:
    """Seconds since the world began, and the same as dates."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def utc(self) -> datetime:
        """The present moment."""
        return _ORIGIN + timedelta(seconds=self.seconds)

    def epoch(self) -> float:
        """The present moment in epoch seconds."""
        return self.utc().timestamp()

    def stamp(self, ahead: float = 0.0) -> str:
        """The present moment as objects carry it, in whole seconds; `ahead` seconds later."""
        return (self.utc() + timedelta(seconds=ahead)).strftime("%Y-%m-%dT%H:%M:%SZ")

    def advance(self, to: float) -> None:
        """Let it be later; an earlier moment changes nothing."""
        self.seconds = max(self.seconds, to)


def seconds_of(stamp: str) -> float:
    """When an object's time stamp is, in seconds since the world began."""
    return (datetime.fromisoformat(stamp) - _ORIGIN).total_seconds()
