"""How Kueue charges Pods in the lab (facts api-dependencies §2 and §3, decisions D28), and what queues must cover.

The documents' model: an accelerated ClusterQueue covers only `credits.gpustack.ai/<maker>`, a CPU ClusterQueue covers
only `cpu`, and nothing else is charged. Kueue 0.18.4 can do exactly that:

- `resources.transformations` replaces each maker's request keys by credits, one whole card being 1,600,000;
- `resources.quotaCheckStrategy: IgnoreUndeclared` skips every resource the ClusterQueue at hand does not cover. In
  0.18 it sits behind the alpha gate `QuotaCheckStrategy` (off by default), which the lab switches on.

So `cpu` of a Pod in an accelerated queue, `memory`, `ephemeral-storage`, `device.gpustack.ai/…` and
`vpc.amazonaws.com/efa` cost nothing, while the same `cpu` in a CPU queue is charged. `excludeResourcePrefixes` is not
used (Kueue refuses it together with IgnoreUndeclared), and queues need no filler quota for uncovered resources:

    resourceGroups:
    - coveredResources: [credits.gpustack.ai/nvidia]      # or [cpu]
      flavors:
      - name: gpustack--…
        resources: [{name: credits.gpustack.ai/nvidia, nominalQuota: 12800000}]     # 8 cards

Two consequences. A queue without resource groups admits everything, so keep one that has no capacity on Hold. A Pod
that asks for nothing its queue covers is admitted without charge (an accelerated pool with `accelerator: 0`), and its
Workload then names no flavor.
"""

from collections.abc import Mapping
from typing import Any

from modeldeployment.api import kueue
from modeldeployment.render.makers import MAKERS


def credits_resource(maker: str) -> str:
    """Return the resource a maker's accelerated queues cover, e.g. credits.gpustack.ai/nvidia."""
    return f"{kueue.CREDITS}{maker}"


def transformations() -> list[dict[str, Any]]:
    """Return Kueue's resource transformations for every maker.

    A whole card and a partition of one cost a card; a slice costs its memory percentage of a card. The fine
    `.sliced.units` key is derived by an admission webhook the lab does not have, so percentages are charged instead.
    """
    rules: list[dict[str, Any]] = []
    for maker in MAKERS.values():
        key, credit = maker.resource, credits_resource(maker.name)
        rules += [
            _replace(key, {credit: str(kueue.CREDITS_PER_CARD)}),
            _replace(f"{key}.partitioned", {credit: str(kueue.CREDITS_PER_CARD)}),
            _replace(f"{key}.sliced", {credit: str(kueue.CREDITS_PER_CARD // 100)})
            | {"multiplyBy": f"{key}.sliced.memory-percentage"},
        ]
    return rules


def resources() -> dict[str, Any]:
    """Return the `resources` block of Kueue's configuration."""
    return {"quotaCheckStrategy": "IgnoreUndeclared", "transformations": transformations()}


def _replace(key: str, outputs: Mapping[str, str]) -> dict[str, Any]:
    return {"input": key, "strategy": "Replace", "outputs": dict(outputs)}
