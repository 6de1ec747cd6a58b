"""The worker API of the two routers, as far as it was measured. Source: facts routers-measured §3."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote


@dataclass(frozen=True, slots=True)
class Worker:
    """One entry of `GET /workers`: `kind` is regular, prefill or decode, `key` what names it in a path.

    vLLM's router names a worker by its percent-encoded URL, SGLang's by an id of its own.
    """

    url: str
    kind: str
    healthy: bool
    key: str
    bootstrap_port: int | None


def listed(answer: Mapping[str, Any]) -> tuple[Worker, ...]:
    """Read the answer of `GET /workers`."""
    return tuple(
        Worker(
            url=entry["url"],
            kind=entry["worker_type"],
            healthy=entry["is_healthy"],
            key=entry["id"] if "id" in entry else quote(entry["url"], safe=""),
            bootstrap_port=entry.get("bootstrap_port"),
        )
        for entry in answer["workers"]
    )
