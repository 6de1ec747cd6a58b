"""The weights of a deployment: what status says of them, and when they keep Pods from being created.

Blocked weights disturb nothing that runs: no replica is created, and none that differs is replaced.
Source: facts api-dependencies §6, facts status §10.
"""

from collections.abc import Sequence
from typing import Final

from modeldeployment.api import Reason
from modeldeployment.reconcile.deciding import findings as found
from modeldeployment.reconcile.deciding.seen import Claim, Snapshot
from modeldeployment.reconcile.deciding.slots import RoleSlots
from modeldeployment.render import RenderRefusal, WeightsRefusal

ONE_POD: Final = "ReadWriteOncePod"
ONE_NODE: Final = "ReadWriteOnce"


def blocked(snapshot: Snapshot) -> found.WeightsBlocked | None:
    """Why no Pod can load the weights as things stand; None where nothing is known to be in the way."""
    weights = snapshot.weights
    if weights is None:
        return None
    if weights.said is Reason.NODE_DELIVERY_UNAVAILABLE:
        return found.WeightsBlocked(weights.said, found.Undelivered(weights.artifact))
    return _conflict(snapshot, weights.claim) if weights.claim is not None else None


def _conflict(snapshot: Snapshot, claim: Claim) -> found.WeightsBlocked | None:
    """Whether a claim keeps Pods from starting: not bound, or of an access mode that certainly does not suffice.

    ReadWriteOncePod serves one Pod in the whole cluster. ReadWriteOnce serves one node, on which any number of Pods may
    run, so it conflicts for certain only where the declared Pods cannot share a node: InstanceTypes of another
    operating system or architecture. Whether Pods of one kind fit on one node is for the scheduler to find out.
    """
    if not claim.bound:
        return found.WeightsBlocked(Reason.CLAIM_NOT_BOUND, found.Unbound(claim.name, claim.phase))
    if not claim.modes or not set(claim.modes) <= {ONE_POD, ONE_NODE}:
        return None
    pods = sum(role.replicas * role.size for role in snapshot.deployment.spec.roles)
    if ONE_NODE not in claim.modes and pods > 1:
        return found.WeightsBlocked(Reason.ACCESS_MODE_CONFLICT, found.SharedByPods(claim.name, pods))
    if ONE_NODE in claim.modes and len(claim.platforms) > 1:
        return found.WeightsBlocked(Reason.ACCESS_MODE_CONFLICT, found.SharedByNodes(claim.name, claim.platforms))
    return None


def finding(snapshot: Snapshot, declared: Sequence[RoleSlots]) -> found.Finding:
    """The `WeightsReady` finding of a pass that could render: a replica that is ready has loaded its weights.

    Before that the artifact's own word is taken, where it says what a node is doing.
    """
    weights, stands = snapshot.weights, blocked(snapshot)
    if weights is None:
        return found.NoArtifact()
    if stands is not None:
        return stands
    loaded = any(member.ready for role in declared for slot in role.slots.values() for member in slot.live)
    if not loaded and weights.said is Reason.MATERIALIZING:
        return found.WeightsMaterializing(weights.artifact)
    if not loaded and weights.said is Reason.MATERIALIZATION_FAILED:
        return found.MaterializationFailed(weights.artifact)
    if weights.mounted:
        return found.WeightsMounted() if loaded else found.WeightsNotMounted()
    return found.WeightsDownloaded() if loaded else found.WeightsDownloading()


def refused(refusal: RenderRefusal) -> found.Finding | None:
    """What a refusal to render says of the weights; None where it is about something else."""
    return found.WeightsRefused(refusal.why, refusal.message) if isinstance(refusal, WeightsRefusal) else None
