"""A deployment as its router sees it, and what is rendered for it: plain data on both sides.

Sources: facts router-rendering §1 to §7, facts routing §2 and §4, decisions D4, D11, D46 to D48.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from modeldeployment.api.choices import EngineName, RoleKind
from modeldeployment.router.row import Metric
from modeldeployment.router.standing import Standing

if TYPE_CHECKING:
    from modeldeployment.api.modeldeployment import Router
    from modeldeployment.api.routerstatus import KVEvents, RouterStatus


@dataclass(frozen=True, slots=True)
class FrontedRole:
    """One role behind a router.

    `selector` are the labels that its answering Pods carry and no others do, `endpoint` the URL of its own Service,
    `port` the effective target port, at which routers reach its Pods (decisions D34). `scheme` and `protocol` are those
    under which requests arrive there.
    """

    name: str
    kind: RoleKind
    selector: Mapping[str, str]
    endpoint: str
    port: int
    scheme: str = "http"
    protocol: str = "TCP"
    kv_events: KVEvents | None = None


@dataclass(frozen=True, slots=True)
class Engine:
    """The engine behind a router: what it calls the numbers routers score by.

    `block_numbers` are the further series from which prefix caches are guessed where no KV events say what they hold,
    by the field of the picker's document that names each (facts router-rendering §3). `tag` is its word in lower case.
    `events` says whether it publishes KV events on any hardware, `finds_encoders` whether it picks an encoder itself,
    so that no router has to (facts encode §5 and §6).
    """

    name: EngineName
    tag: str
    numbers: Mapping[Metric, str]
    block_numbers: Mapping[str, str]
    events: bool = True
    finds_encoders: bool = False


@dataclass(frozen=True, slots=True)
class Images:
    """Images of the operator's own choice, as this cluster pulls them."""

    router: str
    proxy: str


@dataclass(frozen=True, slots=True)
class Front:
    """What a router's objects are rendered from; nothing of it follows from a count or a Pod's address.

    There is at least one role, and the selector is never empty: the API and the renderer see to that.
    `owner_references` are those of everything the deployment owns, `selector` the labels that select the answering Pods
    of all roles but Encode, `pool_endpoint` is where the shared store is found, empty where none is attached.
    """

    deployment: str
    namespace: str
    owner_references: list[dict[str, Any]]
    router: Router
    engine: Engine
    model: str
    roles: tuple[FrontedRole, ...]
    selector: Mapping[str, str]
    images: Images
    pool_endpoint: str = ""

    @property
    def port(self) -> int:
        """The one port at which every role is reached (decisions D34); raises PortsDiffer where there are several."""
        ports = sorted({role.port for role in self.roles})
        if len(ports) == 1:
            return ports[0]
        raise PortsDiffer(
            f"router requires every role to use the same serving port; got [{' '.join(map(str, ports))}]: it finds "
            "the replicas of all roles at one port; give every role the same first entry in spec.roles[].ports, and "
            "leave --port out"
        )

    def of_kind(self, kind: RoleKind) -> tuple[FrontedRole, ...]:
        """Answer the roles of one kind by name, whatever order they were declared in."""
        return tuple(sorted((role for role in self.roles if role.kind is kind), key=lambda role: role.name))

    @property
    def pair(self) -> bool:
        """Whether both halves of a pair are there; a lone half is routed to like any other role."""
        return bool(self.of_kind(RoleKind.PREFILL) and self.of_kind(RoleKind.DECODE))


@dataclass(frozen=True, slots=True)
class Run:
    """Neighbouring arguments with one subject: a sentence on why they are there, and whose they are."""

    tokens: tuple[str, ...]
    why: str
    standing: Standing


@dataclass(frozen=True, slots=True)
class RouterRendering:
    """Everything a router wants to exist: objects in the order they are created, and what status says of them.

    `contract` is published as it is, but for the endpoint, which appears once a replica is ready. `runs` is the
    command line of the routing program by origin; the container's arguments are exactly its tokens.
    """

    objects: tuple[dict[str, Any], ...]
    endpoint: str
    contract: RouterStatus
    runs: tuple[Run, ...]


class RouterRefusal(Exception):
    """A router that cannot front this deployment as it stands; the message has field, value, why and the way out."""


class PortsDiffer(RouterRefusal):
    """Its roles are reached at different ports, and a router discovers them at one."""


class NotPlain(RouterRefusal):
    """One of its roles does not take plain HTTP on a TCP port, which is all that routers speak."""


class MetricMissing(RouterRefusal):
    """Its engine has no name for a number that the router scores by."""
