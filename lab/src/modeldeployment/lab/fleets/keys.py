"""Labels and annotations the lab puts on what it makes, and the topology levels its nodes carry.

The `lab/` prefix is the lab's own: nothing the operator reads depends on it.
"""

from typing import Final

from modeldeployment.api.keys import HOSTNAME

FLEET: Final = "lab/fleet"
"""Label on a Node: the fleet it belongs to."""

TYPE: Final = "lab/instance-type"
"""Label on a Node, ResourceFlavor, ClusterQueue, LocalQueue or InstanceType: the InstanceType it serves."""

SHAPE: Final = "lab/shape"
"""Label on a Node: the part of its flavor's name that tells nodes of one type apart, such as `8d` or `64c`."""

NAMESPACE: Final = "lab/namespace"
"""Label on a Node of a test's fleet: the one namespace whose Pods it is for."""

NODE_SELECTOR: Final = "scheduler.alpha.kubernetes.io/node-selector"
"""Annotation on a Namespace: labels of the nodes its Pods go to, which the API server writes into each of them."""

FLEET_SHAPE: Final = "lab/fleet-shape"
"""Annotation on a Node: the fleet it belongs to as JSON, without the number of nodes."""

FAKE_NODE: Final = "kwok.x-k8s.io/node"
"""Annotation by which kwok recognises the nodes it plays (facts kwok §5)."""
FAKE_NODE_VALUE: Final = "fake"

OS: Final = "kubernetes.io/os"
ARCH: Final = "kubernetes.io/arch"
REGION: Final = "topology.kubernetes.io/region"
ZONE: Final = "topology.kubernetes.io/zone"
RACK: Final = "lab/rack"

LEVELS: Final = (REGION, ZONE, RACK, HOSTNAME)
"""Topology levels of every lab node, widest first; the host name is always the lowest (facts kueue §7)."""

RDMA: Final = "device.gpustack.ai/rdma"
RDMA_SHARED: Final = "device.gpustack.ai/rdma.shared"
RDMA_TOKENS: Final = 64
"""Shared tokens one RDMA endpoint offers (facts api-dependencies §3)."""
EFA: Final = "vpc.amazonaws.com/efa"
