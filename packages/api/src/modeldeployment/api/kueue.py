"""What we read from and write to Kueue's own objects, each word written once (facts kueue §4 to §6).

Labels and annotations on Pods are in `keys`.
"""

from enum import StrEnum
from typing import Final

GROUP: Final = "kueue.x-k8s.io"
VERSION: Final = "v1beta2"
API_VERSION: Final = "kueue.x-k8s.io/v1beta2"

CLUSTER_QUEUE: Final = "ClusterQueue"
COHORT: Final = "Cohort"

MANAGED: Final = "kueue.x-k8s.io/managed"
"""Label, and on Pods also the finalizer, of everything Kueue manages."""

ADMISSION_GATE: Final = "kueue.x-k8s.io/admission"
TOPOLOGY_GATE: Final = "kueue.x-k8s.io/topology"

CREDITS: Final = "credits.gpustack.ai/"
"""Prefix of the resource a maker's accelerators are charged as, whatever key a Pod requests them by (decisions D28)."""

CREDITS_PER_CARD: Final = 1_600_000
"""Credits of one whole accelerator; a ClusterQueue's nominal quota is cards times this."""

JOINT_CHECK: Final = "gpustack-model-deployment-joint"
"""AdmissionCheck that holds the groups of a set until all of them have quota (facts atomic-admission §1)."""
JOINT_CONTROLLER: Final = "worker.gpustack.ai/model-deployment-joint"
"""`spec.controllerName` of that check, and the field manager of its entries."""


class WorkloadCondition(StrEnum):
    """Condition types of a Workload."""

    QUOTA_RESERVED = "QuotaReserved"
    ADMITTED = "Admitted"
    EVICTED = "Evicted"
    PREEMPTED = "Preempted"
    REQUEUED = "Requeued"
    PODS_READY = "PodsReady"
    WAITING_FOR_REPLACEMENT_PODS = "WaitingForReplacementPods"
    DEACTIVATION_TARGET = "DeactivationTarget"
    BLOCKED_ON_PREEMPTION_GATES = "BlockedOnPreemptionGates"
    FINISHED = "Finished"


class EvictionReason(StrEnum):
    """Reasons of a true `Evicted` condition; a deactivation may carry a longer one that starts with its word."""

    PREEMPTED = "Preempted"
    PODS_READY_TIMEOUT = "PodsReadyTimeout"
    ADMISSION_CHECK = "AdmissionCheck"
    CLUSTER_QUEUE_STOPPED = "ClusterQueueStopped"
    LOCAL_QUEUE_STOPPED = "LocalQueueStopped"
    NODE_FAILURES = "NodeFailures"
    DEACTIVATED = "Deactivated"
    FLAVOR_MIGRATION = "FlavorMigration"


class CheckState(StrEnum):
    """States of one entry of `status.admissionChecks`."""

    PENDING = "Pending"
    READY = "Ready"
    RETRY = "Retry"
    REJECTED = "Rejected"


class QueueCondition(StrEnum):
    """Condition types of a ClusterQueue, a LocalQueue and an AdmissionCheck."""

    ACTIVE = "Active"


class StopPolicy(StrEnum):
    """`spec.stopPolicy` of a queue; both kinds of hold cancel mere reservations."""

    NONE = "None"
    HOLD = "Hold"
    HOLD_AND_DRAIN = "HoldAndDrain"
