"""The sentences of what a pass found out of the shared cache."""

from typing import assert_never

from modeldeployment.reconcile.deciding import findings as found
from modeldeployment.reconcile.deciding.sentences import words


def domain(
    finding: found.NoCache | found.Registered | found.BindingNotFound | found.BindingNotReady | found.BindingDeleting,
) -> str:
    """The sentence of what the binding grants."""
    match finding:
        case found.NoCache():
            return "spec.kvCache is not declared"
        case found.Registered(binding=binding, connected=connected):
            return f"binding {binding} is ready" + (
                "" if connected else "; its pool, or the backend behind it, is missing or publishes no endpoint yet"
            )
        case found.BindingNotFound(binding=binding):
            return (
                f"spec.kvCache names binding {binding}, and the namespace has none of that name; create it, "
                "replicas run without the cache meanwhile"
            )
        case found.BindingNotReady(binding=binding, because=""):
            return f"binding {binding} grants no quota yet, see its own status; replicas run without it meanwhile"
        case found.BindingNotReady(binding=binding, because=because):
            return f"binding {binding} cannot be followed to its store: {because}"
        case found.BindingDeleting(binding=binding):
            return f"binding {binding} is being deleted; running replicas go on writing to its domain"
        case other:
            assert_never(other)


def attachment(
    finding: found.NothingToAttach
    | found.AttachmentUnmanaged
    | found.NobodyToAttach
    | found.CacheActive
    | found.CacheOperationsFailing
    | found.AttachmentNotObserved,
) -> str:
    """The sentence of whether replicas use it."""
    match finding:
        case found.NothingToAttach():
            return "spec.kvCache is not declared"
        case found.AttachmentUnmanaged(roles=roles):
            return f"whether the cache is used is not known of {words.roles(roles)}, which brings its own command"
        case found.NobodyToAttach():
            return "no replica is ready, so none can say whether it uses the cache"
        case found.CacheActive(active=0):
            return "the reuse domain holds blocks; the replicas themselves publish no figures of it"
        case found.CacheActive(active=active, ready=ready):
            return f"{active} of {ready} ready replicas {'uses' if active == 1 else 'use'} the cache"
        case found.CacheOperationsFailing(failing=failing, ready=ready):
            return (
                f"{failing} of {ready} ready replicas {'tries' if failing == 1 else 'try'} to use the cache, and every "
                "operation fails; look at the engine's log for its store client, and at the pool's own status"
            )
        case found.AttachmentNotObserved():
            return "ready replicas publish no figures of the cache, and the reuse domain holds no blocks yet"
        case other:
            assert_never(other)
