"""The one sentence of each finding and of each announcement: status, events and logs all read it from here.

Messages name roles and figures, why, and where there is one the way out. Figures count replicas, never Pods.
"""

from typing import assert_never

from modeldeployment.reconcile.deciding import findings as found
from modeldeployment.reconcile.deciding.seen import Member

BLOCK_LEASE_SECONDS = 30
"""How long the shared cache keeps the blocks of a replica that stopped renewing its lease (facts reconcile §10)."""


def of(finding: found.Finding) -> str:
    """The sentence of a finding."""
    match finding:
        case found.Rendered():
            return "every role is rendered"
        case found.RenderRefused(message=message):
            return message
        case found.NoReplicas():
            return "no replica has been created yet"
        case found.AllReplicasTerminating():
            return "every replica is leaving"
        case found.PreemptedInPart() as part:
            return _preempted(part)
        case found.PodGroupIncomplete(role=role, have=have, want=want, queue=queue):
            return f'role "{role}" has {have}/{want} replicas; no Workload enters queue {queue} before its Pods exist'
        case found.AdmissionInFlight(replicas=replicas):
            theirs = "its Workload" if replicas == 1 else "their Workloads"
            return f"{_replicas(replicas)} complete, waiting for Kueue to compose {theirs}"
        case found.Reserved(cluster_queue=""):
            return "every replica holds quota"
        case found.Reserved(cluster_queue=queue):
            return f"every replica holds quota in ClusterQueue {queue}"
        case found.Pending() as pending:
            return _pending(pending)
        case found.UpToDate():
            return "every replica matches the spec"
        case found.RolloutInProgress() as rollout:
            return _rollout(rollout)
        case found.ReplacementInProgress(have=have, want=want):
            return f"{have} of {want} replicas exist and match the spec; the rest are being created"
        case found.RolloutNotObserved():
            return "no replica was observed in this pass"
        case found.AllKindsReady():
            return "every declared kind has a ready replica"
        case found.KindsNotReady(kinds=kinds):
            return f"no ready replica of kind {', '.join(kinds)}"
        case found.CacheNotAttached(binding=binding):
            return (
                f"spec.kvCache names binding {binding}; this release attaches no shared cache, replicas run without it"
            )
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


def name_taken(service: str) -> str:
    """The note on a Service name that somebody else holds."""
    return (
        f"Service {service} exists and belongs to something else, so it is left alone and this deployment has no "
        "address there; delete or rename that Service, or create the deployment under another name"
    )


def _preempted(part: found.PreemptedInPart) -> str:
    bare = f"; no admitted replica is left of kind {', '.join(part.bare_kinds)}" if part.bare_kinds else ""
    return (
        f"quota of {_replicas(part.preempted)} was reclaimed by a workload of higher priority while {part.admitted} "
        f"{'stays' if part.admitted == 1 else 'stay'} admitted{bare}; it comes back by itself when capacity does"
    )


def _pending(pending: found.Pending) -> str:
    because = f": {pending.because}" if pending.because else ""
    wait = "waits" if pending.total == 1 else "wait"
    return (
        f'{pending.waiting} of {_replicas(pending.total)} {wait} for quota, role "{pending.role}" first, '
        f"in queue {pending.queue}{because}"
    )


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
