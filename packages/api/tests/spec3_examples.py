"""The objects and fragments of document 3, as written there."""

from typing import Any

import yaml

RESOURCE = """\
apiVersion: worker.gpustack.ai/v1
kind: ModelDeploymentScaler  # namespaced, short name mds
metadata:
  name: llm-serving
spec:
  targetRef:
    name: llm-serving  # required, immutable; ModelDeployment in this namespace
  mode: Shadow        # default; Active commits the recommendation
  suspend: false      # default; true stops planning and releases the binding
  sampling:
    intervalSeconds: 15        # default; 5 to 300 seconds
    pendingTimeoutSeconds: 300  # default; 60 to 1200 seconds
  roles:  # at least one entry; provide bounds for every target role
    - name: server  # unique role name on the target
      minReplicas: 2  # 1 to 1024; defaults to 1
      maxReplicas: 16  # required; 1 to 1024, at least minReplicas
  algorithm:  # one algorithm and only its matching parameter block
    type: Proportional
    proportional:
      metric: QueueDepth  # required; running requests plus waiting requests
      tolerance: "0.1"   # default when omitted; positive and at most 1
      roleTargets:
        - name: server  # unique scaled role name
          target: "8"   # required positive quantity; requests per ready replica
  behavior:
    scaleUp:
      stabilizationWindowSeconds: 0  # default; 0 to 600, zero disables the wait
      maxStepReplicas: 4   # default; zero or omission stores 4
      maxStepPercent: 100  # default; zero or omission stores 100
    scaleDown:
      stabilizationWindowSeconds: 300  # default; 0 to 1800
      cooldownAfterAbortSeconds: 300   # default; 0 to 3600
      decodePostScaleUpGraceSeconds: 120  # default; 0 to 3600, Decode roles only
  rebalance:
    policy: Opposing  # default; Opposing, Priority or Disabled
"""

TOKEN_THROUGHPUT = """\
apiVersion: worker.gpustack.ai/v1
kind: ModelDeploymentScaler
metadata:
  name: llm-serving
spec:
  targetRef:
    name: llm-serving
  mode: Active
  roles:
    - name: encode
      minReplicas: 1
      maxReplicas: 4
    - name: prefill
      minReplicas: 2
      maxReplicas: 16
    - name: decode
      minReplicas: 2
      maxReplicas: 16
  ratios:
    - numeratorRole: prefill
      denominatorRole: decode
      target: "1"
      min: "0.5"
      max: "2"
    - numeratorRole: encode
      denominatorRole: prefill
      target: "0.5"
  algorithm:
    type: TokenThroughput
    tokenThroughput:
      prefillTargetTokensPerSecond: "2000"  # prompt capacity per Prefill replica
      decodeTargetTokensPerSecond: "800"   # generation capacity per Decode replica
      stableWindowSeconds: 180  # default; 30 to 600 seconds
      panicWindowSeconds: 60    # default; 10 to 300 seconds
      panicThreshold: "2"       # default; positive quantity
      ttftTargetMilliseconds: "500"  # default; positive quantity
      itlTargetMilliseconds: "50"    # default; positive quantity
"""

PREDICTIVE = """\
apiVersion: worker.gpustack.ai/v1
kind: ModelDeploymentScaler
metadata:
  name: llm-serving
spec:
  targetRef:
    name: llm-serving
  mode: Active
  roles:
    - name: prefill
      minReplicas: 2
      maxReplicas: 16
    - name: decode
      minReplicas: 2
      maxReplicas: 16
  algorithm:
    type: Predictive
    predictive:
      tokenThroughput:
        prefillTargetTokensPerSecond: "2000"
        decodeTargetTokensPerSecond: "800"
      horizonSeconds: 300  # default; 30 to 600 seconds
      prefillTokenCapacityPerReplica: "2000"  # prompt capacity per Prefill replica
      decodeTokenCapacityPerReplica: "800"   # generation capacity per Decode replica
      qLevel: "1"             # default process noise for demand level
      qTrend: "0.1"           # default process noise for demand trend
      measurementNoise: "10"  # default observation noise
      minPoints: 6  # default; 1 to 64 observations
"""

OBJECTS = {"resource": RESOURCE, "token-throughput": TOKEN_THROUGHPUT, "predictive": PREDICTIVE}
"""Whole objects; the first is the table of defaults, so it stores what it leaves out."""

FRAGMENTS = {
    "alternative-token-throughput": """\
spec:
  algorithm:
    type: TokenThroughput
    tokenThroughput:
      serverTargetTokensPerSecond: "2000"  # required for a Server role
""",
    "alternative-predictive": """\
spec:
  algorithm:
    type: Predictive
    predictive:
      tokenThroughput:
        serverTargetTokensPerSecond: "2000"  # fallback capacity
      serverTokenCapacityPerReplica: "2000"  # forecast capacity
""",
    "step-policy-up": """\
spec:
  behavior:
    scaleUp:
      stepPolicy:
        type: Pods  # Pods or Percent
        value: 2    # required, nonnegative
""",
    "step-policy-down": """\
spec:
  behavior:
    scaleDown:
      stepPolicy:
        type: Percent  # Pods or Percent
        value: 10      # required, nonnegative; zero prevents scale-down
""",
    "rebalance": """\
spec:
  rebalance:
    policy: Priority
    priority:  # unique scaled role names, highest priority first
      - decode
      - prefill
      - encode
""",
}
"""Parts of a spec, meant to stand in place of the same part of an object."""

BASES = {"rebalance": TOKEN_THROUGHPUT}


def whole(name: str) -> dict[str, Any]:
    """The object of that name, or the object its fragment stands in."""
    if name in OBJECTS:
        document: dict[str, Any] = yaml.safe_load(OBJECTS[name])
        return document
    document = yaml.safe_load(BASES.get(name, RESOURCE))
    spec = yaml.safe_load(FRAGMENTS[name])["spec"]
    return {**document, "spec": {**document["spec"], **spec}}
