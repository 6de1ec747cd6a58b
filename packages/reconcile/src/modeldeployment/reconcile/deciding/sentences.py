"""The one sentence of each finding and of each announcement: status, events and logs all read it from here.

Messages name roles and figures, why, and where there is one the way out. Figures count replicas, never Pods.
"""

from collections.abc import Sequence
from typing import assert_never

from modeldeployment.api import kueue
from modeldeployment.reconcile.deciding import findings as found
from modeldeployment.reconcile.deciding.pacing import LONGEST_YIELD, MINUTE, PAUSES
from modeldeployment.reconcile.deciding.seen import Insisted, Member

BLOCK_LEASE_SECONDS = 30
"""How long the shared cache keeps the blocks of a replica that stopped renewing its lease (facts reconcile §10)."""


def of(finding: found.Finding | found.Remarked) -> str:
    """The sentence of a finding, and of what is remarked beside it."""
    if isinstance(finding, found.Remarked):
        return "; ".join((of(finding.finding), *map(_remark, finding.remarks)))
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
        ) as quota:
            return _quota(quota)
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
                f"{differing} of {_replicas(total)} {differ} from the spec, and no connection to the shared cache can "
                "be rendered now, so none is replaced; it goes on once the binding and its pool are ready again"
            )
        case found.RolloutHeldByWeights(differing=differing, total=total):
            differ = "differs" if differing == 1 else "differ"
            return (
                f"{differing} of {_replicas(total)} {differ} from the spec, and a replacement could not load the "
                "weights now, so none is replaced; it goes on once condition WeightsReady names nothing in the way"
            )
        case found.EligibilityObserved():
            return "of every role it is known which replicas may be sent requests"
        case found.EligibilityNotObserved(roles=roles):
            return (
                f"which replicas may be sent requests is not known of {_roles(roles)}: members are ready whose "
                "Workload has not been seen yet"
            )
        case found.RouterRefused(message=message):
            return message
        case (
            found.NoRouterDeclared() | found.RouterNotDeployed() | found.RouterNotServing() | found.RouterServes()
        ) as router:
            return _router(router)
        case (
            found.NoCache()
            | found.Registered()
            | found.BindingNotFound()
            | found.BindingNotReady()
            | found.BindingDeleting()
        ) as domain:
            return _domain(domain)
        case (
            found.NothingToAttach()
            | found.AttachmentUnmanaged()
            | found.NobodyToAttach()
            | found.CacheActive()
            | found.CacheOperationsFailing()
            | found.AttachmentNotObserved()
        ) as attachment:
            return _attachment(attachment)
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
        ) as weights:
            return _weights(weights)
        case (
            found.NoEvents()
            | found.NoRouterForEvents()
            | found.PublisherDisabled()
            | found.ProducerUnmanaged()
            | found.Publishing()
        ) as events:
            return _events(events)
        case other:
            assert_never(other)


def evicted(member: Member) -> str:
    """The note of `ReplicaEvicted`."""
    return f"replica Pod {member.name} was evicted by its node; {_lease()}"


def leaving(member: Member) -> str:
    """The note of `ReplicaLeaving`."""
    return f"replica Pod {member.name} is leaving; {_lease()}"


def restarted(member: Member) -> str:
    """The note of `ReplicaRestarted`."""
    times = "once" if member.restarts == 1 else f"{member.restarts} times"
    return f"containers of replica Pod {member.name} restarted {times}; {_lease()}"


def skew(role: str, taken: str, skipped: tuple[str, ...]) -> str:
    """The note of `RuntimeVersionSkew`."""
    return (
        f'role "{role}": the pool reports several runtime versions; the image takes the lowest, {taken}, '
        f"and skips {', '.join(skipped)}; upgrade the nodes that hold the pool back, or name an image on the role"
    )


def given_up(replica: str, reason: str) -> str:
    """The note of `RetirementAborted`."""
    return f"retirement of replica {replica} was aborted: {reason}"


