"""The sentences of what a pass found out of weights."""

from typing import assert_never

from modeldeployment.reconcile.deciding import findings as found


def of(
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
    """The sentence of a finding."""
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
