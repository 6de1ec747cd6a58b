"""What a pass found out of the shared cache that a deployment names."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NoCache:
    """The deployment names no shared cache."""


@dataclass(frozen=True, slots=True)
class Registered:
    """The binding can be used; `connected` says whether the store behind it can."""

    binding: str
    connected: bool


@dataclass(frozen=True, slots=True)
class BindingNotFound:
    """The namespace has no binding of that name."""

    binding: str


@dataclass(frozen=True, slots=True)
class BindingNotReady:
    """The binding grants nothing yet; `because` where an object on the way to the store cannot be read."""

    binding: str
    because: str = ""


@dataclass(frozen=True, slots=True)
class BindingDeleting:
    """The binding is being deleted."""

    binding: str


@dataclass(frozen=True, slots=True)
class NothingToAttach:
    """The deployment names no shared cache to attach to."""


@dataclass(frozen=True, slots=True)
class AttachmentUnmanaged:
    """These roles replaced their command line, so nobody knows whether they use the cache."""

    roles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NobodyToAttach:
    """No replica is ready to be asked."""


@dataclass(frozen=True, slots=True)
class CacheActive:
    """So many of the ready replicas use the store and succeed; 0 where only the domain's blocks say so."""

    active: int
    ready: int


@dataclass(frozen=True, slots=True)
class CacheOperationsFailing:
    """So many of the ready replicas use the store, and none of them succeeds."""

    failing: int
    ready: int


@dataclass(frozen=True, slots=True)
class AttachmentNotObserved:
    """The ready replicas say nothing of the store, and the domain is empty."""

    ready: int
