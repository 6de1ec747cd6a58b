"""What status says of the router: the contract it was rendered from, and the load it last reported.

Sources: facts api-modeldeployment §3, facts status §8.
"""

from typing import Annotated

from pydantic import Field

from modeldeployment.api.document import Document, Int32, absent, list_map

_Address = Annotated[str, Field(max_length=512)]


class KVEvents(Document):
    """Where a role's engines publish cache events."""

    endpoint: _Address | None = None
    """Address of the stream."""
    replay_endpoint: _Address | None = None
    """Address that repeats missed events."""
    topic: str | None = None
    """Prefix of every event."""


class RoutedRole(Document):
    """One role as the router finds it."""

    name: Annotated[str, Field(max_length=63)]
    """Name of the role."""
    kind: Annotated[str, Field(max_length=63)]
    """Effective kind."""
    selector: Annotated[dict[str, str], Field(exclude_if=absent)] = Field(default_factory=dict)
    """Labels of the Pods that are sent requests."""
    endpoint: _Address | None = None
    """Address of the role itself."""
    kv_events: KVEvents | None = None
    """Where its engines publish cache events; left out where they do not."""


class RouterMetrics(Document):
    """The series llm-d-router reads from engines."""

    port: Annotated[Int32, Field(ge=1)]
    """Port they are read at."""
    queued_requests: str | None = None
    """Series of requests waiting."""
    running_requests: str | None = None
    """Series of requests running."""
    kv_cache_utilization: str | None = None
    """Series of the used fraction of the engine's cache."""


class RouterStatus(Document):
    """What the router was told."""

    name: Annotated[str, Field(max_length=63)]
    """Which router."""
    endpoint: _Address | None = None
    """Address of the router."""
    pool_endpoint: _Address | None = None
    """Address of the shared cache's store."""
    roles: Annotated[tuple[RoutedRole, ...], Field(exclude_if=absent), list_map("name")] = ()
    """One entry per role."""
    metrics: RouterMetrics | None = None
    """The series it reads from engines; llm-d-router only."""
