"""What a scaler writes to its target: its binding, and counts with the decision behind them, each in one request.

Every write names the very version it was ruled or planned on. One that meets another version is looked at again: where
only status or something else moved that no plan reads, the same counts are written over the new version; where the
binding, the term, the generation or a retirement moved, it is abandoned. An answer that got lost is settled by reading
the decision back, before anything else is planned.

Source: spec 3 §Binding fence, facts scaler §9.
"""

from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from modeldeployment.api import keys
from modeldeployment.api.binding import Binding, Decision
from modeldeployment.kube import (
    Client,
    Conflict,
    Grant,
    KubeError,
    NotFound,
    PatchType,
    Uncertain,
)
from modeldeployment.scaler import observing
from modeldeployment.scaler.observing import Declared
from modeldeployment.scaler.watching import DEPLOYMENTS

GRANTS: Final = (Grant(DEPLOYMENTS, ("get", "patch"), "bind a deployment, commit counts, and read a lost commit back"),)

TRIES: Final = 3
"""Writes of one plan: the first, and what follows while nothing moves that it was planned on."""


@dataclass(frozen=True, slots=True)
class Written:
    """It stands."""

    version: str
    generation: int


@dataclass(frozen=True, slots=True)
class Abandoned:
    """It does not stand and never will: somebody else was faster."""

    why: str


@dataclass(frozen=True, slots=True)
class Refused:
    """The API server or a webhook does not let it be written, or does not answer; nothing was written."""

    why: str


@dataclass(frozen=True, slots=True)
class Lost:
    """Nobody knows; it is to be read back before anything else is planned."""

    why: str
    sent: Declared
    """The version that it was written over."""


Outcome: TypeAlias = Written | Abandoned | Refused | Lost


async def commit(client: Client, namespace: str, planned: Declared, decision: Decision) -> Outcome:
    """Write counts and their decision as one, planned on what was declared; whatever goes wrong is an outcome."""
    seen = planned
    for _ in range(TRIES):
        try:
            written = await client.patch(
                DEPLOYMENTS, planned.name, counts(seen, decision), namespace, how=PatchType.JSON
            )
        except Conflict:
            found = await _again(client, namespace, planned)
            if isinstance(found, Abandoned):
                return found
            seen = found
        except NotFound:
            return Abandoned("the deployment is gone")
        except Uncertain as lost:
            return await settle(client, namespace, seen, decision.decision_id, at_once=True, why=str(lost))
        except KubeError as refusal:
            return Refused(str(refusal))  # also where a webhook is away, or nobody answers: nothing was written
        else:
            return Written(written.metadata.resource_version, written.metadata.generation)
    return Abandoned(f"the deployment changed {TRIES} times meanwhile")


async def settle(
    client: Client, namespace: str, sent: Declared, decision_id: str, *, at_once: bool, why: str = ""
) -> Outcome:
    """Find out whether a lost commit stands; `at_once` after it was sent it may still be on its way."""
    try:
        found = await client.get(DEPLOYMENTS, sent.name, namespace)
    except NotFound:
        return Abandoned("the deployment is gone")
    except KubeError as error:
        return Lost(str(error), sent)
    meta = found.metadata
    text = meta.annotations.get(keys.SCALER_DECISION)
    stored = Decision.parse(text) if text is not None else None
    if meta.uid == sent.uid and stored is not None and stored.decision_id == decision_id:
        return Written(meta.resource_version, meta.generation)
    if at_once and meta.resource_version == sent.version:
        return Lost(why, sent)
    return Abandoned("its answer was lost, and it does not stand")


async def bind(client: Client, namespace: str, seen: Declared, binding: Binding) -> str:
    """Write a binding over the very version that was ruled on; the version after it.

    Raises KubeError; a Conflict says that another version stands there.
    """
    return await _claim(client, namespace, seen, binding.text())


async def release(client: Client, namespace: str, seen: Declared) -> str:
    """Take the binding away and leave the decision, which tells the last term; raises as `bind` does."""
    return await _claim(client, namespace, seen, None)


async def _claim(client: Client, namespace: str, seen: Declared, text: str | None) -> str:
    metadata = {"uid": seen.uid, "resourceVersion": seen.version, "annotations": {keys.SCALER_BINDING: text}}
    written = await client.patch(DEPLOYMENTS, seen.name, {"metadata": metadata}, namespace, how=PatchType.MERGE)
    return written.metadata.resource_version


async def _again(client: Client, namespace: str, planned: Declared) -> Declared | Abandoned:
    """Read a target that changed; Abandoned where what it was planned on has moved."""
    try:
        found = observing.declared(await client.get(DEPLOYMENTS, planned.name, namespace))
    except NotFound:
        return Abandoned("the deployment is gone")
    except KubeError as error:
        return Abandoned(f"the deployment changed, and cannot be read: {error}")
    if found.uid != planned.uid:
        return Abandoned("the deployment was created anew")
    if found.claimed.binding != planned.claimed.binding:
        return Abandoned("the binding moved")
    if found.claimed.decision != planned.claimed.decision:
        return Abandoned("another decision was committed")
    if found.generation != planned.generation or found.claimed.leaving:
        return Abandoned("the deployment was edited")
    if found.retirement != planned.retirement:
        return Abandoned("a retirement moved")
    return found


def counts(seen: Declared, decision: Decision) -> list[dict[str, Any]]:
    """The one patch that writes counts and their decision over a version."""
    moved = [
        {"op": "add", "path": f"/spec/roles/{place}/replicas", "value": decision.vector[role.name]}
        for place, role in enumerate(seen.roles)
        if decision.vector[role.name] != role.replicas
    ]
    return [
        {"op": "replace", "path": "/metadata/uid", "value": seen.uid},
        {"op": "replace", "path": "/metadata/resourceVersion", "value": seen.version},
        *moved,
        {"op": "add", "path": f"/metadata/annotations/{_escaped(keys.SCALER_DECISION)}", "value": decision.text()},
    ]


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
