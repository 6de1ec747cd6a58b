"""What a request asks of an engine, read from its body. Sources: the OpenAI API, facts routers-measured §6."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

_LIMITS: Final = ("max_completion_tokens", "max_tokens")


class Unreadable(ValueError):
    """The body is no request; the message says what is missing."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One request: the words of its prompt, at most how many tokens it wants (0: no limit), and how it wants them.

    `transfer` are the parameters by which a pair hands blocks over, None where the request has none; `room` is where
    the halves of an SGLang pair meet, empty where they do not.
    """

    prompt: tuple[str, ...]
    limit: int
    stream: bool
    include_usage: bool
    transfer: Mapping[str, Any] | None
    room: str = ""
    mark: str = ""
    """The first word of the prompt, or of its last message: by it whoever sent the request finds it again."""

    @property
    def takes_over(self) -> bool:
        """Whether the blocks of its prompt are somewhere else already."""
        return self.transfer is not None and self.transfer.get("do_remote_prefill") is True


def read(body: Any, *, chat: bool) -> Asked:
    """Read the body of a completion, or of a chat completion. Raises Unreadable."""
    if not isinstance(body, dict):
        raise Unreadable("the body is no JSON object")
    field = "messages" if chat else "prompt"
    if field not in body:
        raise Unreadable(f"{field}: field required")
    options = body.get("stream_options")
    transfer = body.get("kv_transfer_params")
    prompt = _words(body[field])
    newest = _words(body[field][-1:]) if chat and isinstance(body[field], list) else prompt
    return Asked(
        prompt=prompt,
        limit=next((value for name in _LIMITS if isinstance(value := body.get(name), int)), 0),
        stream=body.get("stream") is True,
        include_usage=isinstance(options, dict) and options.get("include_usage") is True,
        transfer=transfer if isinstance(transfer, dict) else None,
        room="" if (room := body.get("bootstrap_room")) is None else str(room),
        mark=newest[0] if newest else "",
    )


def _words(value: Any) -> tuple[str, ...]:
    """Every word of a prompt: a string, a list of tokens, or messages of text."""
    match value:
        case str():
            return tuple(value.split())
        case Mapping():
            return _words(value.get("content", value.get("text", "")))
        case Sequence():
            return tuple(word for each in value for word in _words(each))
        case None:
            return ()
        case other:
            return (str(other),)
