"""The Services in front of the replicas: what is missing, what has drifted, what is no longer wanted.

Ownership is by UID. A Service of the wanted name that somebody else owns is never taken over (facts reconcile §8).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import cast

from modeldeployment.reconcile.deciding.seen import SeenService
from modeldeployment.reconcile.deciding.slots import RoleSlots
from modeldeployment.reconcile.deciding.steps import AlignService, CreateService, DeleteService, Step


@dataclass(frozen=True, slots=True)
class Fronting:
    """The Service steps of a pass. `unknown` are wanted names that no owned Service carries yet."""

    steps: tuple[Step, ...]
    unknown: tuple[str, ...]
    taken: tuple[str, ...]


def wanted(rendered: Iterable[Mapping[str, object]], roles: Iterable[RoleSlots]) -> dict[str, Mapping[str, object]]:
    """Every wanted Service by name: the rendered ones, and the headless ones of ordinals that still hold a Pod."""
    bodies = {_name(body): body for body in rendered}
    for role in roles:
        if role.role is None:
            continue
        for ordinal in (each for each in role.slots if each >= role.declared):
            headless = role.role.headless(ordinal)
            if headless is not None:
                bodies[_name(headless)] = headless
    return bodies


def of(
    bodies: Mapping[str, Mapping[str, object]], seen: Iterable[SeenService], foreign: frozenset[str] | None
) -> Fronting:
    """Compare wanted with owned Services; `foreign` are names known to be somebody else's, None where not asked yet."""
    owned = {service.name: service for service in seen}
    steps: list[Step] = []
    unknown = [name for name in bodies if name not in owned]
    taken = [name for name in unknown if foreign is not None and name in foreign]
    if foreign is not None:
        steps += [CreateService(name, bodies[name]) for name in unknown if name not in foreign]
    for name, body in bodies.items():
        if name in owned and (patch := drift(body, owned[name].body)):
            steps.append(AlignService(name, owned[name].uid, patch))
    steps += [
        DeleteService(service.name, service.uid)
        for name, service in sorted(owned.items())
        if name not in bodies and service.managed
    ]
    return Fronting(tuple(steps), tuple(unknown), tuple(taken))


def drift(want: Mapping[str, object], have: Mapping[str, object]) -> dict[str, object]:
    """The merge patch that brings an owned Service back to its render; empty where nothing has drifted.

    Labels and annotations of others stay. The selector and the ports are ours whole. What the API server allocates
    is not compared.
    """
    patch: dict[str, object] = {}
    metadata = {
        key: missing
        for key in ("labels", "annotations")
        if (missing := _missing(_table(_table(want, "metadata"), key), _table(_table(have, "metadata"), key)))
    }
    if metadata:
        patch["metadata"] = metadata
    spec = _spec_drift(_table(want, "spec"), _table(have, "spec"))
    if spec:
        patch["spec"] = spec
    return patch


def _spec_drift(want: Mapping[str, object], have: Mapping[str, object]) -> dict[str, object]:
    spec: dict[str, object] = {}
    selector, current = _table(want, "selector"), _table(have, "selector")
    if selector != current:
        spec["selector"] = {**dict.fromkeys(current, None), **selector}
    if _ports(want) != _ports(have):
        spec["ports"] = want["ports"]
    for key in ("type", "publishNotReadyAddresses"):
        default = "ClusterIP" if key == "type" else False
        if want.get(key, default) != have.get(key, default):
            spec[key] = want.get(key, default)
    return spec


def _ports(spec: Mapping[str, object]) -> list[tuple[object, ...]]:
    ports = cast("list[Mapping[str, object]]", spec.get("ports") or [])
    return [
        (port.get("name", ""), port["port"], port.get("protocol", "TCP"), port.get("targetPort", port["port"]))
        for port in ports
    ]


def _missing(want: Mapping[str, object], have: Mapping[str, object]) -> dict[str, object]:
    return {key: value for key, value in want.items() if have.get(key) != value}


def _table(of: Mapping[str, object], key: str) -> Mapping[str, object]:
    return cast("Mapping[str, object]", of.get(key) or {})


def _name(body: Mapping[str, object]) -> str:
    return cast("str", _table(body, "metadata")["name"])
