"""The ModelDeployment kind: one served model, its engine and its roles.

Sources: spec 1, facts api-modeldeployment §1 and §2, decisions D1 to D3.
"""

from typing import Annotated

from pydantic import Field

from modeldeployment.api import frozen
from modeldeployment.api.choices import Connector, EngineName, PullPolicy, RouterName, TransferProtocol
from modeldeployment.api.document import ATOMIC, Document, Int32, absent, guarded, guarding, list_map
from modeldeployment.api.keys import API_VERSION
from modeldeployment.api.metadata import LocalObjectReference, ObjectMeta
from modeldeployment.api.roles import Role
from modeldeployment.api.status import ModelDeploymentStatus


class Model(Document):
    """What the engine serves; it is never provisioned."""

    name: Annotated[str, Field(min_length=1, max_length=253)]
    """Name under which the model is served, and what the engine loads."""
    artifact_ref: LocalObjectReference | None = None
    """ModelArtifact of this namespace that delivers the weights; it may be created later."""


class Engine(Document):
    """The inference engine of every role."""

    name: Annotated[EngineName, guarded(frozen.ENGINE_NAME)]
    """Which engine; frozen."""
    version: Annotated[str, Field(min_length=1, max_length=64)] | None = None
    """Version of the runner image, free-form; needed while a role names no image and the engine names none."""
    image: Annotated[str, Field(max_length=512)] | None = None
    """Image of every role that names none of its own."""


class KVCache(Document):
    """A shared cache pool to attach the replicas to."""

    pool_ref: Annotated[LocalObjectReference, guarded(frozen.POOL_NAMED)]
    """KVCachePoolBinding of this namespace that grants the pool."""
    connector: Connector = Connector.MOONCAKE
    """Connector between engine and pool."""


class KVTransfer(Document):
    """The direct transfer from prefill to decode; one link, so one value for the deployment."""

    protocol: TransferProtocol | None = None
    """Transport of the direct transfer; unset renders tcp, as Auto and TCP do."""


class Router(Document):
    """What pairs the roles and picks the replica that serves a request."""

    name: Annotated[RouterName, guarded(frozen.ROUTER_NAME)]
    """Which router; frozen while the block stays, though the block may come and go."""
    replicas: Annotated[Int32, Field(ge=1)] | None = None
    """Router Pods; unset is one. More than one trades cache consistency for availability."""
    image: Annotated[str, Field(max_length=512)] | None = None
    """Image of the router; unset takes the one the operator is set to."""
    extra_args: Annotated[tuple[str, ...], Field(exclude_if=absent), ATOMIC] = ()
    """Router arguments appended after the operator's."""
    image_pull_policy: PullPolicy | None = None
    """When the image is pulled; unset leaves Kubernetes' default."""
    image_pull_secrets: Annotated[
        tuple[LocalObjectReference, ...], Field(max_length=32, exclude_if=absent), ATOMIC
    ] = ()
    """Secrets to pull the image with."""
    request_timeout_seconds: Annotated[Int32, Field(ge=1)] | None = None
    """Seconds the router waits for a reply; unset keeps the router's own default."""
    disaggregation_threshold_tokens: Annotated[Int32, Field(ge=0)] | None = None
    """Prompt tokens not in a prefix cache from which a request is split; 0 never splits; llm-d-router only."""


class ModelDeploymentSpec(Document):
    """What the user declares."""

    model_config = guarding(frozen.KV_CACHE)

    model: Annotated[Model, guarded(frozen.MODEL)]
    """What is served; frozen."""
    engine: Engine
    """The inference engine of every role."""
    kv_cache: KVCache | None = None
    """Shared cache pool; left out, none is attached. Frozen, its presence included."""
    roles: Annotated[
        tuple[Role, ...],
        Field(min_length=1, max_length=frozen.ROLES),
        list_map("name"),
        guarded(frozen.ROLE_SET),
    ]
    """One to ten roles, told apart by name; the set of names is frozen."""
    router: Router | None = None
    """Router in front of the replicas; left out, nothing pairs the roles."""
    kv_transfer: KVTransfer | None = None
    """The direct transfer from prefill to decode."""

    def role(self, name: str) -> Role:
        """Return the role of that name; raises KeyError when the deployment declares none."""
        for role in self.roles:
            if role.name == name:
                return role
        raise KeyError(name)


class ModelDeployment(Document):
    """One served model: roles of replicas, each replica admitted, started and replaced on its own."""

    api_version: str = API_VERSION
    kind: str = "ModelDeployment"
    metadata: ObjectMeta = Field(default_factory=ObjectMeta)
    spec: ModelDeploymentSpec
    """What the user declares."""
    status: ModelDeploymentStatus | None = None
    """What the operator observed."""
