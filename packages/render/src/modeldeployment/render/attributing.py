"""Which fields of an edit stand behind a changed rendering, found by trying each alone.

A field counts for a role when putting it alone into the old spec moves the role's Pods, or taking it alone back out of
the new spec does. Fields that only act together, and whose halves cannot be rendered alone, are told apart by neither
trial: a changed role for which none counts is told all fields that differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from pydantic import ValidationError

from modeldeployment.api.modeldeployment import ModelDeployment
from modeldeployment.render.errors import RenderRefusal
from modeldeployment.render.facts import Facts
from modeldeployment.render.rendering import Rendering, render
from modeldeployment.router import RouterRendering

Field: TypeAlias = tuple[str, ...]
"""Steps from the spec to a field; a role goes by its name."""

_ROLES: Final = "roles"
_ABSENT: Final = object()


@dataclass(frozen=True, slots=True)
class Behind:
    """The fields behind each role whose Pods change, by name, and behind the router; spelled as a user reads them."""

    roles: Mapping[str, tuple[str, ...]]
    router: tuple[str, ...]


def fields(before: ModelDeployment, after: ModelDeployment) -> tuple[str, ...]:
    """Every field of the spec that differs, in the order of the spec, replica counts included."""
    return tuple(_spelled(field) for field in _differing(_spec(before), _spec(after)))


def behind(before: ModelDeployment, after: ModelDeployment, facts: Facts) -> Behind:
    """Attribute the differences between two renderings to fields of the spec.

    Costs two renderings a field that differs. Raises RenderRefusal where one of the two cannot be rendered.
    """
    old, new = _marks(render(before, facts)), _marks(render(after, facts))
    moved = [subject for subject in {**old, **new} if old.get(subject) != new.get(subject)]
    found: dict[str | None, list[Field]] = {subject: [] for subject in moved}
    differing = list(_differing(_spec(before), _spec(after))) if moved else []
    for field in differing:
        put = _tried(before, field, after, facts)
        taken = _tried(after, field, before, facts)
        for subject in moved:
            if (put and put.get(subject) != old.get(subject)) or (taken and taken.get(subject) != new.get(subject)):
                found[subject].append(field)
    told = {subject: tuple(map(_spelled, counted or differing)) for subject, counted in found.items()}
    return Behind({name: told[name] for name in told if name is not None}, told.get(None, ()))


def _marks(rendered: Rendering) -> dict[str | None, Any]:
    """What each role's Pods are, by its name, and what the router is, under None; counts of roles aside."""
    router = rendered.router
    objects = router.objects if isinstance(router, RouterRendering) else None if router is None else router.message
    return {role.name: (role.template.digest, role.size) for role in rendered.roles} | {None: objects}


def _tried(base: ModelDeployment, field: Field, source: ModelDeployment, facts: Facts) -> dict[str | None, Any] | None:
    """What is rendered when one field of `base` is as it is in `source`; None where that is no deployment."""
    body = base.body()
    spec, value = deepcopy(body["spec"]), _found(_spec(source), field)
    holder: Any = spec
    for above, step in zip(("", *field), field[:-1], strict=False):
        holder = _entry(holder, step) if above == _ROLES else holder.setdefault(step, {})
    if field[-2:-1] == (_ROLES,):
        return None  # a role that only one side declares cannot come alone
    if value is _ABSENT:
        holder.pop(field[-1], None)
    else:
        holder[field[-1]] = value
    try:
        return _marks(render(ModelDeployment.model_validate(body | {"spec": spec}), facts))
    except (ValidationError, RenderRefusal):
        return None


def _spec(deployment: ModelDeployment) -> dict[str, Any]:
    spec: dict[str, Any] = deployment.spec.body()
    return spec | {_ROLES: {role["name"]: role for role in spec[_ROLES]}}


def _differing(old: Any, new: Any, at: Field = ()) -> Iterator[Field]:
    """The smallest fields that differ; a list is one field, but for the roles, and so is a block one side lacks."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name in (*old, *(name for name in new if name not in old)):
            yield from _differing(old.get(name, _ABSENT), new.get(name, _ABSENT), (*at, name))
    elif old != new:
        yield at


def _found(spec: Any, field: Field) -> Any:
    for step in field:
        spec = spec.get(step, _ABSENT) if isinstance(spec, dict) else _ABSENT
    return spec


def _entry(roles: list[dict[str, Any]], name: str) -> dict[str, Any]:
    return next(role for role in roles if role["name"] == name)


def _spelled(field: Field) -> str:
    text = "spec"
    for above, step in zip(("", *field), field, strict=False):
        text += f"[{step}]" if above == _ROLES else f".{step}"
    return text
