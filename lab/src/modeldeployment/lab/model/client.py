"""The operator's client without a network: requests go straight to the fake server, and every write can be met."""

from collections.abc import Callable
from dataclasses import dataclass

from modeldeployment.kube import Client
from modeldeployment.kube.access import Access, Credential
from modeldeployment.kube.requests import Request
from modeldeployment.lab.model import door
from modeldeployment.lab.model.errors import Killed
from modeldeployment.lab.model.server import Server


@dataclass(frozen=True, slots=True)
class Write:
    """One write of a process, numbered from 1."""

    number: int
    request: Request

    @property
    def plural(self) -> str:
        """The plural of the kind that is written."""
        return door.kind_of(self.request)

    def __str__(self) -> str:
        return f"#{self.number} {self.request.method} {self.request.target.partition('?')[0]}"


def _pass(_: Write) -> None:
    """Let a write happen."""


class ModelClient(Client):
    """A client of the fake server that signs as one process.

    `before` and `after` are called around each write. What `before` raises is the answer, and nothing was written;
    what `after` raises is the answer although it was written. Raising Killed ends the process: whatever else it still
    tries is Killed too. Errors are final here: the model has no retries of the transport.
    """

    def __init__(self, server: Server, by: str) -> None:
        super().__init__(Access(lambda: Credential("http://fake.invalid")), field_manager=by)
        self._server = server
        self._by = by
        self.writes = 0
        self.alive = True
        self.before: Callable[[Write], None] = _pass
        self.after: Callable[[Write], None] = _pass

    async def raw(self, request: Request) -> bytes:
        """Carry out a request at once; it never lets others run."""
        if not self.alive:
            raise Killed(request.target)
        if not door.writes(request):
            return door.answer(self._server, request, by=self._by)
        self.writes += 1
        write = Write(self.writes, request)
        try:
            self.before(write)
            answer = door.answer(self._server, request, by=self._by)
            self.after(write)
        except Killed:
            self.alive = False
            raise
        return answer
