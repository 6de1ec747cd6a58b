"""Every label, annotation and finalizer, and the values that never vary, each written once.

Sources: facts reconcile §2, facts api-modeldeployment §5, facts rendering §8, facts router-rendering §1.
"""

from typing import Final

# Our API group.
GROUP: Final = "worker.gpustack.ai"
VERSION: Final = "v1"
API_VERSION: Final = "worker.gpustack.ai/v1"
CATEGORY: Final = "gpustack"
FIELD_MANAGER: Final = "modeldeployment-operator"
FINALIZER: Final = "gpustack.ai/controlled"
SCALER_FINALIZER: Final = "modeldeployment.gpustack.ai/scaler"
"""Holds a deleted scaler until it has released the binding it owns (spec 3 §Binding fence)."""

# Who an object belongs to. NAME, INSTANCE and COMPONENT are the only labels a selector uses to find replicas.
NAME: Final = "app.kubernetes.io/name"
INSTANCE: Final = "app.kubernetes.io/instance"
COMPONENT: Final = "app.kubernetes.io/component"
PART_OF: Final = "app.kubernetes.io/part-of"
NAME_VALUE: Final = "model-deployment"
PART_OF_VALUE: Final = "gpustack-operator-worker"

# The resource note: what an object was rendered for. Pruning deletes nothing that lacks it.
RESOURCE_TYPE: Final = "resource.gpustack.ai/type"
RESOURCE_TYPE_VALUE: Final = "modeldeployments"
NOTE_ROLE: Final = "note.gpustack.ai/role"
NOTE_ROUTER: Final = "note.gpustack.ai/router"

# Which seat of which role a Pod holds.
ROLE_KIND: Final = "modeldeployment.gpustack.ai/role-kind"
ORDINAL: Final = "modeldeployment.gpustack.ai/pod-ordinal"
MEMBER_INDEX: Final = "modeldeployment.gpustack.ai/member-index"
FINGERPRINT: Final = "modeldeployment.gpustack.ai/pod-spec-hash"

# Runtime state on a Pod, outside its fingerprint (decisions D4, D31).
ELIGIBLE: Final = "modeldeployment.gpustack.ai/endpoint-eligible"
TRUE: Final = "true"
ANNOUNCED: Final = "modeldeployment.gpustack.ai/announced"
"""When a router that had given up on the Pod was last shown it anew."""

# Directives and claims on the ModelDeployment itself.
RETIREMENT_RETRY: Final = "modeldeployment.gpustack.ai/retirement-retry"
SCALER_BINDING: Final = "modeldeployment.gpustack.ai/scaler-binding"
SCALER_DECISION: Final = "modeldeployment.gpustack.ai/scaler-decision"

# Router objects.
ROUTER: Final = "modeldeployment.gpustack.ai/router"
ROUTER_CONFIG_HASH: Final = "modeldeployment.gpustack.ai/router-config-hash"

# What engines, connectors and routers read from a Pod.
CLIENT_CONFIG: Final = "kvcache.gpustack.ai/client-config"
CACHE_INJECTION: Final = "kvcache.gpustack.ai/inject"
SGLANG_BOOTSTRAP_PORT: Final = "sglang.ai/bootstrap-port"
VLLM_BOOTSTRAP_PORT: Final = "vllm.ai/bootstrap-port"

# Resources that a node offers for its fabric: an RDMA endpoint shared with others, or one of a Pod's own.
RDMA_SHARED: Final = "device.gpustack.ai/rdma.shared"
RDMA: Final = "device.gpustack.ai/rdma"

# Kueue reads these from a Pod.
QUEUE_NAME: Final = "kueue.x-k8s.io/queue-name"
GROUP_NAME: Final = "kueue.x-k8s.io/pod-group-name"
GROUP_TOTAL: Final = "kueue.x-k8s.io/pod-group-total-count"
GROUP_SERVING: Final = "kueue.x-k8s.io/pod-group-serving"
GROUP_FAST_ADMISSION: Final = "kueue.x-k8s.io/pod-group-fast-admission"
"""Never set: it would compose a group's Workload from its first Pod alone (spec 1 §Pod group labels)."""
ROLE_HASH: Final = "kueue.x-k8s.io/role-hash"
REQUIRED_TOPOLOGY: Final = "kueue.x-k8s.io/podset-required-topology"

# An entrance LocalQueue carries the full name of its ClusterQueue here (facts api-dependencies §2).
ENTRANCE_QUEUE: Final = "schedule.gpustack.ai/queue"

# Prometheus reads these from a Pod.
SCRAPE: Final = "prometheus.io/scrape"
SCRAPE_PATH: Final = "prometheus.io/path"
SCRAPE_PORT: Final = "prometheus.io/port"
SCRAPE_SCHEME: Final = "prometheus.io/scheme"

# Kubernetes' own.
HOSTNAME: Final = "kubernetes.io/hostname"
SERVICE_NAME: Final = "kubernetes.io/service-name"
"""On an EndpointSlice: the Service whose addresses are in it."""
