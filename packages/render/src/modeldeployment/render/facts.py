"""What rendering needs to know beyond the deployment: everything looked up, nothing fetched."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from modeldeployment.render.store import Store

if TYPE_CHECKING:
    from modeldeployment.api.artifact import ModelArtifact
    from modeldeployment.api.instancetype import InstanceType


class Delivery(StrEnum):
    """Who brings the weights of a hub to a Pod."""

    ENGINE = "Engine"
    """The engine downloads them itself."""
    NODE = "Node"
    """The node does, and mounts them."""


@dataclass(frozen=True, slots=True)
class Policy:
    """Settings that shape what is rendered, resolved once (facts api-dependencies §7, facts router-rendering §2).

    `resource_keys` replaces a maker's own resource key, by maker name. `registry` and `registry_namespace` are the
    cluster's mirror, through which the operator's own default images are pulled; empty: from where they are published.
    `dtype_owned` says whether the operator renders the cache's data type, `reuse_time_wait` whether Prefill halves of
    SGLang pairs may reuse ports in TIME-WAIT.
    """

    general_resources_overcommit: bool = True
    resource_keys: Mapping[str, str] = field(default_factory=dict)
    router_image: str = "gpustack/llm-router:v0.1.0"
    router_proxy_image: str = "gpustack/mirrored-envoy:distroless-v1.33.2"
    routing_sidecar_image: str = "gpustack/mirrored-llm-d-router-disagg-sidecar:v0.10.0"
    registry: str = ""
    registry_namespace: str = ""
    dtype_owned: bool = True
    reuse_time_wait: bool = False
    delivery: Delivery = Delivery.ENGINE
    hugging_face_endpoint: str = "https://huggingface.co"
    model_scope_endpoint: str = "https://www.modelscope.cn"
    https_proxy: str = ""
    no_proxy: str = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """Cluster facts for one deployment.

    InstanceTypes by name, settings, the RuntimeClasses that exist, the shared store its cache leads to (None: none can
    be used now, and replicas render without it, decisions D30), the artifact it names (None: there is none of that
    name) and whether the cluster runs native sidecars (Kubernetes 1.29).
    """

    instance_types: Mapping[str, InstanceType]
    policy: Policy = field(default_factory=Policy)
    runtime_classes: frozenset[str] = frozenset()
    store: Store | None = None
    artifact: ModelArtifact | None = None
    native_sidecars: bool = True
