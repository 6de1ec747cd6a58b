"""What an engine answers, as JSON trees. Sources: the OpenAI API, facts routers-measured §1 and §6."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from modeldeployment.api.choices import EngineName
from modeldeployment.lab.engines.asking import Asked
from modeldeployment.lab.engines.behaviour import Transfer
from modeldeployment.lab.engines.model import EngineModel

_LONGEST_PROMPT: Final = 32768
_HANDSHAKE_PORT: Final = 5600
_VERSIONS: Final[Mapping[EngineName, str]] = {EngineName.VLLM: "0.32.0", EngineName.SGLANG: "0.5.23"}


def models(engine: EngineName, served: str) -> dict[str, Any]:
    """Answer `/v1/models`."""
    entry = {"id": served, "object": "model", "created": 0, "owned_by": engine.lower(), "root": served}
    return {"object": "list", "data": [entry | {"max_model_len": _LONGEST_PROMPT}]}


def version(engine: EngineName) -> dict[str, Any]:
    """Answer `/version`."""
    return {"version": _VERSIONS[engine]}


def text(token: int) -> str:
    """Answer the text of one token."""
    return f"word{token} "


def usage(asked: Asked, tokens: int) -> dict[str, Any]:
    """Answer what a request used."""
    prompt = len(asked.prompt)
    return {"prompt_tokens": prompt, "completion_tokens": tokens, "total_tokens": prompt + tokens}


@dataclass(frozen=True, slots=True)
class Answer:
    """What every part of one answer says: its name, the model, whether it is a chat, and which engine wrote it."""

    name: str
    served: str
    chat: bool
    who: str

    def head(self, *, chunk: bool) -> dict[str, Any]:
        """Answer what every object of it begins with."""
        kind = ("chat.completion.chunk" if chunk else "chat.completion") if self.chat else "text_completion"
        head = {"id": self.name, "object": kind, "created": 0, "model": self.served}
        return {**head, "system_fingerprint": self.who}


def whole(answer: Answer, asked: Asked, tokens: int, handover: Mapping[str, Any] | None) -> dict[str, Any]:
    """Answer a request that does not stream; `handover` is what a prefill half tells the decode half."""
    written = "".join(map(text, range(tokens)))
    said: dict[str, Any] = {"message": {"role": "assistant", "content": written}} if answer.chat else {"text": written}
    choice = {"index": 0, "finish_reason": "length", **said}
    told = {**answer.head(chunk=False), "choices": [choice], "usage": usage(asked, tokens)}
    return told if handover is None else told | {"kv_transfer_params": dict(handover)}


def chunk(answer: Answer, tokens: range, *, last: bool) -> dict[str, Any]:
    """Answer one event of a stream."""
    written = "".join(map(text, tokens))
    said: dict[str, Any] = {"delta": {"content": written}} if answer.chat else {"text": written}
    choice = {"index": 0, "finish_reason": "length" if last else None, **said}
    return answer.head(chunk=True) | {"choices": [choice]}


def closing(answer: Answer, asked: Asked, tokens: int) -> dict[str, Any]:
    """Answer the event that follows the last token where usage was asked for."""
    return answer.head(chunk=True) | {"choices": [], "usage": usage(asked, tokens)}


def error(status: int, message: str) -> dict[str, Any]:
    """Answer a failure."""
    return {
        "error": {"message": message, "type": "server_error" if status >= 500 else "invalid_request", "code": status}
    }


def rendered(name: str, served: str, prompt: Sequence[str]) -> dict[str, Any]:
    """Answer vLLM's render routes: the tokens a prompt becomes."""
    return {"request_id": name, "model": served, "token_ids": list(range(len(prompt)))}


def tokenized(prompt: Sequence[str]) -> dict[str, Any]:
    """Answer vLLM's `/tokenize`."""
    return {"count": len(prompt), "max_model_len": _LONGEST_PROMPT, "tokens": list(range(len(prompt)))}


def handover(how: Transfer, asked: Asked, address: str, identity: str, name: str) -> dict[str, Any] | None:
    """Answer what a prefill half tells through its reply; None where the reply says nothing of it."""
    if how is not Transfer.NIXL or not asked.transfer or asked.transfer.get("do_remote_decode") is not True:
        return None
    return {
        "do_remote_prefill": True,
        "do_remote_decode": False,
        "remote_block_ids": [[0]],
        "remote_engine_id": identity,
        "remote_request_id": name,
        "remote_host": address,
        "remote_port": _HANDSHAKE_PORT,
        "tp_size": 1,
    }


def bootstrap(address: str, identity: str) -> dict[str, Any]:
    """Answer `/query` of a vLLM prefill half's Mooncake bootstrap port: its workers by data-parallel rank."""
    return {"0": {"engine_id": identity, "worker_addr": {"0": {"0": f"tcp://{address}:{_HANDSHAKE_PORT}"}}}}


def server_info(served: str, model: EngineModel) -> dict[str, Any]:
    """Answer SGLang's `/server_info`."""
    return {
        "model_path": served,
        "served_model_name": served,
        "tp_size": 1,
        "dp_size": 1,
        "pp_size": 1,
        "version": _VERSIONS[EngineName.SGLANG],
        "max_total_num_tokens": model.blocks,
        "internal_states": [{"load": model.running + model.waiting}],
    }


def model_info(served: str) -> dict[str, Any]:
    """Answer SGLang's `/model_info`."""
    return {"model_path": served, "tokenizer_path": served, "is_generation": True, "weight_version": "default"}


def load(model: EngineModel) -> list[dict[str, Any]]:
    """Answer SGLang's `/get_load`."""
    return [
        {
            "dp_rank": 0,
            "num_reqs": model.running + model.waiting,
            "num_waiting_reqs": model.waiting,
            "num_tokens": model.held,
        }
    ]
