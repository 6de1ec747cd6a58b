"""Whether the operator can do its work, in one sentence each time that changes."""

import asyncio
import logging
from collections.abc import Sequence
from typing import Any

from modeldeployment.api import keys, kueue
from modeldeployment.kube import Forbidden, Kind, KubeError, NotFound, Reflector
from modeldeployment.reconcile import Watched

log = logging.getLogger(__name__)

SECONDS = 1.0


async def report(watches: Sequence[Reflector[Any]]) -> None:
    """Log each new trouble once, with the way out, and its end once."""
    told = ""
    while True:
        await asyncio.sleep(SECONDS)
        trouble = troubles([(watch.kind, watch.failing) for watch in watches])
        if trouble != told:
            if trouble:
                log.warning("cannot watch", extra={"reason": trouble})
            else:
                log.info("watching again")
            told = trouble


def troubles(watches: Sequence[tuple[Kind[Any], KubeError | None]]) -> str:
    """One sentence on what keeps the stores from being current; empty while nothing does."""
    failing = [(kind, error) for kind, error in watches if error is not None]
    if not failing:
        return ""
    missing = sorted(str(kind) for kind, error in failing if isinstance(error, NotFound))
    if missing:
        return f"the cluster does not know {', '.join(missing)}; {_install(failing)}"
    refused = sorted(str(kind) for kind, error in failing if isinstance(error, Forbidden))
    if refused:
        return f"not allowed to list and watch {', '.join(refused)}; grant it to the operator's service account"
    return f"{failing[0][1]}; going on by itself when the API server answers again"


def _install(failing: Sequence[tuple[Kind[Any], KubeError]]) -> str:
    groups = {kind.group for kind, error in failing if isinstance(error, NotFound)}
    ways = []
    if keys.GROUP in groups:
        ways.append("install ours with `modeldeployment-operator crds | kubectl apply --server-side -f -`")
    if kueue.GROUP in groups:
        ways.append("install Kueue")
    return " and ".join(ways) or "use a cluster of a supported version"


def unready(watched: Watched) -> tuple[str, ...]:
    """The stores that have not seen a full list yet; empty once the operator is ready."""
    return tuple(name for name, store in watched.stores().items() if not store.synced)
