"""What an edit does to running Pods, foreseen by comparing two renderings.

A replica is kept as it is while the fingerprints of all its seats stay, and is otherwise replaced whole, as the
controller does it. Source: spec 1 §Rollout behavior, facts reconcile §4.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeAlias

from modeldeployment.render.compose import Path, Placed
from modeldeployment.render.errors import RenderRefusal
from modeldeployment.render.rendering import Rendering, RoleRendering
from modeldeployment.render.template import Seat
from modeldeployment.router import RouterRendering

Body: TypeAlias = Mapping[str, Any]


class Outcome(StrEnum):
    """What happens to a role."""

    NOTHING = "nothing"
    SCALE = "scale"
    """Replicas come or go; those that stay are left alone."""
    ROLLS = "rolls"
    """Replicas that stay are replaced, one after the other."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One placed value that differs; the side that has none is None."""

    path: Path
    old: Placed | None
    new: Placed | None


@dataclass(frozen=True, slots=True)
class RoleForeseen:
    """One role: its declared replicas before and after, and every seat of either side in exactly one list.

    A Pod is `replaced` where its seat stays and its replica does not, `created` or `deleted` where only one side has
    the seat. `values` are the placed values that differ, by path.
    """

    name: str
    replicas: tuple[int, int]
    kept: tuple[Seat, ...] = field(repr=False)
    created: tuple[Seat, ...]
    deleted: tuple[Seat, ...]
    replaced: tuple[Seat, ...]
    values: tuple[Difference, ...]

    @property
    def outcome(self) -> Outcome:
        """What happens to the role, the gravest first."""
        if self.replaced:
            return Outcome.ROLLS
        return Outcome.SCALE if self.created or self.deleted else Outcome.NOTHING


@dataclass(frozen=True, slots=True)
class Objects:
    """Objects by `Kind/name` that come, go, or change in place."""

    created: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Whether there is any."""
        return bool(self.created or self.deleted or self.changed)


@dataclass(frozen=True, slots=True)
class RouterForeseen:
    """The router: its objects, its declared replicas before and after, and whether its own Pods are replaced.

    They are when the template of its Deployment changes, which carries the hash of its configuration. `refused`
    says why the edited deployment's router cannot be rendered; what there is of a router then stays as it is.
    """

    objects: Objects
    replicas: tuple[int, int]
    restarts: bool
    refused: RenderRefusal | None = None


@dataclass(frozen=True, slots=True)
class Foreseen:
    """Everything an edit does: roles in the new order, then roles that go; Services; the router, None without one."""

    roles: tuple[RoleForeseen, ...]
    services: Objects
    router: RouterForeseen | None

    @property
    def nothing(self) -> bool:
        """Whether nothing is written at all."""
        router = self.router is not None and (self.router.objects or self.router.refused)
        return not (router or self.services or any(role.outcome is not Outcome.NOTHING for role in self.roles))


def foresee(old: Rendering, new: Rendering) -> Foreseen:
    """Foresee what the controller does to a settled deployment rendered as `old` when `new` is what it renders.

    Both are renderings of one deployment from the same facts. A replica count that is edited again before all is
    settled, Pods that fail meanwhile and evictions are beyond what two renderings can tell.
    """
    before, after = ({role.name: role for role in side.roles} for side in (old, new))
    names = (*after, *(name for name in before if name not in after))
    return Foreseen(
        tuple(_role(name, before.get(name), after.get(name)) for name in names),
        _objects(old.services, new.services),
        _router(old.router, new.router),
    )


def _role(name: str, old: RoleRendering | None, new: RoleRendering | None) -> RoleForeseen:
    before, after = _replicas(old), _replicas(new)
    kept: list[Seat] = []
    created: list[Seat] = []
    deleted: list[Seat] = []
    replaced: list[Seat] = []
    for ordinal in range(max(len(before), len(after))):
        there = before[ordinal] if ordinal < len(before) else {}
        wanted = after[ordinal] if ordinal < len(after) else {}
        if there == wanted:
            kept += wanted
        else:
            replaced += [seat for seat in wanted if seat in there]
            created += [seat for seat in wanted if seat not in there]
            deleted += [seat for seat in there if seat not in wanted]
    counts = (len(before), len(after))
    values = _values(old.placed if old else {}, new.placed if new else {}) if old and new else ()
    return RoleForeseen(name, counts, tuple(kept), tuple(created), tuple(deleted), tuple(replaced), values)


def _replicas(role: RoleRendering | None) -> list[dict[Seat, str]]:
    """The fingerprints of a role's seats, replica by replica."""
    replicas: list[dict[Seat, str]] = [{} for _ in range(role.replicas if role else 0)]
    for seat in role.seats() if role else ():
        replicas[seat.ordinal][seat] = role.template.fingerprint(seat) if role else ""
    return replicas


def _values(old: Mapping[Path, Placed], new: Mapping[Path, Placed]) -> tuple[Difference, ...]:
    """The values that differ; whose a value is and which Part placed it moves no fingerprint."""
    paths = (*new, *(path for path in old if path not in new))
    differences = (Difference(path, old.get(path), new.get(path)) for path in paths)
    return tuple(
        each for each in differences if each.old is None or each.new is None or each.old.value != each.new.value
    )


def _objects(old: Iterable[Body], new: Iterable[Body]) -> Objects:
    before, after = ({_named(body): body for body in side} for side in (old, new))
    return Objects(
        tuple(name for name in after if name not in before),
        tuple(name for name in before if name not in after),
        tuple(name for name, body in after.items() if name in before and before[name] != body),
    )


def _router(
    old: RouterRendering | RenderRefusal | None, new: RouterRendering | RenderRefusal | None
) -> RouterForeseen | None:
    if old is None and new is None:
        return None
    before, after = _workload(old), _workload(new)
    counts = (_count(before), _count(after))
    if isinstance(new, RenderRefusal):
        return RouterForeseen(Objects(), (counts[0], counts[0]), restarts=False, refused=new)
    there = old.objects if isinstance(old, RouterRendering) else ()
    restarts = bool(before and after) and before["spec"]["template"] != after["spec"]["template"]
    return RouterForeseen(_objects(there, new.objects if new else ()), counts, restarts=restarts)


def _workload(router: RouterRendering | RenderRefusal | None) -> Body:
    """The Deployment that runs a router; empty where there is none."""
    objects = router.objects if isinstance(router, RouterRendering) else ()
    return next((body for body in objects if body["kind"] == "Deployment"), {})


def _count(workload: Body) -> int:
    return int(workload["spec"].get("replicas", 1)) if workload else 0


def _named(body: Body) -> str:
    return f"{body['kind']}/{body['metadata']['name']}"
