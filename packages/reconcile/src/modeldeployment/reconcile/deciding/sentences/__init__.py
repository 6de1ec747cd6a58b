"""The one sentence of each finding and of each announcement: status, events and logs all read it from here.

Messages name roles and figures, why, and where there is one the way out. Figures count replicas, never Pods.
"""

from typing import assert_never

from modeldeployment.reconcile.deciding import findings as found
from modeldeployment.reconcile.deciding.sentences import cache, quota, routing, weights, words
from modeldeployment.reconcile.deciding.sentences.notes import (
    BLOCK_LEASE_SECONDS,
    evicted,
    given_up,
    group_taken,
    leaving,
    name_taken,
    restarted,
    skew,
    undone,
)
from modeldeployment.reconcile.deciding.sentences.routing import not_owned, router_name_taken

__all__ = [
    "BLOCK_LEASE_SECONDS",
    "evicted",
    "given_up",
    "group_taken",
    "leaving",
    "name_taken",
    "not_owned",
    "of",
    "restarted",
    "router_name_taken",
    "skew",
    "undone",
]


def of(finding: found.Finding | found.Remarked) -> str:
    """The sentence of a finding, and of what is remarked beside it."""
    if isinstance(finding, found.Remarked):
        return "; ".join((of(finding.finding), *map(quota.remark, finding.remarks)))
    match finding:
        case found.Rendered():
            return "every role is rendered"
        case found.RenderRefused(message=message):
            return message
        case found.NoReplicas():
            return "no replica has been created yet"
        case found.AllReplicasTerminating():
            return "every replica is leaving"
        case (
            found.Parked()
            | found.Yielding()
            | found.PreemptedInPart()
            | found.PodGroupIncomplete()
            | found.NoQueueInReservedNamespace()
            | found.AdmissionInFlight()
            | found.Reserved()
            | found.Pending()
        ) as about_quota:
            return quota.of(about_quota)
        case found.UpToDate():
            return "every replica matches the spec"
        case found.RolloutInProgress() as rollout:
            return _rollout(rollout)
        case found.ReplacementInProgress(have=have, want=want, blocked=True):
            return f"{have} of {want} replicas exist and match the spec; the rest wait for the weights"
        case found.ReplacementInProgress(have=have, want=want):
            return f"{have} of {want} replicas exist and match the spec; the rest are being created"
        case found.RolloutNotObserved():
            return "no replica was observed in this pass"
        case found.AllKindsReady():
            return "every declared kind has a ready replica"
        case found.KindsNotReady(kinds=kinds):
            return f"no ready replica of kind {', '.join(kinds)}"
        case found.RolloutHeldByCache(differing=differing, total=total):
            differ = "differs" if differing == 1 else "differ"
            return (
                f"{differing} of {words.replicas(total)} {differ} from the spec, and no connection to the shared cache "
                "can be rendered now, so none is replaced; it goes on once the binding and its pool are ready again"
            )
        case found.RolloutHeldByWeights(differing=differing, total=total):
            differ = "differs" if differing == 1 else "differ"
            return (
                f"{differing} of {words.replicas(total)} {differ} from the spec, and a replacement could not load the "
                "weights now, so none is replaced; it goes on once condition WeightsReady names nothing in the way"
            )
        case found.EligibilityObserved():
            return "of every role it is known which replicas may be sent requests"
        case found.EligibilityNotObserved(roles=roles):
            return (
                f"which replicas may be sent requests is not known of {words.roles(roles)}: members are ready whose "
                "Workload has not been seen yet"
            )
        case found.RouterRefused(message=message):
            return message
        case (
            found.NoRouterDeclared() | found.RouterNotDeployed() | found.RouterNotServing() | found.RouterServes()
        ) as router:
            return routing.of(router)
        case (
            found.NoCache()
            | found.Registered()
            | found.BindingNotFound()
            | found.BindingNotReady()
            | found.BindingDeleting()
        ) as domain:
            return cache.domain(domain)
        case (
            found.NothingToAttach()
            | found.AttachmentUnmanaged()
            | found.NobodyToAttach()
            | found.CacheActive()
            | found.CacheOperationsFailing()
            | found.AttachmentNotObserved()
        ) as attachment:
            return cache.attachment(attachment)
        case (
            found.NoArtifact()
            | found.WeightsRefused()
            | found.WeightsBlocked()
            | found.WeightsMaterializing()
            | found.MaterializationFailed()
            | found.WeightsMounted()
            | found.WeightsNotMounted()
            | found.WeightsDownloaded()
            | found.WeightsDownloading()
        ) as about_weights:
            return weights.of(about_weights)
        case (
            found.NoEvents()
            | found.NoRouterForEvents()
            | found.PublisherDisabled()
            | found.ProducerUnmanaged()
            | found.Publishing()
        ) as events:
            return routing.events(events)
        case other:
            assert_never(other)


def _rollout(rollout: found.RolloutInProgress) -> str:
    cadence = {
        found.Held.NOT: "one replica a role turns over at a time",
        found.Held.FOR_ADMISSION: "the next leaves once every declared replica of its role is admitted",
        found.Held.FOR_READINESS: "the next leaves once the replicas that match are ready",
    }
    differ = "differs" if rollout.differing == 1 else "differ"
    return f"{rollout.differing} of {words.replicas(rollout.total)} {differ} from the spec; {cadence[rollout.held]}"
