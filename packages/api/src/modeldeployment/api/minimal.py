"""The least object of each kind that its schema accepts, as its reference page shows it."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from modeldeployment.api.keys import API_VERSION

_BODIES: Final = {
    "InstanceType": """\
metadata:
  name: gpustack-nvidia-a10g-linux-amd64
spec:
  acceleratable: true
  acceleratorGroup: nvidia-a10g
  os: linux
  arch: amd64
""",
    "KVCacheBackend": """\
metadata:
  name: mooncake
spec:
  connection:
    managed:
      members:
        - capacityPerMember: 64Gi
""",
    "KVCachePool": """\
metadata:
  name: dram
spec:
  backends:
    - name: mooncake
  quota:
    total: 1Ti
""",
    "KVCachePoolBinding": """\
metadata:
  name: shared-kv
  namespace: team-a
spec:
  poolRef:
    name: dram
  quota:
    ceiling: 100Gi
  domain:
    blockSize: 128
    dtype: bfloat16
""",
    "ModelArtifact": """\
metadata:
  name: qwen-72b
  namespace: team-a
spec:
  source:
    huggingFace:
      repository: Qwen/Qwen2.5-72B-Instruct
""",
    "ModelDeployment": """\
metadata:
  name: qwen-72b
  namespace: team-a
spec:
  model:
    name: Qwen/Qwen2.5-72B-Instruct
  engine:
    name: vLLM
    version: 0.29.0
  roles:
    - name: server
      instanceType: gpustack-nvidia-a10g-linux-amd64
""",
    "ModelDeploymentScaler": """\
metadata:
  name: qwen-72b
  namespace: team-a
spec:
  targetRef:
    name: qwen-72b
  roles:
    - name: server
      maxReplicas: 16
  algorithm:
    tokenThroughput:
      serverTargetTokensPerSecond: "2000"
""",
}

MINIMAL: Final[Mapping[str, str]] = MappingProxyType(
    {kind: f"apiVersion: {API_VERSION}\nkind: {kind}\n{body}" for kind, body in _BODIES.items()}
)
"""YAML by kind."""
