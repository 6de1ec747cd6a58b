"""What a pass found out of the router, and of the events that it follows."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NoEvents:
    """No role produces blocks that a router would follow."""


@dataclass(frozen=True, slots=True)
class NoRouterForEvents:
    """The roles of a pair have no router to publish KV events to."""


@dataclass(frozen=True, slots=True)
class PublisherDisabled:
    """These roles are rendered without a publisher."""

    roles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ProducerUnmanaged:
    """These roles replaced their command line, so nobody knows whether they publish."""

    roles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Publishing:
    """Every producing role is configured to publish."""


@dataclass(frozen=True, slots=True)
class NoRouterDeclared:
    """The deployment declares no router."""


@dataclass(frozen=True, slots=True)
class RouterRefused:
    """The router cannot be rendered; `message` is the renderer's own."""

    message: str


@dataclass(frozen=True, slots=True)
class RouterNotDeployed:
    """The router's Deployment does not exist; `taken` are names of its objects that somebody else holds."""

    taken: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RouterNotServing:
    """None of the router's replicas is ready."""

    wanted: int
    taken: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RouterServes:
    """Some of the router's replicas are ready."""

    ready: int
    wanted: int
    taken: tuple[str, ...] = ()
