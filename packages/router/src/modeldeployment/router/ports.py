"""Ports that nobody configures: those of a router's own Pod, and those of engine Pods that others dial.

Sources: facts router-rendering §2, facts rendering §4, facts encode §6.
"""

from typing import Final

LISTEN_PORT: Final = 8081
"""Where a router answers callers, whatever program stands there."""
METRICS_PORT: Final = 9090
"""Where a router publishes its own numbers."""
PICKER_PORT: Final = 9002
"""Where the proxy of `llm-d-router` asks its picker."""
PICKER_HEALTH_PORT: Final = 9003
"""Where that picker says how it is."""

KV_EVENTS_PORT: Final = 5557
"""Where a vLLM engine publishes its KV events."""
KV_EVENTS_REPLAY_PORT: Final = 5558
"""Where a subscriber asks for the events it missed."""
KV_EVENTS_TOPIC: Final = "kv@"
"""What every KV event begins with."""
BOOTSTRAP_PORT: Final = 8998
"""Where the decode half of a pair finds the prefill half."""
ENCODER_TRANSFER_PORT: Final = 5601
"""Where a vLLM encoder hands out what it encoded."""
ENCODER_REGISTRY_PORT: Final = 8997
"""Where an SGLang engine without a vision tower lists its encoders."""
