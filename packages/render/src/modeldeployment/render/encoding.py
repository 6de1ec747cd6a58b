"""What a deployment with an Encode role must look like, and who of its roles holds encoder output.

Admission asks the same questions before an object is stored; objects older than its rules are refused here.
Sources: facts encode §6, decisions D1 and D46.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from modeldeployment.api.choices import RoleKind
from modeldeployment.api.conditions import RefusalReason
from modeldeployment.render import degrees
from modeldeployment.render.backend import Backend
from modeldeployment.render.engine import Engine
from modeldeployment.render.errors import RenderRefusal
from modeldeployment.render.joins import HALVES
from modeldeployment.router import ROUTERS, RouterRow

if TYPE_CHECKING:
    from modeldeployment.api.modeldeployment import ModelDeployment
    from modeldeployment.api.roles import Role

STAGES = (RoleKind.ENCODE, *HALVES)
"""Kinds that a request with media passes through."""


def missing_halves(kinds: Collection[RoleKind]) -> tuple[RoleKind, ...]:
    """Answer which halves an Encode role lacks beside it: encoders answer nobody."""
    return tuple(half for half in HALVES if half not in kinds)


def consumes(engine: Engine, router: RouterRow | None, kind: RoleKind) -> bool:
    """Whether a role beside an Encode role reads encoder output into a cache of its own.

    Prefill does. Decode does where its proxy may send it an encoded request straight away.
    """
    if not engine.encoder_cache:
        return False
    return kind is RoleKind.PREFILL or (kind is RoleKind.DECODE and router is not None and router.proxies_decode)


def holds(engine: Engine, router: RouterRow | None, kind: RoleKind) -> bool:
    """Whether encoder output lies in memory of a role's Pod, where other Pods of its replica do not see it."""
    return kind is RoleKind.ENCODE or consumes(engine, router, kind)


def one_rank(engine: Engine, kind: RoleKind) -> bool:
    """Whether a role beside an Encode role may have one data-parallel rank: a Pod has one encoder cache."""
    return engine.encoder_cache and kind in STAGES


def refuse(deployment: ModelDeployment, engine: Engine) -> None:
    """Raise RenderRefusal where no request with media could get through the roles of a deployment as declared."""
    spec = deployment.spec
    encode = next((role for role in spec.roles if role.kind is RoleKind.ENCODE), None)
    if encode is None:
        return
    if spec.router is None:
        why = f"role {encode.name} is an Encode role, and without a router nothing drives it"
        raise _refused(encode, f"spec.router is not set: {why}", "name a router in spec.router")
    if missing := " and no ".join(missing_halves([role.kind for role in spec.roles])):
        why = f"it encodes for a Prefill role, which hands over to a Decode role, and there is no {missing}"
        way_out = "create a deployment that declares all three, or one without the Encode role"
        raise _refused(encode, f"spec.roles[{encode.name}].kind is {encode.kind}: {why}", way_out)
    router = ROUTERS[spec.router.name]
    for role in spec.roles:
        where = f"spec.roles[{role.name}]"
        if role.size > 1 and holds(engine, router, role.kind):
            why = f"role {role.name} ({role.kind}) holds encoder output in the memory of one node, and the other Pods "
            why += "of a replica do not see it"
            way_out = "create a deployment that declares size 1 there and more replicas"
            raise _refused(role, f"{where}.size is {role.size}: {why}", way_out)
        if role.managed and one_rank(engine, role.kind):
            _refuse_ranks(role, engine)


def refuse_backend(role: Role, backend: Backend, encode: Role | None) -> None:
    """Raise RenderRefusal where a role beside an Encode role runs on hardware that hands no encoder output over."""
    if encode is None or backend.encodes or role.kind not in STAGES:
        return
    why = f"{backend.title} cannot hand encoder output over, and role {role.name} ({role.kind}) has to"
    way_out = "create a deployment whose roles name types of another maker, one with SGLang, or one without role "
    where = f"spec.roles[{role.name}].instanceType is {role.instance_type!r}"
    raise _refused(role, f"{where}: {why}", f"{way_out}{encode.name} ({encode.kind})")


def _refuse_ranks(role: Role, engine: Engine) -> None:
    """Refuse more than one data-parallel rank; degrees that cannot be read are judged where degrees are needed."""
    declared = degrees.read(engine, role.extra_args, {variable.name: variable.value for variable in role.env})
    if isinstance(declared, degrees.Unreadable) or declared.data_parallel <= 1:
        return
    why = "encoder output is handed to one rank of a Pod"
    way_out = "declare data parallelism 1 and raise replicas instead"
    raise _refused(role, f"spec.roles[{role.name}] declares data parallelism {declared.data_parallel}: {why}", way_out)


def _refused(role: Role, what: str, way_out: str) -> RenderRefusal:
    return RenderRefusal(RefusalReason.ROLE_UNSUPPORTED, role.name, f"{what}; {way_out}")
