"""How long an engine takes over what it does, by how busy it is: pure, in seconds of the engine's clock."""

from random import Random

from modeldeployment.lab.engines.behaviour import Behaviour


def prefill(behaviour: Behaviour, computed: int) -> float:
    """Seconds until the first token of a request, so many tokens of whose prompt have to be computed, once it runs."""
    return behaviour.prefill_seconds + (computed / behaviour.prefill_rate if behaviour.prefill_rate else 0.0)


def step(behaviour: Behaviour, running: int) -> float:
    """Seconds between two tokens of one request while so many run."""
    shared = running / behaviour.decode_rate if behaviour.decode_rate else 0.0
    return max(behaviour.token_seconds, shared)


def scattered(seconds: float, behaviour: Behaviour, chance: Random) -> float:
    """A time as it turns out by chance: within the share `spread` of what it should be."""
    return seconds * (1 + behaviour.spread * chance.uniform(-1, 1)) if behaviour.spread else seconds
