"""Whether the operator can do its work, in one sentence each time that changes."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from modeldeployment.api import keys, kueue
from modeldeployment.kube import Forbidden, Kind, KubeError, NotFound, Reflector, Store

log = logging.getLogger(__name__)

SECONDS = 1.0
ENDING = 2
STARTING = 10
"""Looks in a row that must find something else after the server was away: one that starts answers in many ways."""


class Cause(StrEnum):
    """Why stores are not current."""

    MISSING = "Missing"
    REFUSED = "Refused"
    AWAY = "Away"


@dataclass(frozen=True, slots=True)
class Trouble:
    """What keeps the stores from being current. The same trouble in other words is the same trouble."""

    cause: Cause
    kinds: tuple[str, ...]
    sentence: str = field(compare=False)


async def report(watches: Sequence[Reflector[Any]]) -> None:
    """Log each new trouble once, with the way out, and its end once."""
    told: Trouble | None = None
    seen: Trouble | None = None
    looks = 0
    while True:
        await asyncio.sleep(SECONDS)
        now = trouble([(watch.kind, watch.failing) for watch in watches])
        looks = looks + 1 if now == seen else 1
        seen = now
        if now == told or (told is not None and told.cause is Cause.AWAY and looks < (STARTING if now else ENDING)):
            continue
        if now is not None:
            log.warning("cannot watch", extra={"reason": now.sentence})
        else:
            log.info("watching again")
        told = now


def trouble(watches: Sequence[tuple[Kind[Any], KubeError | None]]) -> Trouble | None:
    """What keeps the stores from being current, None while nothing does.

    A server that is away or starting answers in many ways; they are one trouble.
    """
    failing = [(kind, error) for kind, error in watches if error is not None]
    if not failing:
        return None
    missing = tuple(sorted(str(kind) for kind, error in failing if isinstance(error, NotFound)))
    if missing:
        return Trouble(Cause.MISSING, missing, f"the cluster does not know {', '.join(missing)}; {_install(failing)}")
    refused = tuple(sorted(str(kind) for kind, error in failing if isinstance(error, Forbidden)))
    if refused:
        grant = f"not allowed to list and watch {', '.join(refused)}; grant it to the operator's service account"
        return Trouble(Cause.REFUSED, refused, grant)
    why = str(failing[0][1]).splitlines()[0]
    return Trouble(Cause.AWAY, (), f"{why}; going on by itself when the API server answers again")


def _install(failing: Sequence[tuple[Kind[Any], KubeError]]) -> str:
    groups = {kind.group for kind, error in failing if isinstance(error, NotFound)}
    ways = []
    if keys.GROUP in groups:
        ways.append("install ours with `modeldeployment-operator crds | kubectl apply --server-side -f -`")
    if kueue.GROUP in groups:
        ways.append("install Kueue")
    return " and ".join(ways) or "use a cluster of a supported version"


def unready(stores: Mapping[str, Store[Any]]) -> tuple[str, ...]:
    """That stores have not seen a full list yet, and which; empty once they have."""
    lacking = [name for name, store in stores.items() if not store.synced]
    return (f"a full list of {', '.join(lacking)}",) if lacking else ()
