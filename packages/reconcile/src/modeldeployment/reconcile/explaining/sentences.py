"""The one sentence of each link, and the way out where somebody can do something."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from modeldeployment.reconcile.explaining.links import Link, Why

_SENTENCES: Final[Mapping[Why, str]] = MappingProxyType(
    {
        Why.DELETING: "{subject} is being deleted, {have} left{said}",
        Why.RENDER_REFUSED: "{subject} cannot be rendered: {said}",
        Why.NOT_RENDERED_HERE: "what {subject} is rendered to is not known here, so replicas are not explained: {said}",
        Why.STATUS_OLD: (
            "the status of {subject} speaks of generation {have} and the spec is of generation {want}: no operator has "
            "looked at it since"
        ),
        Why.NO_OPERATOR: "no operator reconciles: {source} {said}",
        Why.WEIGHTS_BLOCKED: "{subject} gets no replica: {said}",
        Why.CACHE_LOST: "{subject} differs from the spec and stays: its cache cannot be reached",
        Why.TURN_AWAITS_ADMISSION: (
            "{subject} differs from the spec; the next replica turns over once all {want} are admitted, {have} are"
        ),
        Why.TURN_AWAITS_READINESS: (
            "{subject} differs from the spec; the next replica turns over once those that match are ready"
        ),
        Why.TURN_AWAITS_RETIREMENT: (
            "{subject} neither turns over nor gains replicas until the one of it that leaves is gone"
        ),
        Why.ROUTER_NOT_READY: "the router of {subject} is not ready: {said}",
        Why.QUEUE_UNCHECKED: (
            "{source} does not ask for the check {want}, so replicas of {subject} start one by one and not together"
        ),
        Why.RETIRING: "{subject} is on its way out: {have}{want}; {said}",
        Why.RETIREMENT_ABORTED: "{subject} is not declared any more and stays: {said}",
        Why.RETIREMENT_HELD: "{subject} is not declared any more and {said}",
        Why.LEAVING: "{subject} waits for {source} to go, which is leaving{said}",
        Why.STRANDED: "{subject} waits for {source} to be deleted, which still holds the Pods that left",
        Why.NOT_CREATED: "{subject} has no Pod yet",
        Why.INCOMPLETE: "{subject} has {have} of {want} Pods and is replaced whole",
        Why.ENDED: "{subject} has ended: {source} is {said}; it is replaced",
        Why.NO_WORKLOAD: "{subject} has its Pods, and Kueue has composed no Workload of them yet",
        Why.NO_LOCAL_QUEUE: "{source} does not exist",
        Why.NO_CLUSTER_QUEUE: "{source} does not exist",
        Why.QUEUE_INACTIVE: "{source} admits nothing: {said}",
        Why.UNRESERVED: "{subject} has no quota: {source}{said}",
        Why.PREEMPTED: "{subject} lost its quota: {said}",
        Why.EVICTED: "{subject} was evicted: {said}",
        Why.FREE: "{source}, has {have} free; {subject} asks for {want}",
        Why.NEVER_FITS: "{source} gives {have} in all and borrows from nobody, so {subject} never fits with {want}",
        Why.PARKED: "{subject} is parked: its set did not fit for too long, and {source} was taken out of the queue",
        Why.YIELDING: "{subject} gave way to the older {said}, which waits for the same quota; it comes back by itself",
        Why.STOPPED: "{subject} is stopped: spec.active of {source} is false, and set admission did not do it{said}",
        Why.HELD: "{subject} holds quota and waits for its set: {have} of {want} replicas hold theirs{said}",
        Why.HELD_BY_ANOTHER: "{subject} holds quota and waits for the check {said}",
        Why.ADMITTING: "{subject} holds quota, every check is Ready, and Kueue has not admitted {source} yet",
        Why.GATED: "{source} of {subject} is admitted and still gated by {said}",
        Why.UNSCHEDULED: "{source} of {subject} is not scheduled: {said}",
        Why.NODE_SILENT: "{source} of {subject} runs on node {said}, which is not Ready",
        Why.CONTAINER_WAITS: "{source} of {subject}: container {said}",
        Why.RESTARTING: "{source} of {subject} is not ready and has restarted {have}",
        Why.NOT_READY: "{source} of {subject} is {said} and not ready yet",
    }
)

_WAYS_OUT: Final[Mapping[Why, str]] = MappingProxyType(
    {
        Why.DELETING: "a finalizer holds a Pod until its owner lets go; Kueue does once the Workload is deleted",
        Why.NOT_RENDERED_HERE: "ask for the right to get InstanceTypes, or read kubectl describe md",
        Why.STATUS_OLD: "see that the operator runs: kubectl get lease -A, and its log",
        Why.NO_OPERATOR: "start modeldeployment-operator, or read the log of the one that should hold the Lease",
        Why.RETIREMENT_ABORTED: "retry it with kubectl md retry NAME {subject}, or declare the replica again",
        Why.NOT_CREATED: "if it stays so, kubectl describe md shows why the API server refuses the Pod",
        Why.NO_WORKLOAD: "if it stays so, see that Kueue runs",
        Why.NEVER_FITS: "raise the quota of that queue, or declare smaller replicas",
        Why.WEIGHTS_BLOCKED: "see the claim or the ModelArtifact that spec.model.artifactRef names",
        Why.CACHE_LOST: "make the binding and its pool ready again; replicas then turn over by themselves",
        Why.QUEUE_UNCHECKED: "add the check to spec.admissionChecksStrategy of the ClusterQueue",
        Why.NO_LOCAL_QUEUE: "create the LocalQueue in this namespace, or ask whoever runs the InstanceType for it",
        Why.NO_CLUSTER_QUEUE: "create the ClusterQueue, or let the LocalQueue lead to one that is there",
        Why.QUEUE_INACTIVE: "mend what the ClusterQueue's Active condition says",
        Why.FREE: "free quota in that queue, raise it, or declare fewer or smaller replicas",
        Why.PARKED: (
            "free capacity and set spec.active=true on each of the set's Workloads, or delete the deployment and "
            "create it again"
        ),
        Why.STOPPED: "set spec.active=true on the Workload",
        Why.HELD_BY_ANOTHER: "ask the controller that answers that check",
        Why.UNSCHEDULED: "make room on the nodes of its flavor, or mend what keeps them from taking it",
        Why.NODE_SILENT: "bring the node back, or delete the Node object; until then the replica keeps its place",
        Why.CONTAINER_WAITS: "read the container's log and the image's name",
        Why.RESTARTING: "read the log of the container's last run: kubectl logs --previous",
    }
)

assert set(_SENTENCES) == set(Why)


def of(link: Link) -> str:
    """The sentence of a link."""
    return _SENTENCES[link.why].format(
        subject=link.subject, source=link.source, said=link.said, have=link.have, want=link.want
    )


def way_out(link: Link) -> str:
    """What somebody can do about it; empty where it ends by itself or another link says it."""
    return _WAYS_OUT.get(link.why, "").format(subject=link.subject)
