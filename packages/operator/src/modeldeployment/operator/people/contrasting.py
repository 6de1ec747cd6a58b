"""What an edit does, for people and for programs."""

import json
from collections.abc import Iterator
from typing import Any

from modeldeployment.admission import telling
from modeldeployment.operator.people import printing
from modeldeployment.operator.people.foretelling import Foretold
from modeldeployment.render import Placed, RenderRefusal, explaining
from modeldeployment.render.differing import Difference, Objects, Outcome, RoleForeseen, RouterForeseen

_LONGEST = 80


def for_programs(told: Foretold) -> str:
    """One JSON document: roles, router (null where there never was one), services, totals and refusals."""
    foreseen = told.foreseen
    roles = foreseen.roles if foreseen else ()
    return json.dumps(
        {
            "roles": [_role(told, role) for role in roles] if foreseen else _refused_roles(told),
            "router": _router(told, foreseen.router) if foreseen and foreseen.router else None,
            "services": _objects(foreseen.services if foreseen else Objects()),
            "podsTurnedOver": told.turned_over,
            "podsCreated": sum(len(role.created) for role in roles),
            "podsDeleted": sum(len(role.deleted) for role in roles),
            "refusals": list(_refusals(told)),
        },
        indent=2,
        ensure_ascii=False,
    )


def for_people(told: Foretold, *, colours: bool) -> Iterator[str]:
    """A paragraph for each role, the router and the Services, then the sum; refusals as `validate` prints them."""
    if not told.judged.verdict.allowed:
        yield from printing.for_people([told.judged], colours=colours)
        yield "refused: the edit is not let in, so no Pod is touched"
        return
    if told.refusal is not None:
        yield refusal(told.refusal)
        yield "refused: the edit is let in and cannot be rendered, so no Pod is touched until it can"
        return
    assert told.foreseen is not None
    for role in told.foreseen.roles:
        yield f"role {role.name}: {_sentence(told, role)}"
        for each in role.values:
            yield f"  {explaining.spelled(each.path)}: {_shown(each.old)} → {_shown(each.new)}"
    if told.foreseen.router is not None:
        yield f"router: {_router_sentence(told, told.foreseen.router)}"
    if told.foreseen.services:
        yield f"Services: {_changes(told.foreseen.services)}"
    created, deleted = (
        sum(len(seats) for seats in each)
        for each in (
            [role.created for role in told.foreseen.roles],
            [role.deleted for role in told.foreseen.roles],
        )
    )
    yield f"Pods: {told.turned_over} replaced, {created} created, {deleted} deleted"


def refusal(refused: RenderRefusal) -> str:
    """Why something is not rendered, as the condition says it, and whether waiting may help."""
    waiting = (
        "this may resolve by itself, once the cluster says otherwise"
        if refused.retryable
        else "this does not resolve by itself"
    )
    return f"not rendered: {refused.reason.value}: {refused.message} ({waiting})"


def _sentence(told: Foretold, role: RoleForeseen) -> str:
    before, after = role.replicas
    scaled = f"{before} → {after}"
    match role.outcome:
        case Outcome.NOTHING:
            return "nothing"
        case Outcome.SCALE:
            return f"scale only ({scaled}): {_pods(role)}"
        case Outcome.ROLLS:
            because = ", ".join(told.behind.roles.get(role.name, ()))
            also = f", and scales {scaled}" if before != after else ""
            return f"rolls one by one{also} (changed: {because}): {_pods(role)}"


def _pods(role: RoleForeseen) -> str:
    counts = {"replaced": role.replaced, "created": role.created, "deleted": role.deleted}
    return ", ".join(f"{printing.count(len(seats), 'Pod')} {verb}" for verb, seats in counts.items() if seats)


