"""One router process played against a proof: what it lists and counts, and how it takes to being told things."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from urllib.parse import quote

from modeldeployment.api.choices import RoleKind, RouterName
from modeldeployment.router.withdrawal import Advance, Ask, Door, Heard, Program, State, Step, Subject, Verdict, program

START: Final = datetime(2030, 1, 1, tzinfo=UTC)
GOES: Final = "http://10.0.0.1:8000"
STAYS: Final = "http://10.0.0.2:8000"
PROVEN, WAITING, IMPOSSIBLE = Verdict.PROVEN, Verdict.WAITING, Verdict.IMPOSSIBLE


def measured(router: RouterName, running: str) -> Program:
    """The program of this version, which is one that was measured."""
    found = program(router, running)
    assert found is not None
    return found


def subject(**fields: Any) -> Subject:
    """The member that goes, a Server with a peer; `fields` replace some of it."""
    defaults: dict[str, Any] = {
        "router": "router Pod qwen-router-1 (vllm-router 0.1.17)",
        "name": "qwen-server-1-0",
        "address": "10.0.0.1",
        "port": 8000,
        "kind": RoleKind.SERVER,
    }
    return Subject(**{**defaults, **fields})


@dataclass
class Router:
    """A router process. `lists` are its workers by kind, `numbers` the text of its metrics.

    `removes` is how many further lists still show a worker that was removed, `status` what every request for the list
    is answered with instead, `removal` and `addition` the answers to being told.
    """

    lists: dict[str, str] = field(default_factory=lambda: {GOES: "regular", STAYS: "regular"})
    numbers: str = 'vllm_router_worker_health{worker="http://10.0.0.1:8000"} 1\n'
    by_id: bool = False
    removal: int = 200
    addition: int = 202
    removes: int = 0
    status: int = 200
    asked: list[tuple[str, str]] = field(default_factory=list)
    _going: dict[str, int] = field(default_factory=dict)

    def key(self, url: str) -> str:
        return f"id-{url[14]}" if self.by_id else quote(url, safe="")

    def answer(self, ask: Ask) -> Heard:
        self.asked.append((ask.method, ask.path))
        if ask.door is Door.NUMBERS:
            return Heard(ask, 200, self.numbers.encode())
        if ask.method == "GET":
            return Heard(ask, self.status, self._list() if self.status == 200 else b"{}")
        if ask.method == "POST":
            body = json.loads(ask.body)
            if self.addition < 300:
                self.lists[body["url"]] = body.get("worker_type", "regular")
            return Heard(ask, self.addition, b"{}")
        for url in list(self.lists):
            if ask.path == f"/workers/{self.key(url)}" and self.removal < 300:
                self._going[url] = self.removes
        return Heard(ask, self.removal, b'{"success":true}')

    def _list(self) -> bytes:
        for url, left in list(self._going.items()):
            self._going[url] = left - 1
            if left <= 0:
                self.lists.pop(url, None)
                del self._going[url]
        return listing(self.lists, by_id=self.by_id)


def listing(lists: Mapping[str, str], *, by_id: bool = False, **fields: Any) -> bytes:
    """The answer to `GET /workers`."""
    entries = [
        {"url": url, "worker_type": kind, "is_healthy": True, "load": 0} | ({"id": f"id-{url[14]}"} if by_id else {})
        for url, kind in lists.items()
    ]
    return json.dumps({"workers": entries, "total": len(entries), **fields}).encode()


@dataclass
class Story:
    """What a proof came to: its last step, how many seconds it took, and how often it asked."""

    step: Step
    seconds: float
    rounds: int

    @property
    def verdict(self) -> Verdict:
        return self.step.verdict

    @property
    def reason(self) -> str:
        return self.step.reason


def play(
    advance: Advance,
    router: Router,
    about: Subject | None = None,
    *,
    seconds: float = 30.0,
    meanwhile: Callable[[float], Subject | None] = lambda _: None,
    state: State | None = None,
) -> Story:
    """Ask and be answered until the proof is done, or so many seconds have passed.

    `meanwhile` is called before every round of answers with the seconds that have passed and may replace the member.
    """
    about = about or subject()
    heard: list[Heard] = []
    passed, rounds = 0.0, 0
    while True:
        step = advance(state, heard, about, START + timedelta(seconds=passed))
        if step.verdict is not WAITING or passed >= seconds:
            return Story(step, passed, rounds)
        state, passed, rounds = step.state, passed + max(step.rest, 0.001), rounds + 1
        about = meanwhile(passed) or about
        heard = [router.answer(ask) for ask in step.asks]
