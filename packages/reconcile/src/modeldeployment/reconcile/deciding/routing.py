"""The router in front of a deployment: its objects kept, and what status says of it.

Nothing about a router keeps replicas from anything. A router that cannot be rendered any more runs on as it is.
Source: facts router-rendering §1 and §7, facts reconcile §3.13 and §8, facts status §1, §4, §8 and §10.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

from modeldeployment.api import RoleKind, names
from modeldeployment.reconcile.deciding import findings as found
from modeldeployment.reconcile.deciding import keeping, sentences
from modeldeployment.reconcile.deciding.seen import OwnedKind, SeenObject, Snapshot
from modeldeployment.render import NO_EVENTS, Rendering, RenderRefusal, RouterRendering, router_endpoint

JSON = dict[str, object]

LETTER: Final = "R"
"""What ready router Pods are counted under in `roleSummary`, before every kind (facts status §3)."""


@dataclass(frozen=True, slots=True)
class Routed:
    """The router as a pass finds it; `declared` says whether there is to be one.

    `kept` are the steps about its objects, `contract` and `endpoint` what status publishes, `finding` is `RouterReady`.
    """

    declared: bool
    kept: keeping.Keeping
    ready: int
    contract: JSON | None
    endpoint: str
    finding: found.Finding


def split(
    objects: Iterable[SeenObject], fronts: keeping.Bodies, deployment: str
) -> tuple[list[SeenObject], list[SeenObject]]:
    """Owned objects, parted into those in front of the replicas and those of the router.

    A Service of the router's name that the replicas want is theirs.
    """
    fronting: list[SeenObject] = []
    routing: list[SeenObject] = []
    for each in objects:
        own = each.name == names.router(deployment) and keeping.Ref(each.kind, each.name) not in fronts
        (routing if own or each.kind is not OwnedKind.SERVICE else fronting).append(each)
    return fronting, routing


def of(snapshot: Snapshot, rendering: Rendering, seen: Sequence[SeenObject]) -> Routed:
    """Judge the router from its rendering and from those owned objects that are its own."""
    router, meta = rendering.router, snapshot.deployment.metadata
    running = next(
        (each for each in seen if each.kind is OwnedKind.DEPLOYMENT and each.name == names.router(meta.name)), None
    )
    ready = running.ready if running is not None else 0
    match router:
        case None:
            kept = keeping.of({}, seen, snapshot.answers.names)
            return Routed(False, kept, 0, None, rendering.endpoint, found.NoRouterDeclared())
        case RenderRefusal(message=message):
            endpoint = router_endpoint(str(meta.namespace), meta.name or "") if ready else ""
            contract = _of_old(snapshot.status, endpoint)
            return Routed(True, keeping.Keeping(), ready, contract, endpoint, found.RouterRefused(message))
        case RouterRendering():
            bodies = {keeping.ref(body): body for body in router.objects}
            kept = keeping.of(bodies, seen, snapshot.answers.names, together=True)
            taken = tuple(sentences.not_owned(each.kind, str(meta.namespace), each.name) for each in kept.taken)
            endpoint = router.endpoint if ready else ""
            contract = {**router.contract.body(), "endpoint": endpoint or None}
            return Routed(True, kept, ready, _said(contract), endpoint, _finding(running, taken))


def _finding(running: SeenObject | None, taken: tuple[str, ...]) -> found.Finding:
    if running is None:
        return found.RouterNotDeployed(taken)
    wanted = cast("int", cast("Mapping[str, object]", running.body.get("spec") or {}).get("replicas", 1))
    if not running.ready:
        return found.RouterNotServing(wanted, taken)
    # While a router rolls, its Deployment counts old and new Pods together.
    return found.RouterServes(min(running.ready, wanted), wanted, taken)


def _of_old(status: Mapping[str, object], endpoint: str) -> JSON | None:
    """The contract as it was last published: the router that runs was told it."""
    stored = cast("Mapping[str, object] | None", status.get("router"))
    return None if stored is None else _said({**stored, "endpoint": endpoint or None})


def _said(contract: JSON) -> JSON:
    return {key: value for key, value in contract.items() if value is not None}


def publishing(rendering: Rendering) -> found.Finding:
    """The `KVEventsPublishing` finding: what is rendered, not what is sent."""
    producers = [role for role in rendering.roles if role.kind not in NO_EVENTS]
    if rendering.router is None:
        paired = any(role.kind is not RoleKind.SERVER for role in rendering.roles)
        return found.NoRouterForEvents() if paired else found.NoEvents()
    if not producers:
        return found.NoEvents()
    quiet = tuple(role.name for role in producers if not role.publishes and not role.unmanaged)
    if quiet:
        return found.PublisherDisabled(quiet)
    unmanaged = tuple(role.name for role in producers if role.unmanaged)
    return found.ProducerUnmanaged(unmanaged) if unmanaged else found.Publishing()
