"""Words of Kueue that only Kueue writes, or that nobody but the model reads (facts kueue §2 to §5)."""

from typing import Final

from modeldeployment.api import kueue

IN_USE: Final = f"{kueue.GROUP}/resource-in-use"
IS_GROUP: Final = f"{kueue.GROUP}/is-group-workload"
PRIORITY_CLASS: Final = f"{kueue.GROUP}/priority-class"
POD_SET: Final = f"{kueue.GROUP}/podset"
LOCAL_QUEUE: Final = f"{kueue.GROUP}/local-queue-name"
CLUSTER_QUEUE: Final = f"{kueue.GROUP}/cluster-queue-name"
WORKLOAD: Final = f"{kueue.GROUP}/workload"
TERMINATION_TARGET: Final = "TerminationTarget"

KUEUE: Final = "kueue"
"""How Kueue signs its writes here."""