def _router_sentence(told: Foretold, router: RouterForeseen) -> str:
    if router.refused is not None:
        return f"refused: {refusal(router.refused)}; replicas are served, and a router that runs is left as it is"
    before, after = router.replicas
    because = f" (changed: {', '.join(told.behind.router)})" if told.behind.router else ""
    match _router_outcome(router):
        case "nothing":
            return "nothing"
        case "created":
            return f"created with {printing.count(after, 'Pod')}: {_changes(router.objects)}"
        case "deleted":
            return f"deleted with {printing.count(before, 'Pod')}: {_changes(router.objects)}"
        case "restarts":
            return f"restarts {printing.count(after, 'Pod')}{because}: {_changes(router.objects)}"
        case "scale":
            return f"scale only ({before} → {after})"
        case _:
            return f"changed in place{because}: {_changes(router.objects)}"


def _router_outcome(router: RouterForeseen) -> str:
    before, after = router.replicas
    if router.refused is not None:
        return "refused"
    if not router.objects:
        return "nothing"
    if not before or not after:
        return "created" if after else "deleted"
    if router.restarts:
        return "restarts"
    return "scale" if before != after else "changes"


def _changes(objects: Objects) -> str:
    kinds = {"created": objects.created, "deleted": objects.deleted, "changed": objects.changed}
    return "; ".join(f"{verb} {', '.join(names)}" for verb, names in kinds.items() if names)


def _shown(placed: Placed | None) -> str:
    if placed is None:
        return "nothing"
    text = json.dumps(placed.value, default=str, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _role(told: Foretold, role: RoleForeseen) -> dict[str, Any]:
    return {
        "name": role.name,
        "outcome": role.outcome.value,
        "changed": list(told.behind.roles.get(role.name, ())),
        "replicas": list(role.replicas),
        "podsReplaced": len(role.replaced),
        "podsCreated": len(role.created),
        "podsDeleted": len(role.deleted),
        "values": [_value(each) for each in role.values],
    }


def _refused_roles(told: Foretold) -> list[dict[str, Any]]:
    """Every role as it stays: nothing of a refused edit reaches a Pod."""
    old, _ = told.deployments
    return [
        {
            "name": role.name,
            "outcome": "refused",
            "changed": [],
            "replicas": [role.replicas, role.replicas],
            "podsReplaced": 0,
            "podsCreated": 0,
            "podsDeleted": 0,
            "values": [],
        }
        for role in old.spec.roles
    ]


def _value(difference: Difference) -> dict[str, Any]:
    sides = {"old": difference.old, "new": difference.new}
    placed = difference.new or difference.old
    return {
        "path": explaining.spelled(difference.path),
        **{name: json.loads(json.dumps(side.value, default=str)) if side else None for name, side in sides.items()},
        "part": placed.part if placed else "",
    }


def _router(told: Foretold, router: RouterForeseen) -> dict[str, Any]:
    outcome = _router_outcome(router)
    return {
        "outcome": outcome,
        "changed": list(told.behind.router),
        "replicas": list(router.replicas),
        "podsRestarted": router.replicas[1] if outcome == "restarts" else 0,
        "objects": _objects(router.objects),
    }


def _objects(objects: Objects) -> dict[str, list[str]]:
    return {"created": list(objects.created), "deleted": list(objects.deleted), "changed": list(objects.changed)}


def _refusals(told: Foretold) -> Iterator[dict[str, Any]]:
    """Admission's as `validate` prints them, then that of the renderer, with its reason for a code."""
    verdict = told.judged.verdict
    yield from (telling.as_json(each) for each in verdict.refusals)
    for unready in verdict.unready:
        yield {"code": "NotReady", "field": unready.field, "message": unready.why, "mayResolve": True}
    router = told.foreseen.router if told.foreseen else None
    for each in (told.refusal, router.refused if router else None):
        if each is not None:
            field = "spec.router" if each is not told.refusal else f"spec.roles[{each.role}]" if each.role else "spec"
            yield {"code": each.reason.value, "field": field, "message": each.message, "mayResolve": each.retryable}
