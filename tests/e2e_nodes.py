"""What happens to nodes of the end-to-end tests."""

import json

from e2e_worlds import World
from modeldeployment.kube.kinds import NODES


async def silence(world: World, node: str, pod: str) -> None:
    """Let a node stop reporting: node and Pod are marked as the node's controller would after missed leases."""
    await world.client.patch(NODES, node, {"metadata": {"annotations": {"lab/node-down": "true"}}})
    said = await world.kubectl("get", "node", node, "-o", "json")
    conditions = json.loads(said.out)["status"]["conditions"]
    for each in conditions:
        if each["type"] == "Ready":
            each |= {"status": "Unknown", "reason": "NodeStatusUnknown"}
    await world.client.patch(NODES, node, {"status": {"conditions": conditions}}, subresource="status")
    unready = json.dumps({"status": {"conditions": [{"type": "Ready", "status": "False", "reason": "NodeNotReady"}]}})
    said = await world.kubectl("patch", "pod", pod, "--subresource=status", "-p", unready)
    assert said.code == 0, said.err
