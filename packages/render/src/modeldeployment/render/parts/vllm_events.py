"""The stream of KV events of a vLLM engine. Source: facts rendering §4."""

from typing import Any, Final

from modeldeployment.render.compose import ARGV, Fragment
from modeldeployment.render.context import Context
from modeldeployment.render.documents import compact
from modeldeployment.render.parts.places import MAIN
from modeldeployment.router import KV_EVENTS_PORT, KV_EVENTS_REPLAY_PORT, KV_EVENTS_TOPIC

DOCUMENT: Final[dict[str, Any]] = {
    "enable_kv_cache_events": True,
    "publisher": "zmq",
    "endpoint": f"tcp://*:{KV_EVENTS_PORT}",
    "replay_endpoint": f"tcp://*:{KV_EVENTS_REPLAY_PORT}",
    "buffer_steps": 10_000,
    "hwm": 100_000,
    "max_queue_size": 100_000,
    "topic": KV_EVENTS_TOPIC,
}
"""What a publisher is told, the same on every role."""

_WRITTEN: Final = compact(DOCUMENT)


def kv_events(context: Context) -> Fragment:
    """Publish cache events where the router subscribes to them."""
    if not context.joins.events:
        return {}
    return {(*MAIN, ARGV, "events"): ("--kv-events-config", _WRITTEN)}
