"""What one answer amounts to, from what was read of it: pure."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from modeldeployment.lab.loading.accounts import Outcome

_DONE: Final = "[DONE]"
_PREFIX: Final = "data:"
_SHOWN: Final = 160
_TRY_AGAIN: Final = frozenset({429, 503})
_CUT_BEHIND_ENVOY: Final = "reset reason: connection termination"
"""What Envoy says, with status 503, of a connection that it had sent the request on."""


@dataclass(slots=True)
class Reading:
    """What was read of an answer so far: its tokens, who wrote it, and whether it said that it is complete."""

    engine: str = ""
    tokens: int = 0
    ended: bool = False
    told: str = ""

    def line(self, line: str) -> None:
        """Take in one line of a stream."""
        if not line.startswith(_PREFIX):
            return
        data = line.removeprefix(_PREFIX).strip()
        if data == _DONE:
            self.ended = True
            return
        event = _tree(data)
        self.engine = str(event.get("system_fingerprint") or self.engine)
        if "error" in event:
            self.told = _reason(event)
        self.tokens += sum(_words(choice.get("delta", choice)) for choice in _choices(event))

    def whole(self, text: str) -> None:
        """Take in an answer that does not stream."""
        answer = _tree(text)
        self.engine = str(answer.get("system_fingerprint") or "")
        usage = answer.get("usage")
        self.tokens = usage.get("completion_tokens", 0) if isinstance(usage, dict) else 0
        self.ended = any(choice.get("finish_reason") for choice in _choices(answer))


def verdict(reading: Reading, wanted: int) -> tuple[Outcome, str]:
    """Say what an answer with status 200 amounts to, of so many tokens that were asked for."""
    if reading.told:
        return Outcome.FAILED, f"told within the answer: {reading.told}"
    if not reading.ended:
        return Outcome.CUT, "the answer ends without its end"
    if reading.tokens != wanted:
        return Outcome.CUT, "the answer has another number of tokens than was asked for"
    return Outcome.ANSWERED, ""


def refusal(status: int, text: str) -> tuple[Outcome, str]:
    """Say what an answer with another status amounts to: refused where it says that nothing was begun."""
    cause = f"{status} {_reason(_tree(text)) or text[:_SHOWN]}".strip()
    if _CUT_BEHIND_ENVOY in text:
        return Outcome.CUT, cause
    return (Outcome.REFUSED if status < 500 or status in _TRY_AGAIN else Outcome.FAILED), cause


def _tree(text: str) -> dict[str, Any]:
    try:
        tree = json.loads(text)
    except ValueError:
        return {}
    return tree if isinstance(tree, dict) else {}


def _choices(tree: dict[str, Any]) -> Sequence[dict[str, Any]]:
    found = tree.get("choices")
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _words(part: Any) -> int:
    """How many words an event gives: an engine of the lab writes one a token."""
    return len(str(part.get("content") or part.get("text") or "").split()) if isinstance(part, dict) else 0


def _reason(tree: dict[str, Any]) -> str:
    error = tree.get("error", tree)
    said = error.get("message") or error.get("code") or "" if isinstance(error, dict) else error
    return str(said)[:_SHOWN]
