"""What the API server holds of a target, reduced to what a ruling and a plan read. Pure.

A replica's seat is told by its Pods' labels, whose owner is confirmed by UID; its Workload is found by the Pods in its
owner references. Of a replica on its way out the status of the deployment names the Pods, so that its Workload is
found when they are gone.

Sources: spec 3 §Role observations and §Pacing and guards, facts scaler §2 and §6 to §8.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from modeldeployment.api import EngineName, RoleKind, keys, kueue
from modeldeployment.api.retirement import RetirementState
from modeldeployment.kube import Store, shapes
from modeldeployment.scaler import sampling
from modeldeployment.scaler.binding import Claimed
from modeldeployment.scaler.planning.observed import RetirementSeen, Seat, Target, TargetRole
from modeldeployment.scaler.sampling import Engine

_OVER: Final = (RetirementState.ABORTED, RetirementState.COMPLETED)
_KINDS: Final = frozenset(RoleKind)
_STATES: Final = frozenset(RetirementState)
_ENGINES: Final = frozenset(EngineName)


class _Engine(msgspec.Struct):
    name: str = ""


class _Role(msgspec.Struct, rename="camel"):
    name: str = ""
    kind: str | None = None
    replicas: int | None = None
    instance_type: str | None = None


class _Spec(msgspec.Struct):
    engine: _Engine | None = None
    roles: list[_Role] = []


class _Retirement(msgspec.Struct, rename="camel"):
    role_name: str = ""
    replica_ordinal: int = 0
    state: str = ""
    target_member_uids: list[str] | None = msgspec.field(default=None, name="targetMemberUIDs")


class _Status(msgspec.Struct):
    retirement: _Retirement | None = None


_spec: Final = msgspec.json.Decoder(_Spec)
_status: Final = msgspec.json.Decoder(_Status)


@dataclass(frozen=True, slots=True)
class Role:
    """One role as it is declared; its place is where it stands in the spec."""

    name: str
    kind: RoleKind
    replicas: int
    instance_type: str


@dataclass(frozen=True, slots=True)
class Declared:
    """A deployment as it is declared, and the retirement that its status tells of."""

    name: str
    uid: str
    generation: int
    version: str
    claimed: Claimed
    engine: str
    roles: tuple[Role, ...]
    retirement: RetirementSeen | None = None
    retiring: frozenset[str] = frozenset()
    """UIDs of the Pods that are on their way out; of an aborted retirement none."""
    reserved: frozenset[str] = frozenset()
    """UIDs of the Pods that the retirement is about."""

    @property
    def vector(self) -> dict[str, int]:
        """The declared counts."""
        return {role.name: role.replicas for role in self.roles}


@dataclass(frozen=True, slots=True)
class Leader:
    """The Pod of a replica that answers."""

    role: str
    ordinal: int
    ready: bool
    pod: shapes.Pod


@dataclass(frozen=True, slots=True)
class Seen:
    """A target with all that stands of it."""

    target: Target
    leaders: tuple[Leader, ...]


def claimed(deployment: shapes.Custom) -> Claimed:
    """What a deployment says of who owns its counts."""
    meta = deployment.metadata
    said = meta.annotations
    leaving = meta.deletion_timestamp is not None
    return Claimed(meta.uid, leaving, said.get(keys.SCALER_BINDING), said.get(keys.SCALER_DECISION))


def declared(deployment: shapes.Custom) -> Declared:
    """Read a deployment. Raises msgspec.DecodeError where it is none."""
    spec = _spec.decode(deployment.spec)
    status = _status.decode(deployment.status) if bytes(deployment.status) else _Status()
    held = status.retirement
    known = held is not None and held.state in _STATES
    members = frozenset(held.target_member_uids or ()) if held is not None else frozenset()
    state = RetirementState(held.state) if held is not None and known else None
    return Declared(
        name=deployment.metadata.name,
        uid=deployment.metadata.uid,
        generation=deployment.metadata.generation,
        version=deployment.metadata.resource_version,
        claimed=claimed(deployment),
        engine=spec.engine.name if spec.engine is not None else "",
        roles=tuple(
            Role(
                each.name,
                RoleKind(each.kind) if each.kind in _KINDS else RoleKind.SERVER,
                1 if each.replicas is None else each.replicas,
                each.instance_type or "",
            )
            for each in spec.roles
        ),
        retirement=None
        if held is None or state is None
        else RetirementSeen(role=held.role_name, ordinal=held.replica_ordinal, state=state),
        retiring=members if state is not None and state not in _OVER else frozenset(),
        reserved=members,
    )


def seen(of: Declared, pods: Store[shapes.Pod], workloads: Store[shapes.Workload]) -> Seen:
    """Find the replicas of a deployment, declared ones first; `pods` and `workloads` are indexed as `Shared` says."""
    standing: dict[tuple[str, int], list[shapes.Pod]] = {}
    for pod in pods.by_index("owner", of.uid):
        ordinal = _digits(pod.metadata.labels.get(keys.ORDINAL))
        if ordinal is not None:
            standing.setdefault((pod.metadata.labels.get(keys.COMPONENT, ""), ordinal), []).append(pod)
    uids = {place: [pod.metadata.uid for pod in each] for place, each in standing.items()}
    if of.retirement is not None:
        uids.setdefault((of.retirement.role, of.retirement.ordinal), []).extend(of.reserved)
    groups = {place: _found(each, workloads) for place, each in uids.items()}
    leaders = tuple(
        Leader(*place, ready=_serves(pod, of.retiring), pod=pod)
        for place, each in sorted(standing.items())
        for pod in each
        if not (_digits(pod.metadata.labels.get(keys.MEMBER_INDEX)) or 0)
    )
    ready = {(each.role, each.ordinal) for each in leaders if each.ready}
    roles = tuple(
        TargetRole(
            name=role.name,
            kind=role.kind,
            replicas=role.replicas,
            instance_type=role.instance_type,
            seats=_seats(role, standing, groups, ready),
        )
        for role in of.roles
    )
    return Seen(
        Target(name=of.name, uid=of.uid, generation=of.generation, roles=roles, retirement=of.retirement), leaders
    )


def engines(of: Declared, found: Seen) -> tuple[Engine, ...]:
    """Say whom to ask: the leader of each ready replica; nobody of an engine that this release does not know."""
    if of.engine not in _ENGINES:
        return ()
    kinds = {role.name: role.kind for role in of.roles}
    name = EngineName(of.engine)
    return tuple(
        sampling.engine(each.pod, each.role, kinds[each.role], name)
        for each in found.leaders
        if each.ready and each.role in kinds
    )


def answers_still(engine: Engine, pods: Store[shapes.Pod]) -> bool:
    """Whether an engine that was asked is still there, in the same life and at the same address."""
    return any(
        sampling.engine(pod, engine.role, engine.kind, engine.name) == engine
        for pod in pods.by_index("uid", engine.uid)
    )


def ready(of: Target) -> dict[str, int]:
    """Count the replicas of each role that serve."""
    return {role.name: sum(seat.ready for seat in role.seats) for role in of.roles}


def _seats(
    role: Role,
    standing: Mapping[tuple[str, int], Sequence[shapes.Pod]],
    groups: Mapping[tuple[str, int], Sequence[shapes.Workload]],
    ready_: set[tuple[str, int]],
) -> tuple[Seat, ...]:
    there = {ordinal for name, ordinal in standing if name == role.name}
    held = {ordinal for (name, ordinal), found in groups.items() if name == role.name and found}
    return tuple(
        Seat(
            ordinal=ordinal,
            admitted=bool(found) and all(map(_admitted, found)),
            waiting=not all(map(_admitted, found)),
            ready=(role.name, ordinal) in ready_,
        )
        for ordinal in sorted({*range(role.replicas), *there, *held})
        for found in (groups.get((role.name, ordinal), ()),)
    )


def _found(uids: Iterable[str], workloads: Store[shapes.Workload]) -> tuple[shapes.Workload, ...]:
    return tuple({each.metadata.uid: each for uid in uids for each in workloads.by_index("member", uid)}.values())


def _admitted(workload: shapes.Workload) -> bool:
    return any(
        each.type == kueue.WorkloadCondition.ADMITTED and each.status == "True" for each in workload.status.conditions
    )


def _serves(pod: shapes.Pod, retiring: frozenset[str]) -> bool:
    """Whether a leader is ready, and not on its way out."""
    return (
        pod.metadata.deletion_timestamp is None
        and pod.metadata.uid not in retiring
        and any(each.type == "Ready" and each.status == "True" for each in pod.status.conditions)
    )


def _digits(label: str | None) -> int | None:
    return int(label) if label is not None and label.isascii() and label.isdigit() else None
