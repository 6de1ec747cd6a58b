"""The notes of the events that a pass announces."""

from collections.abc import Sequence

from modeldeployment.reconcile.deciding.pacing import MINUTE, PAUSES
from modeldeployment.reconcile.deciding.seen import Insisted, Member

BLOCK_LEASE_SECONDS = 30
"""How long the shared cache keeps the blocks of a replica that stopped renewing its lease (facts reconcile §10)."""


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


def _lease() -> str:
    return f"its siblings lose the cached blocks it held after {BLOCK_LEASE_SECONDS} s"
