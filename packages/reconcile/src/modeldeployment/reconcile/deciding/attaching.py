"""The shared cache and the weights of a deployment: what status says of them, and when outdated replicas stay.

Source: facts kv-cache §3, facts api-dependencies §6, facts status §10, facts reconcile §4.4, decisions D30.
"""

from collections.abc import Sequence
from typing import assert_never

from modeldeployment.reconcile.deciding import findings as found
from modeldeployment.reconcile.deciding.seen import Snapshot
from modeldeployment.reconcile.deciding.slots import RoleSlots
from modeldeployment.render import Domain, RenderRefusal, WeightsRefusal


def domain(snapshot: Snapshot) -> found.Finding:
    """The `DomainRegistered` finding."""
    named, cache = snapshot.deployment.spec.kv_cache, snapshot.cache
    if named is None or cache is None:
        return found.NoCache()
    binding = named.pool_ref.name
    if cache.unreadable and cache.domain is not Domain.DELETING:
        return found.BindingNotReady(binding, cache.unreadable)
    match cache.domain:
        case Domain.NOT_FOUND:
            return found.BindingNotFound(binding)
        case Domain.DELETING:
            return found.BindingDeleting(binding)
        case Domain.NOT_READY:
            return found.BindingNotReady(binding)
        case Domain.REGISTERED:
            return found.Registered(binding, cache.connected)
        case other:
            assert_never(other)


def echo(snapshot: Snapshot) -> object:
    """`status.kvCache`: the binding's own words, and the last ones once it has gone."""
    if snapshot.deployment.spec.kv_cache is None:
        return None
    if snapshot.cache is None or snapshot.cache.echo is None:
        return snapshot.status.get("kvCache")
    return snapshot.cache.echo


def held(snapshot: Snapshot) -> bool:
    """Whether outdated replicas stay: they hold a connection that this pass cannot render.

    A deployment that never recorded a domain has nothing to lose, so it rolls.
    """
    cache = snapshot.cache
    return cache is not None and not cache.connected and snapshot.status.get("kvCache") is not None


def weights(snapshot: Snapshot, roles: Sequence[RoleSlots]) -> found.Finding:
    """The `WeightsReady` finding of a pass that could render: a replica that is ready has loaded its weights.

    What a download or a mount is doing before that is not looked at yet.
    """
    if snapshot.weights is None:
        return found.NoArtifact()
    loaded = any(member.ready for role in roles for slot in role.slots.values() for member in slot.live)
    if snapshot.weights.mounted:
        return found.WeightsMounted() if loaded else found.WeightsNotMounted()
    return found.WeightsDownloaded() if loaded else found.WeightsDownloading()


def refused(refusal: RenderRefusal) -> found.Finding | None:
    """What a refusal to render says of the weights; None where it is about something else."""
    return found.WeightsRefused(refusal.why, refusal.message) if isinstance(refusal, WeightsRefusal) else None
