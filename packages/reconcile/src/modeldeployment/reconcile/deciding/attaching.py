"""The shared cache of a deployment: the claim on its binding, what status says of it, when outdated replicas stay.

Source: facts kv-cache §3, facts status §10, facts reconcile §3.4 and §4.4, decisions D30.
"""

from collections.abc import Collection, Sequence
from typing import assert_never

from modeldeployment.reconcile.deciding import findings as found
from modeldeployment.reconcile.deciding.seen import Account, Attachment, Snapshot, User
from modeldeployment.reconcile.deciding.slots import RoleSlots, serving
from modeldeployment.reconcile.deciding.steps import SetUsers, Step
from modeldeployment.render import Domain


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


def claim(snapshot: Snapshot) -> list[Step]:
    """Claim the binding on every pass that can read it, usable or not: who claims it holds its deletion."""
    cache = snapshot.cache
    if cache is None or cache.used_by is None or _user(snapshot) in cache.used_by:
        return []
    return [_users(snapshot, cache, {*cache.used_by, _user(snapshot)})]


def release(snapshot: Snapshot) -> list[Step]:
    """Give the claim back, after the last Pod has left; where the binding is gone there is nothing to give back."""
    cache = snapshot.cache
    if cache is None or cache.used_by is None or _user(snapshot) not in cache.used_by:
        return []
    return [_users(snapshot, cache, {*cache.used_by} - {_user(snapshot)})]


def _users(snapshot: Snapshot, cache: Attachment, users: Collection[User]) -> Step:
    named = snapshot.deployment.spec.kv_cache
    binding = named.pool_ref.name if named is not None else ""
    return SetUsers(binding, cache.version, tuple(sorted(users)))


def _user(snapshot: Snapshot) -> User:
    return User(snapshot.deployment.kind, "", str(snapshot.deployment.metadata.name))


def attached(snapshot: Snapshot, declared: Sequence[RoleSlots]) -> found.Finding:
    """The `CacheAttached` finding, from what replicas say of the store and never from a flag.

    A replica says nothing where its engine publishes no such figures; only where none says anything is the domain
    itself asked.
    """
    if snapshot.deployment.spec.kv_cache is None:
        return found.NothingToAttach()
    unmanaged = tuple(role.name for role in declared if role.role is not None and role.role.unmanaged)
    if unmanaged:
        return found.AttachmentUnmanaged(unmanaged)
    ready = [slot for role in declared for slot in role.slots.values() if serving(role, slot.ordinal)]
    if not ready:
        return found.NobodyToAttach()
    said = [[snapshot.accounts[each.uid] for each in slot.live if each.uid in snapshot.accounts] for slot in ready]
    active = sum(Account.SUCCEEDING in each for each in said)
    failing = sum(Account.FAILING in each for each in said)
    if active:
        return found.CacheActive(active, len(ready))
    if failing:
        return found.CacheOperationsFailing(failing, len(ready))
    filled = snapshot.cache is not None and snapshot.cache.filled
    return found.CacheActive(0, len(ready)) if filled else found.AttachmentNotObserved(len(ready))
