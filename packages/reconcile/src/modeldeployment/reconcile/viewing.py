"""What router processes said that they send requests to, kept in memory for as long as it is fresh.

A view belongs to one life of one process; what another one said, or this one before it was started anew, is none of it.
Source: facts status §6.
"""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Final

from modeldeployment.api import RouterName
from modeldeployment.kube import shapes
from modeldeployment.reconcile import processes
from modeldeployment.reconcile.deciding.seen import Served, Views
from modeldeployment.reconcile.processes import Identity
from modeldeployment.reconcile.sources import Sources
from modeldeployment.reconcile.watching import Key
from modeldeployment.router.withdrawal import Heard, Strange, views
from modeldeployment.router.withdrawal.views import Endpoint

FRESH: Final = timedelta(seconds=15)
"""How long a view is believed."""


class Viewing:
    """Keeps views; `changed` is called with the key of a deployment of which they say something else than before."""

    def __init__(self, sources: Sources, changed: Callable[[Key], None]) -> None:
        self._sources = sources
        self._changed = changed
        self._seen: dict[Identity, tuple[datetime, frozenset[Endpoint]]] = {}
        self._told: dict[Key, Views] | None = None

    def note(self, identity: Identity, router: RouterName, heard: Heard) -> None:
        """Take in an answer; one that cannot be read takes nothing back."""
        try:
            found = views.endpoints(router, heard)
        except Strange:
            return
        self._seen[identity] = self._sources.clock(), found

    def settle(self, routers: Mapping[Key, tuple[RouterName, tuple[shapes.Pod, ...]]]) -> None:
        """See what all views say together, once every process was looked at."""
        before, self._told = self._told or {}, {}
        kept = dict[Identity, tuple[datetime, frozenset[Endpoint]]]()
        for key, (_, pods) in routers.items():
            required = [pod for pod in pods if processes.serves(pod, key.name)]
            kept.update({each: self._seen[each] for each in map(processes.identity, required) if each in self._seen})
            roles = self._sources.roles(key)
            self._told[key] = Views(tuple(self._view(processes.identity(pod), roles) for pod in required))
        self._seen = kept
        for key in {**before, **self._told}:
            if before.get(key) != self._told.get(key):
                self._changed(key)

    def of(self, key: Key) -> Views | None:
        """Answer what is known of a deployment's routers; None before anybody looked."""
        return None if self._told is None else self._told.get(key, Views())

    def _view(self, identity: Identity, roles: Mapping[str, str]) -> frozenset[Served] | None:
        at, found = self._seen.get(identity, (None, frozenset[Endpoint]()))
        if at is None or self._sources.clock() - at > FRESH:
            return None
        named = ((roles.get(each.address or each.pod), each.name) for each in found)
        return frozenset(Served(role, name) for role, name in named if role is not None)
