"""The deployment as its router sees it, and its router's objects.

Source: facts router-rendering §3 and §7, decisions D4, D31 and D34.
"""

from __future__ import annotations

from collections.abc import Sequence

from modeldeployment.api import keys, names
from modeldeployment.api.choices import RoleKind
from modeldeployment.api.conditions import RefusalReason
from modeldeployment.render.context import Context
from modeldeployment.render.engine import Engine
from modeldeployment.render.errors import RenderRefusal
from modeldeployment.render.image import mirrored
from modeldeployment.render.ownership import owner_references
from modeldeployment.render.services import LONGEST_NAME, role_endpoint
from modeldeployment.router import (
    KV_EVENTS_PORT,
    KV_EVENTS_REPLAY_PORT,
    KV_EVENTS_TOPIC,
    Front,
    FrontedRole,
    Images,
    PortsDiffer,
    RouterRefusal,
    RouterRendering,
    front,
    render,
)


def routed(contexts: Sequence[Context]) -> RouterRendering | RenderRefusal | None:
    """Render the router of a deployment; None where it declares none.

    A refusal is answered and not raised: replicas serve without their router, and status says why there is none.
    """
    first = contexts[0]
    router = first.deployment.spec.router
    if router is None:
        return None
    if refusal := _unnameable(first.name, contexts):
        return refusal
    try:
        return render(_front(contexts))
    except PortsDiffer as refusal:
        return RenderRefusal(RefusalReason.ROUTER_PORTS_DIFFER, None, str(refusal))
    except RouterRefusal as refusal:
        return RenderRefusal(RefusalReason.ROUTER_UNSUPPORTED, None, str(refusal))


def _unnameable(deployment: str, contexts: Sequence[Context]) -> RenderRefusal | None:
    """Answer why the router's Service cannot have its name; only objects older than the rules have such names."""
    service = names.router(deployment)
    if len(service) > LONGEST_NAME:
        message = (
            f"spec.router: its Service would be called {service!r}, which has {len(service)} characters, and a Service "
            f"name has at most {LONGEST_NAME}; remove spec.router, or create a deployment with a shorter name"
        )
        return RenderRefusal(RefusalReason.NAME_TOO_LONG, None, message)
    for context in contexts:
        if names.role_service(deployment, context.role.name) == service:
            message = (
                f"spec.router: its Service is called {service!r}, and so is that of spec.roles[{context.role.name}]; "
                "remove spec.router, or create a deployment with another name for the role"
            )
            return RenderRefusal(RefusalReason.ROUTER_UNSUPPORTED, None, message)
    return None


def _front(contexts: Sequence[Context]) -> Front:
    first = contexts[0]
    deployment, policy = first.deployment, first.facts.policy
    assert deployment.spec.router is not None
    cached = next((context.joins.store.master for context in contexts if context.joins.store), "")
    return Front(
        deployment=first.name,
        namespace=first.namespace,
        owner_references=owner_references(deployment),
        router=deployment.spec.router,
        engine=_engine(first.engine),
        model=deployment.spec.model.name,
        roles=tuple(_fronted(context) for context in contexts),
        selector=_eligible(first.name),
        images=Images(mirrored(policy.router_image, policy), mirrored(policy.router_proxy_image, policy)),
        pool_endpoint=cached,
    )


def _engine(engine: Engine) -> front.Engine:
    return front.Engine(
        name=engine.name,
        tag=engine.tag,
        numbers=engine.metrics,
        block_numbers=engine.block_metrics,
        events=engine.publishes_events,
        # An encoder's output that no cache hands on is asked for by the Prefill replica itself (facts encode §5).
        finds_encoders=not engine.encoder_cache,
    )


def _eligible(deployment: str) -> dict[str, str]:
    """The labels of every answering Pod: equalities only, since two of the routers know nothing else (decisions D4)."""
    return {keys.NAME: keys.NAME_VALUE, keys.INSTANCE: deployment, keys.ELIGIBLE: keys.TRUE}


def _fronted(context: Context) -> FrontedRole:
    from modeldeployment.api.routerstatus import KVEvents  # models are there wherever a deployment is

    role = context.role
    service = names.role_service(context.name, role.name)
    host = f"{service}.{context.namespace}.svc"
    labels = {keys.COMPONENT: role.name, keys.ROLE_KIND: role.kind.label}
    if role.kind is not RoleKind.ENCODE:
        selector = _eligible(context.name) | labels
    else:
        selector = {keys.NAME: keys.NAME_VALUE, keys.INSTANCE: context.name} | labels
    events = KVEvents(
        endpoint=f"tcp://{host}:{KV_EVENTS_PORT}",
        replay_endpoint=f"tcp://{host}:{KV_EVENTS_REPLAY_PORT}",
        topic=KV_EVENTS_TOPIC,
    )
    return FrontedRole(
        name=role.name,
        kind=role.kind,
        selector=selector,
        endpoint=role_endpoint(context.deployment, role, context.listener),
        port=context.listener.serving.number,
        scheme=context.listener.serving_scheme,
        protocol=context.listener.serving.protocol,
        kv_events=events if context.joins.events else None,
    )