def name_taken(service: str) -> str:
    """The note on a Service name that somebody else holds."""
    return (
        f"Service {service} exists and belongs to something else, so it is left alone and this deployment has no "
        "address there; delete or rename that Service, or create the deployment under another name"
    )


def group_taken(replica: str, pod: str, deployment: str, uid: str) -> str:
    """The note on a group of ours that somebody else's Pod is in."""
    return (
        f"replica {replica} is not created: Pod {pod}, which this deployment does not own, is in its pod group, and "
        "Kueue would delete the newcomer as one too many; delete that Pod and its Workload, or, if it is a replica "
        f"that lost its owner, give it back the owner reference to ModelDeployment {deployment} with uid {uid} and "
        "controller: true: it then gets its labels back by itself and serves on"
    )


def undone(pod: str, labels: Sequence[str], insisted: Insisted) -> str:
    """The note on a Pod whose labels do not stay."""
    said = (
        f"cannot be put back: {insisted.refused}"
        if insisted.refused
        else f"were put back {insisted.times} times and do not stay: something in the cluster changes them, such as a "
        "mutating webhook or policy"
    )
    return (
        f"labels {', '.join(labels)} of Pod {pod} {said}; the Pod stays in its seat, and may get no requests; exempt "
        f"Pods that ModelDeployments own from it; it is tried again every {PAUSES[-1] // MINUTE} minutes"
    )


def not_owned(kind: str, namespace: str, name: str) -> str:
    """Which of a router's objects somebody else holds (facts router-rendering R18)."""
    return f"{kind.lower()} {namespace}/{name} is not owned by this deployment"


def router_name_taken(what: str) -> str:
    """The note on a name of a router's object that somebody else holds."""
    return f"{what}; delete or rename it, and the router is brought up"


def _router(
    finding: found.NoRouterDeclared | found.RouterNotDeployed | found.RouterNotServing | found.RouterServes,
) -> str:
    match finding:
        case found.NoRouterDeclared():
            return "spec.router is not declared"
        case found.RouterNotDeployed(taken=()):
            return "the router has not been created yet"
        case found.RouterNotDeployed(taken=taken):
            return router_name_taken(", ".join(taken))
        case found.RouterNotServing(wanted=wanted, taken=taken):
            said = f"none of {_routers(wanted)} is ready"
        case found.RouterServes(ready=ready, wanted=wanted, taken=taken):
            said = f"{ready} of {_routers(wanted)} {'is' if ready == 1 else 'are'} ready"
        case other:
            assert_never(other)
    return "; ".join((said, *taken))


def _domain(
    finding: found.NoCache | found.Registered | found.BindingNotFound | found.BindingNotReady | found.BindingDeleting,
) -> str:
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


def _attachment(
    finding: found.NothingToAttach
    | found.AttachmentUnmanaged
    | found.NobodyToAttach
    | found.CacheActive
    | found.CacheOperationsFailing
    | found.AttachmentNotObserved,
) -> str:
    match finding:
        case found.NothingToAttach():
            return "spec.kvCache is not declared"
        case found.AttachmentUnmanaged(roles=roles):
            return f"whether the cache is used is not known of {_roles(roles)}, which brings its own command"
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


def _weights(
    finding: found.NoArtifact
    | found.WeightsRefused
    | found.WeightsBlocked
    | found.WeightsMaterializing
    | found.MaterializationFailed
    | found.WeightsMounted
    | found.WeightsNotMounted
    | found.WeightsDownloaded
    | found.WeightsDownloading,
) -> str:
    match finding:
        case found.NoArtifact():
            return "spec.model.artifactRef is not declared"
        case found.WeightsRefused(message=message):
            return message
        case found.WeightsBlocked(block=block):
            return f"{_block(block)}; no Pod is created meanwhile, and what runs stays"
        case found.WeightsMaterializing(artifact=artifact):
            return f"nodes are fetching ModelArtifact {artifact}, as it says itself"
        case found.MaterializationFailed(artifact=artifact):
            return f"a node could not fetch ModelArtifact {artifact}, see its own status; Pods wait for their volume"
        case found.WeightsMounted():
            return "a ready replica has loaded the mounted weights"
        case found.WeightsNotMounted():
            return "no replica has loaded the mounted weights yet"
        case found.WeightsDownloaded():
            return "a ready replica has downloaded and loaded the weights"
        case found.WeightsDownloading():
            return "no replica has downloaded and loaded the weights yet"
        case other:
            assert_never(other)


