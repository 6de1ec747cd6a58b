"""The document by which a vLLM engine hands cache blocks over, and the degrees that both halves of a pair state in it.

Source: facts rendering §4, facts encode §6, spec 2 §Pair connections.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from modeldeployment.api.choices import RoleKind
from modeldeployment.api.conditions import RefusalReason
from modeldeployment.render import degrees
from modeldeployment.render.backend import Backend
from modeldeployment.render.degrees import Unreadable
from modeldeployment.render.engine import Engine
from modeldeployment.render.errors import RenderRefusal
from modeldeployment.render.joins import HALVES, Joins
from modeldeployment.render.parallelism import Degree

if TYPE_CHECKING:
    from modeldeployment.api.modeldeployment import ModelDeployment
    from modeldeployment.api.roles import Role

WRAPPER: Final = "MultiConnector"
"""What vLLM calls several connectors in one engine."""
KV_ROLES: Final = MappingProxyType(
    {RoleKind.SERVER: "kv_both", RoleKind.PREFILL: "kv_producer", RoleKind.DECODE: "kv_consumer"}
)
"""What a connector is told of the role's kind."""
BESIDE_LEG: Final = MappingProxyType({RoleKind.PREFILL: "kv_both", RoleKind.DECODE: "kv_consumer"})
"""The same for the store's connector beside a leg: a Prefill half also reads what others stored."""


@dataclass(frozen=True, slots=True)
class Half:
    """One half of a pair: its tensor and its data degree."""

    tensor: int
    data: int


def halves(deployment: ModelDeployment, engine: Engine) -> Mapping[RoleKind, Half]:
    """Read the degrees of both halves from their own command lines; empty where no pair is declared.

    Raises RenderRefusal for a degree that cannot be read, for two roles of one kind with different degrees, since a
    document has one block a kind, and for a tensor degree of Prefill below that of Decode, which the connector cannot
    lay out.
    """
    found: dict[RoleKind, tuple[Role, Half]] = {}
    for role in deployment.spec.roles:
        if role.kind not in HALVES:
            continue
        half = _half(role, engine)
        first, agreed = found.setdefault(role.kind, (role, half))
        if half != agreed:
            raise _disagreeing(role, half, first, agreed)
    if len(found) < len(HALVES):
        return {}
    (prefill, above), (decode, below) = found[RoleKind.PREFILL], found[RoleKind.DECODE]
    if above.tensor < below.tensor:
        message = (
            f"spec.roles[{prefill.name}] has tensor parallel degree {above.tensor}: that is below the {below.tensor} "
            f"of spec.roles[{decode.name}], and no Decode rank can gather its blocks from fewer Prefill ranks; raise "
            "it on the Prefill role, or lower it on the Decode role"
        )
        raise RenderRefusal(RefusalReason.ROLE_UNSUPPORTED, prefill.name, message)
    return {RoleKind.PREFILL: above, RoleKind.DECODE: below}


def document(
    kind: RoleKind, backend: Backend, joins: Joins, halves: Mapping[RoleKind, Half], prefix: str
) -> dict[str, Any]:
    """Answer the transfer document of one role, its keys in the order they are written; empty where none is needed.

    A leg and a store are wrapped, the leg first. `prefix` marks the store's blocks, empty where nothing does. Joined by
    address there is the one connector alone: a cache beside it is refused earlier.
    """
    if joins.by_address:
        return {"kv_connector": backend.address_connector, "kv_role": KV_ROLES[kind]}
    if not joins.leg:
        return _store(backend, KV_ROLES[kind], prefix) if joins.store else {}
    leg = _leg(kind, backend, joins.leg, halves)
    if not joins.store:
        return leg
    connectors = [leg, _store(backend, BESIDE_LEG[kind], prefix)]
    return {
        "kv_connector": WRAPPER,
        "kv_role": KV_ROLES[kind],
        "kv_connector_extra_config": {"connectors": connectors},
    }


def _store(backend: Backend, kv_role: str, prefix: str) -> dict[str, Any]:
    named = {"kv_connector": backend.store_connector, "kv_role": kv_role}
    return {**named, "kv_connector_extra_config": {"cache_prefix": prefix}} if prefix else {**named}


def _leg(kind: RoleKind, backend: Backend, transport: str, halves: Mapping[RoleKind, Half]) -> dict[str, Any]:
    """Name the transport, or on a backend whose leg has one of its own the port and the degrees of both halves."""
    named = {"kv_connector": backend.leg_connector, "kv_role": KV_ROLES[kind]}
    if backend.leg_port is None:
        return {**named, "kv_connector_extra_config": {"mooncake_protocol": transport}}
    blocks = {half.label: {"tp_size": halves[half].tensor, "dp_size": halves[half].data} for half in HALVES}
    return {**named, "kv_port": backend.leg_port, "kv_connector_extra_config": blocks}


def _half(role: Role, engine: Engine) -> Half:
    env = {variable.name: variable.value for variable in role.env}
    read = degrees.read(engine, role.extra_args if role.managed else role.command, env)
    if isinstance(read, Unreadable):
        raise _unreadable(role, read)
    return Half(read.value(Degree.TENSOR), read.data_parallel)


def _unreadable(role: Role, read: Unreadable) -> RenderRefusal:
    where = "extraArgs" if role.managed else "command"
    value = f" {read.value!r}" if read.value else ""
    message = (
        f"spec.roles[{role.name}].{where} or env has {read.flag}{value}: it {read.why}, and both halves of the pair "
        f"are told this degree; write {read.flag} in full, with a whole number such as 2"
    )
    return RenderRefusal(RefusalReason.DEGREE_UNREADABLE, role.name, message)


def _disagreeing(role: Role, half: Half, first: Role, agreed: Half) -> RenderRefusal:
    message = (
        f"spec.roles[{role.name}] has tensor and data parallel degrees {half.tensor} and {half.data}: "
        f"spec.roles[{first.name}], of kind {role.kind} too, has {agreed.tensor} and {agreed.data}, and the other half "
        "of the pair can be told of one shape only; give both roles the same degrees, or keep one of them"
    )
    return RenderRefusal(RefusalReason.ROLE_UNSUPPORTED, role.name, message)
