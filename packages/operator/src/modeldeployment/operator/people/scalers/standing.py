"""What a scaler's status says of its counts, where no pass is at hand."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import msgspec
from pydantic import ValidationError

from modeldeployment import kube
from modeldeployment.api import scalerstatus
from modeldeployment.api.scaler import ModelDeploymentScaler
from modeldeployment.operator.errors import UsageError
from modeldeployment.operator.people.scalers import reasons
from modeldeployment.scaler import SCALERS
from modeldeployment.scaler.errors import Undecodable
from modeldeployment.scaler.planning import RoleReading, coding

NOTE: Final = (
    "this is what status says; the rules between raw and constrained are in the journal: "
    "--operator URL or --journal PATH"
)
_SIGNALS: Final = (
    "promptTokensPerSecond",
    "generationTokensPerSecond",
    "runningRequests",
    "waitingRequests",
    "kvCacheUsage",
    "ttftMilliseconds",
    "itlMilliseconds",
)
_GOOD: Final = {"Bound": "True", "Active": "True", "MetricsReady": "True", "Blocked": "False"}


@dataclass(frozen=True, slots=True)
class Standing:
    """A scaler as status tells of it, of all roles or of one."""

    scaler: ModelDeploymentScaler
    role: str | None

    @property
    def settled(self) -> bool:
        """Whether every condition is good and each role asked about has the count that its algorithm recommends."""
        roles = self._roles()
        conditions = self.scaler.status.conditions
        return (
            bool(roles)
            and all(each.raw_recommended_replicas == each.constrained_replicas for each in roles)
            and all(_GOOD.get(each.type, each.status) == each.status for each in conditions)
        )

    def lines(self) -> Iterator[str]:
        """A block for each role, the conditions, and the last write."""
        meta, status = self.scaler.metadata, self.scaler.status
        looked = (
            "never looked at" if status.observed_generation is None else f"of generation {status.observed_generation}"
        )
        yield f"{meta.namespace}/{meta.name}: status {looked}, spec generation {meta.generation}"
        for role in self._roles():
            yield f"role {role.name}: {role.current_replicas} declared, {role.ready_replicas} ready"
            yield f"  input         {reasons.input_of(_reading(role))}"
            raw, constrained = _known(role.raw_recommended_replicas), _known(role.constrained_replicas)
            yield f"  outcome       raw {raw}, constrained {constrained}: {role.reason or 'no reason yet'}"
        yield from (f"{each.type} {each.reason}: {each.message}" for each in status.conditions)
        last = status.last_commit
        if last is not None:
            vector = ", ".join(
                f"{name} {last.baseline_vector.get(name, 0)} -> {count}" for name, count in last.vector.items()
            )
            yield f"last write: {vector}, decision {last.decision_id} of term {last.term}"

    def table(self) -> dict[str, Any]:
        """The same for programs: the roles and conditions of status as they are."""
        meta, status = self.scaler.metadata, self.scaler.status.body()
        roles = [each for each in status.get("roles", ()) if self.role in (None, each["name"])]
        return {
            "namespace": meta.namespace,
            "name": meta.name,
            "source": "status",
            "settled": self.settled,
            "generation": meta.generation,
            "observedGeneration": status.get("observedGeneration"),
            "roles": roles,
            "conditions": status.get("conditions", []),
            "lastCommit": status.get("lastCommit"),
        }

    def _roles(self) -> tuple[scalerstatus.ScaledRoleStatus, ...]:
        return tuple(each for each in self.scaler.status.roles if self.role in (None, each.name))


async def look(client: kube.Client, namespace: str, name: str, role: str | None) -> Standing:
    """Read a scaler; raises KubeError, and UsageError for one that is not there or has no such role."""
    try:
        data = await client.raw(kube.request_for(kube.Verb.GET, SCALERS, namespace, name))
    except kube.NotFound as error:
        raise UsageError(f"there is no ModelDeploymentScaler {namespace}/{name}") from error
    try:
        scaler = ModelDeploymentScaler.model_validate(msgspec.json.decode(data))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(step) for step in first["loc"])
        raise UsageError(f"ModelDeploymentScaler {namespace}/{name} cannot be read: {where}: {first['msg']}") from error
    known = [each.name for each in scaler.spec.roles]
    if role is not None and role not in known:
        raise UsageError(f"{namespace}/{name} has no role {role!r}; it has {', '.join(known)}")
    return Standing(scaler, role)


def _reading(role: scalerstatus.ScaledRoleStatus) -> RoleReading | None:
    """The signals of status; what status does not tell (when, and whether all were read) stays untold."""
    if role.signal_state is None:
        return None
    body = role.body()
    signals = {name: body[name] for name in _SIGNALS if name in body}
    try:
        return coding.convert(
            {"state": role.signal_state, "ready": role.ready_replicas, "complete": True, **signals}, RoleReading
        )
    except Undecodable:
        return None


def _known(count: int | None) -> str:
    return "unknown" if count is None else str(count)
