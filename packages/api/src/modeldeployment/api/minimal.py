"""The least object of each kind that its schema accepts, as its reference page shows it."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

MINIMAL: Final[Mapping[str, str]] = MappingProxyType(
    {
        "InstanceType": """\
apiVersion: worker.gpustack.ai/v1
kind: InstanceType
metadata:
  name: gpustack-nvidia-a10g-linux-amd64
spec:
  acceleratable: true
  acceleratorGroup: nvidia-a10g
  os: linux
  arch: amd64
""",
        "KVCacheBackend": """\
apiVersion: worker.gpustack.ai/v1
kind: KVCacheBackend
metadata:
  name: mooncake
spec:
  connection:
    managed:
      members:
        - capacityPerMember: 64Gi
""",
        "KVCachePool": """\
apiVersion: worker.gpustack.ai/v1
kind: KVCachePool
metadata:
  name: dram
spec:
  backends:
    - name: mooncake
  quota:
    total: 1Ti
""",
        "KVCachePoolBinding": """\
apiVersion: worker.gpustack.ai/v1
kind: KVCachePoolBinding
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
apiVersion: worker.gpustack.ai/v1
kind: ModelArtifact
metadata:
  name: qwen-72b
  namespace: team-a
spec:
  source:
    huggingFace:
      repository: Qwen/Qwen2.5-72B-Instruct
""",
        "ModelDeployment": """\
apiVersion: worker.gpustack.ai/v1
kind: ModelDeployment
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
apiVersion: worker.gpustack.ai/v1
kind: ModelDeploymentScaler
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
)
