"""Words of Kueue that only Kueue writes, or that nobody but the model reads (facts kueue §2 to §5)."""

from typing import Final

IN_USE: Final = "kueue.x-k8s.io/resource-in-use"
IS_GROUP: Final = "kueue.x-k8s.io/is-group-workload"
PRIORITY_CLASS: Final = "kueue.x-k8s.io/priority-class"
POD_SET: Final = "kueue.x-k8s.io/podset"
LOCAL_QUEUE: Final = "kueue.x-k8s.io/local-queue-name"
CLUSTER_QUEUE: Final = "kueue.x-k8s.io/cluster-queue-name"
WORKLOAD: Final = "kueue.x-k8s.io/workload"
TERMINATION_TARGET: Final = "TerminationTarget"

KUEUE: Final = "kueue"
"""How Kueue signs its writes here."""
