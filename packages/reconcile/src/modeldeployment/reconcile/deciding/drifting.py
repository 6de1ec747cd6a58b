"""How an owned object differs from its render, and the merge patch that brings it back; one function a kind.

What the API server fills in or allocates is no drift: what is rendered must be in what is there. Lists are ours whole,
so that an entry somebody added is drift as much as one that is missing. Source: facts router-rendering §1, facts
reconcile §8.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, cast

from modeldeployment.reconcile.deciding.seen import OwnedKind

JSON = Mapping[str, object]
Drift = Callable[[JSON, JSON], dict[str, object]]


def drift(kind: OwnedKind, want: JSON, have: JSON) -> dict[str, object]:
    """The merge patch that brings an owned object back to its render; empty where nothing has drifted.

    Labels and annotations of others stay.
    """
    return {**marks(want, have), **_BODIES[kind](want, have)}


def replaced(kind: OwnedKind, want: JSON, have: JSON) -> bool:
    """Whether no patch can bring an object back: the selector of a Deployment is fixed when it is created."""
    return kind is OwnedKind.DEPLOYMENT and not covers(
        _table(want, "spec").get("selector"), _table(have, "spec").get("selector")
    )


def covers(want: object, have: object) -> bool:
    """Whether everything in `want` is in `have`; absent and empty are the same."""
    if isinstance(want, Mapping):
        held = have if isinstance(have, Mapping) else {}
        return (isinstance(have, Mapping) or not want) and all(covers(want[key], held.get(key)) for key in want)
    if isinstance(want, list | tuple):
        entries = have if isinstance(have, list | tuple) else ()
        return len(want) == len(entries) and all(map(covers, want, entries))
    return want == have or (not want and have is None)


def marks(want: JSON, have: JSON) -> dict[str, object]:
    """The labels and annotations that are missing or other than rendered, as a merge patch."""
    patch = {}
    for key in ("labels", "annotations"):
        wanted, held = _table(_table(want, "metadata"), key), _table(_table(have, "metadata"), key)
        missing = {name: value for name, value in wanted.items() if held.get(name) != value}
        if missing:
            patch[key] = missing
    return {"metadata": patch} if patch else {}


def _service(want: JSON, have: JSON) -> dict[str, object]:
    wanted, held = _table(want, "spec"), _table(have, "spec")
    spec: dict[str, object] = {}
    selector, current = _table(wanted, "selector"), _table(held, "selector")
    if selector != current:
        spec["selector"] = {**dict.fromkeys(current, None), **selector}
    if _ports(wanted) != _ports(held):
        spec["ports"] = wanted["ports"]
    for key in ("type", "publishNotReadyAddresses"):
        default = "ClusterIP" if key == "type" else False
        if wanted.get(key, default) != held.get(key, default):
            spec[key] = wanted.get(key, default)
    return {"spec": spec} if spec else {}


def _ports(spec: JSON) -> list[tuple[object, ...]]:
    ports = cast("list[JSON]", spec.get("ports") or [])
    return [
        (port.get("name", ""), port["port"], port.get("protocol", "TCP"), port.get("targetPort", port["port"]))
        for port in ports
    ]


_POD_FIELDS: Final = ("serviceAccountName", "imagePullSecrets", "volumes", "containers")
_CONTAINER_FIELDS: Final = ("command", "args", "env", "envFrom", "volumeMounts")
"""Lists of a container that the API server fills in for nobody: where none is rendered, there is to be none."""


def _deployment(want: JSON, have: JSON) -> dict[str, object]:
    wanted, held = _table(want, "spec"), _table(have, "spec")
    template, current = _table(wanted, "template"), _table(held, "template")
    pod, running = _table(template, "spec"), _table(current, "spec")
    fields = {name: pod.get(name) for name in _POD_FIELDS if not covers(_owned(name, pod), running.get(name) or ())}
    spec: dict[str, object] = {}
    if wanted.get("replicas", 1) != held.get("replicas"):
        spec["replicas"] = wanted.get("replicas", 1)
    patch = {**marks(template, current), **({"spec": fields} if fields else {})}
    if patch:
        spec["template"] = patch
    return {"spec": spec} if spec else {}


def _owned(field: str, pod: JSON) -> object:
    """A field of a rendered Pod with what is not to be there said: an absent list is as empty as an empty one."""
    if field == "containers":
        return [{**dict.fromkeys(_CONTAINER_FIELDS, ()), **each} for each in cast("list[JSON]", pod[field])]
    return pod.get(field) or ()


def _config_map(want: JSON, have: JSON) -> dict[str, object]:
    wanted, held = _table(want, "data"), _table(have, "data")
    return {} if wanted == held else {"data": {**dict.fromkeys(set(held) - set(wanted), None), **wanted}}


def _list(field: str) -> Drift:
    def listed(want: JSON, have: JSON) -> dict[str, object]:
        wanted, held = want.get(field) or (), have.get(field) or ()
        return {} if covers(wanted, held) else {field: wanted}

    return listed


def _nothing(_want: JSON, _have: JSON) -> dict[str, object]:
    return {}


_BODIES: Final[Mapping[OwnedKind, Drift]] = MappingProxyType(
    {
        OwnedKind.SERVICE_ACCOUNT: _nothing,
        OwnedKind.ROLE: _list("rules"),
        OwnedKind.ROLE_BINDING: _list("subjects"),
        OwnedKind.CONFIG_MAP: _config_map,
        OwnedKind.SERVICE: _service,
        OwnedKind.DEPLOYMENT: _deployment,
    }
)


def _table(of: JSON, key: str) -> JSON:
    return cast("JSON", of.get(key) or {})
