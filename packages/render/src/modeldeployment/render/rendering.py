"""From a deployment and the facts of its cluster to everything it wants to exist.

Source: architecture §2, spec 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from modeldeployment.api import names
from modeldeployment.api.choices import RoleKind
from modeldeployment.api.conditions import RefusalReason
from modeldeployment.render import (
    compose,
    declared,
    encoding,
    fabric,
    image,
    joins,
    ports,
    routing,
    services,
    transfer,
    weights,
)
from modeldeployment.render.context import Context
from modeldeployment.render.engines import ENGINES
from modeldeployment.render.engines.takeover import TAKE_OVER
from modeldeployment.render.errors import RenderRefusal
from modeldeployment.render.facts import Facts
from modeldeployment.render.image import RuntimeVersionSkew
from modeldeployment.render.listener import Listener, listener
from modeldeployment.render.resources import resources
from modeldeployment.render.services import LONGEST_NAME
from modeldeployment.render.template import Occupants, Seat, Template
from modeldeployment.router import RouterRendering

if TYPE_CHECKING:
    from modeldeployment.api.instancetype import InstanceType
    from modeldeployment.api.modeldeployment import ModelDeployment
    from modeldeployment.api.roles import Role

Notice = RuntimeVersionSkew
"""Something to tell the user that keeps nothing from running."""


@dataclass(frozen=True, slots=True)
class RoleRendering:
    """One role: its counts, its template, and where each value of it came from.

    `queue` is the LocalQueue its Pods name, `unmanaged` whether the user took over the command line, `publishes`
    whether its engines publish KV events, `placed` what the Parts placed, by path.
    """

    name: str
    kind: RoleKind
    replicas: int
    size: int
    queue: str
    unmanaged: bool
    publishes: bool
    template: Template
    placed: Mapping[compose.Path, compose.Placed] = field(repr=False)
    _listener: Listener = field(repr=False)
    _deployment: ModelDeployment = field(repr=False)
    _parallelism: dict[str, object] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def parallelism(self) -> Mapping[str, object]:
        """What status says of the parallelism it declares, read at the first look: rendering has no use for it."""
        if not self._parallelism:
            spec = self._deployment.spec
            self._parallelism.update(declared.parallelism(spec.role(self.name), ENGINES[spec.engine.name]))
        return self._parallelism

    @property
    def port(self) -> int:
        """The port of a Pod at which Services and routers reach it."""
        return self._listener.serving.number

    def seats(self) -> Iterator[Seat]:
        """Yield every declared seat, replica by replica."""
        for ordinal in range(self.replicas):
            for member in range(self.size):
                yield Seat(ordinal, member)

    def headless(self, ordinal: int) -> dict[str, Any] | None:
        """Answer the Service that names the members of one replica, declared or not any more; None at size 1."""
        return services.replica_service(
            self._deployment, self._deployment.spec.role(self.name), self._listener, ordinal
        )


@dataclass(frozen=True, slots=True)
class Rendering:
    """Everything a deployment wants to exist: roles in declared order, Services, and the URL callers use.

    `endpoint` is that of the deployment itself; behind a router callers use the router's. `router` is None where none
    is declared, and the refusal where it cannot be rendered: replicas are then served without it.
    """

    roles: tuple[RoleRendering, ...]
    services: tuple[dict[str, Any], ...]
    endpoint: str
    notices: tuple[Notice, ...]
    router: RouterRendering | RenderRefusal | None = None


def render(deployment: ModelDeployment, facts: Facts) -> Rendering:
    """Render every role of `deployment`.

    Two renders of one input are equal to the byte.
    Raises RenderRefusal for the first role that cannot be rendered.
    """
    _refuse_elastic(deployment)
    encoding.refuse(deployment, ENGINES[deployment.spec.engine.name])
    contexts = [_context(deployment, role, facts) for role in deployment.spec.roles]
    rendered = tuple(_role(context) for context in contexts)
    first = next((context for context in contexts if context.role.kind is not RoleKind.ENCODE), contexts[0])
    fronts = [services.deployment_service(deployment, first.role, first.listener)]
    fronts += [
        services.role_service(deployment, context.role, context.listener, ports.published(context.joins))
        for context in contexts
    ]
    headless = (role.headless(ordinal) for role in rendered for ordinal in range(role.replicas if role.size > 1 else 0))
    return Rendering(
        rendered,
        (*fronts, *(service for service in headless if service is not None)),
        services.endpoint(deployment, first.listener),
        tuple(context.image.skew for context in contexts if context.image.skew),
        routing.routed(contexts),
    )


def _refuse_elastic(deployment: ModelDeployment) -> None:
    """Refuse what no release renders yet (decisions D24); only objects older than its refusal have it."""
    for role in deployment.spec.roles:
        if role.elastic_ep is not None:
            message = f"spec.roles[{role.name}].elasticEp is not rendered by this release; leave it out"
            raise RenderRefusal(RefusalReason.NOT_SUPPORTED, role.name, message)


def _context(deployment: ModelDeployment, role: Role, facts: Facts) -> Context:
    """Resolve everything about one role that several Parts read, or refuse it."""
    _names_fit(deployment.metadata.name, role)
    instance_type = _instance_type(role, facts)
    detail, engine = instance_type.status.detail, ENGINES[deployment.spec.engine.name]
    backend = engine.backend(detail.manufacturer)
    joined = joins.of(deployment, role, backend, facts.store)
    encoding.refuse_backend(role, backend, joined.encode)
    listening = listener(role, engine, proxied=joined.proxied)
    resolved = weights.resolve(deployment, engine, facts)
    return Context(
        deployment=deployment,
        role=role,
        engine=engine,
        backend=backend,
        facts=facts,
        instance_type=instance_type,
        queue=instance_type.entrance,
        image=image.choose(role, deployment.spec.engine, engine.tag, detail, facts.policy),
        listener=listening,
        joins=joined,
        halves=transfer.halves(deployment, engine) if joined.leg and backend.leg_port else {},
        opened=ports.opened(role, engine, joined, listening),
        weights=resolved,
        resources=resources(
            role,
            instance_type,
            facts.policy,
            interfaces=fabric.interfaces(
                role, backend, joined, detail.manufacturer, cached=bool(deployment.spec.kv_cache)
            ),
            cache_bytes=resolved.cache_bytes if resolved and role.managed else 0,
        ),
    )


def _instance_type(role: Role, facts: Facts) -> InstanceType:
    instance_type = facts.instance_types.get(role.instance_type)
    where = f"spec.roles[{role.name}].instanceType is {role.instance_type!r}"
    if instance_type is None:
        message = f"{where}: no InstanceType of that name exists; create it, or create a deployment that names another"
        raise RenderRefusal(RefusalReason.INSTANCE_TYPE_NOT_FOUND, role.name, message, retryable=True)
    if not instance_type.entrance:
        message = (
            f"{where}: it publishes no queue entrance yet, and a Pod without a queue would bypass quota; "
            "wait for its status.entrance"
        )
        raise RenderRefusal(RefusalReason.INSTANCE_TYPE_NOT_READY, role.name, message, retryable=True)
    return instance_type


def _names_fit(deployment: str, role: Role) -> None:
    """Refuse a role whose longest Pod or Service name is no hostname."""
    longest = names.role_service(deployment, role.name)
    if role.size > 1:
        longest = names.member_pod(deployment, role.name, role.replicas - 1, role.size - 1)
    if len(longest) > LONGEST_NAME:
        message = (
            f"spec.roles[{role.name}].name: {longest!r} would have {len(longest)} characters and a hostname has at "
            f"most {LONGEST_NAME}; shorten the role, shorten the deployment, or declare fewer replicas"
        )
        raise RenderRefusal(RefusalReason.NAME_TOO_LONG, role.name, message)


def _role(context: Context) -> RoleRendering:
    role = context.role
    placed = compose.place(context.engine.parts if role.managed else TAKE_OVER, context)
    occupants = Occupants(
        context.namespace, context.name, role.name, role.size, answers=role.kind is not RoleKind.ENCODE
    )
    return RoleRendering(
        name=role.name,
        kind=role.kind,
        replicas=role.replicas,
        size=role.size,
        queue=context.queue,
        unmanaged=not role.managed,
        publishes=context.joins.events,
        template=Template.of(compose.assemble(placed), occupants),
        placed=placed,
        _listener=context.listener,
        _deployment=context.deployment,
    )
