"""The journal as the passes see it: every line goes to its scaler's ring and, where there is one, to the writer."""

from modeldeployment.scaler.journal.line import Line, encode
from modeldeployment.scaler.journal.ring import Ring
from modeldeployment.scaler.journal.writing import Writer


class Journal:
    """Keeps the last `passes` of every scaler in memory; never waits, never fails a pass."""

    def __init__(self, passes: int, writer: Writer | None = None) -> None:
        self._passes = passes
        self._writer = writer
        self._rings: dict[tuple[str, str], Ring] = {}

    def append(self, line: Line) -> None:
        """Keep a pass."""
        data = encode(line)
        self._rings.setdefault((line.namespace, line.name), Ring(self._passes)).append(data)
        if self._writer is not None:
            self._writer.append(data)

    def of(self, namespace: str, name: str) -> tuple[bytes, ...]:
        """The last passes of a scaler, encoded, oldest first; none where it has none."""
        return tuple(self._rings.get((namespace, name), ()))

    def forget(self, namespace: str, name: str) -> None:
        """Let the passes of a scaler go that is gone."""
        self._rings.pop((namespace, name), None)
