"""Ports of engine Pods that routers and the other half of a pair dial, and nobody configures.

Sources: facts router-rendering §2, facts rendering §4, facts encode §6.
"""

from typing import Final

KV_EVENTS_PORT: Final = 5557
"""Where a vLLM engine publishes its KV events."""
KV_EVENTS_REPLAY_PORT: Final = 5558
"""Where a subscriber asks for the events it missed."""
BOOTSTRAP_PORT: Final = 8998
"""Where the decode half of a pair finds the prefill half."""
ENCODER_TRANSFER_PORT: Final = 5601
"""Where a vLLM encoder hands out what it encoded."""
ENCODER_REGISTRY_PORT: Final = 8997
"""Where an SGLang engine without a vision tower lists its encoders."""
