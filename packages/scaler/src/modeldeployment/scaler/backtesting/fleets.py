"""How the engines of a back-test serve: what one replica carries at most, and how long one takes to come and to go."""

from dataclasses import dataclass

from modeldeployment.api import RoleKind


@dataclass(frozen=True, slots=True)
class Group:
    """The replicas of one role, all alike."""

    name: str
    kind: RoleKind
    peak: int
    """Tokens per second that one replica serves at most: prompt, generation, or both, by its kind."""
    minimum: int
    maximum: int
    token_milliseconds: int = 30
    """Time between two tokens of a request that nothing slows down."""

    def work(self, prompt: int, generation: int) -> int:
        """Tokens of a request that this role serves."""
        match self.kind:
            case RoleKind.PREFILL:
                return prompt
            case RoleKind.DECODE:
                return generation
            case _:
                return prompt + generation


@dataclass(frozen=True, slots=True)
class Fleet:
    """The roles in the order in which requests pass them, and the times that they share."""

    groups: tuple[Group, ...]
    cold_seconds: int
    """From the moment a replica is declared until it serves."""
    leaving_seconds: int = 30
    """From the moment a replica is not declared any more until it is gone; one leaves at a time, and serves no more."""
    limit_seconds: int = 2
    """A request waits no longer than this before each role, or its service level is missed."""