def _block(block: found.Block) -> str:
    match block:
        case found.Unbound(claim=claim, phase=""):
            return f"PersistentVolumeClaim {claim} holds the weights, and there is none of that name; create it"
        case found.Unbound(claim=claim, phase=phase):
            return (
                f"PersistentVolumeClaim {claim} holds the weights and is {phase}; bind it, for example by running the "
                "Pod that writes the weights into it"
            )
        case found.SharedByPods(claim=claim, pods=pods):
            return (
                f"PersistentVolumeClaim {claim} is ReadWriteOncePod, which one Pod at a time can mount, and {pods} are "
                "declared; use a claim that is ReadOnlyMany or ReadWriteMany, or declare one Pod"
            )
        case found.SharedByNodes(claim=claim, platforms=platforms):
            return (
                f"PersistentVolumeClaim {claim} is ReadWriteOnce, which one node at a time can mount, and Pods are "
                f"declared for nodes of {' and '.join(platforms)}; use a claim that is ReadOnlyMany or ReadWriteMany"
            )
        case found.Undelivered(artifact=artifact):
            return f"no node can deliver ModelArtifact {artifact}, as it says itself; see its own status"
        case other:
            assert_never(other)


def _events(
    finding: found.NoEvents
    | found.NoRouterForEvents
    | found.PublisherDisabled
    | found.ProducerUnmanaged
    | found.Publishing,
) -> str:
    match finding:
        case found.NoEvents():
            return "no role publishes KV events, and nothing would follow them"
        case found.NoRouterForEvents():
            return "the roles of a pair publish KV events to a router only; declare spec.router"
        case found.PublisherDisabled(roles=roles):
            return f"no KV events are published by {_roles(roles)} under this router and engine"
        case found.ProducerUnmanaged(roles=roles):
            return f"whether KV events are published is not known of {_roles(roles)}, which brings its own command"
        case found.Publishing():
            return "every producing role is configured to publish KV events"
        case other:
            assert_never(other)


def _routers(count: int) -> str:
    return "1 router replica" if count == 1 else f"{count} router replicas"


def _roles(names: tuple[str, ...]) -> str:
    return ", ".join(f'role "{name}"' for name in names)


def _quota(
    finding: found.Parked
    | found.Yielding
    | found.PreemptedInPart
    | found.PodGroupIncomplete
    | found.NoQueueInReservedNamespace
    | found.AdmissionInFlight
    | found.Reserved
    | found.Pending,
) -> str:
    match finding:
        case found.Parked(parked=parked, total=total, roles=roles):
            return (
                f"{parked} of {_replicas(total)} {_are(parked)} parked, of {_roles(roles)}: the set did not get quota "
                "for all of its replicas in time, so it holds none any more; make room and set spec.active of its "
                "Workloads to true, or delete the deployment and create it again (applying it again changes nothing)"
            )
        case found.Yielding(yielding=yielding, total=total, older=older):
            return (
                f"{yielding} of {_replicas(total)} gave way to {', '.join(older)}, an older set that waits for quota "
                "which this one held, as this one waits for its; they come back by themselves once it is admitted, "
                f"gone or changed, after {LONGEST_YIELD // MINUTE} minutes at the latest"
            )
        case found.PreemptedInPart() as part:
            return _preempted(part)
        case found.PodGroupIncomplete(role=role, have=have, want=want, queue=queue):
            return f'role "{role}" has {have}/{want} replicas; no Workload enters queue {queue} before its Pods exist'
        case found.NoQueueInReservedNamespace(namespace=namespace, role=role):
            return (
                f'no replica of role "{role}" can be admitted: namespace {namespace} is reserved for the cluster and '
                "has no LocalQueue; create the deployment in another namespace"
            )
        case found.AdmissionInFlight(replicas=replicas):
            theirs = "its Workload" if replicas == 1 else "their Workloads"
            return f"{_replicas(replicas)} complete, waiting for Kueue to compose {theirs}"
        case found.Reserved(cluster_queue=queue, checks=checks):
            where = f" in ClusterQueue {queue}" if queue else ""
            waits = "; some are not admitted yet, since a check of their queue has not answered" if checks else ""
            return f"every replica holds quota{where}{waits}"
        case found.Pending() as pending:
            return _pending(pending)
        case other:
            assert_never(other)


def _preempted(part: found.PreemptedInPart) -> str:
    bare = f"; no admitted replica is left of kind {', '.join(part.bare_kinds)}" if part.bare_kinds else ""
    return (
        f"quota of {_replicas(part.preempted)} was reclaimed by a workload of higher priority while {part.admitted} "
        f"{'stays' if part.admitted == 1 else 'stay'} admitted{bare}; it comes back by itself when capacity does"
    )


def _pending(pending: found.Pending) -> str:
    because = f": {pending.because}" if pending.because else ""
    wait = "waits" if pending.total == 1 else "wait"
    said = (
        f'{pending.waiting} of {_replicas(pending.total)} {wait} for quota, role "{pending.role}" first, '
        f"in queue {pending.queue}{because}"
    )
    if pending.holding:
        hold = "holds quota and opens" if pending.holding == 1 else "hold quota and open"
        said += f"; {pending.holding} of {pending.total} {hold} together with them once all of the set have it"
    if pending.stopped:
        said += (
            f"; {pending.stopped_count} of {pending.total} {_are(pending.stopped_count)} not in the queue at all, "
            f"since somebody set spec.active of a Workload to false (first {pending.stopped}); set it to true, or "
            "delete the Workload and Kueue makes it anew"
        )
    return said


def _remark(remark: found.Remark) -> str:
    match remark:
        case found.NoLocalQueue(role=role, local_queue=name):
            return (
                f'role "{role}" enters LocalQueue {name}, and the namespace has none of that name; create it, leading '
                "to the ClusterQueue that it is to draw from"
            )
        case found.NoClusterQueue(cluster_queues=queues):
            return (
                f"ClusterQueue {', '.join(queues)} does not exist, and a LocalQueue that a role enters leads there; "
                "create it, or have the LocalQueue made anew to lead to one that exists"
            )
        case found.QueueUnchecked(cluster_queues=queues):
            return (
                f"ClusterQueue {', '.join(queues)} does not ask for AdmissionCheck {kueue.JOINT_CHECK}, so replicas "
                f"admitted there start without waiting for the other roles; add {kueue.JOINT_CHECK} to its "
                "spec.admissionChecksStrategy.admissionChecks"
            )
        case other:
            assert_never(other)


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _rollout(rollout: found.RolloutInProgress) -> str:
    cadence = {
        found.Held.NOT: "one replica a role turns over at a time",
        found.Held.FOR_ADMISSION: "the next leaves once every declared replica of its role is admitted",
        found.Held.FOR_READINESS: "the next leaves once the replicas that match are ready",
    }
    differ = "differs" if rollout.differing == 1 else "differ"
    return f"{rollout.differing} of {_replicas(rollout.total)} {differ} from the spec; {cadence[rollout.held]}"


def _replicas(count: int) -> str:
    return "1 replica" if count == 1 else f"{count} replicas"


def _lease() -> str:
    return f"its siblings lose the cached blocks it held after {BLOCK_LEASE_SECONDS} s"
