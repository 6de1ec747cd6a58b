"""The ModelDeployment kind: one served model, its engine and its roles.

Sources: spec 1, facts api-modeldeployment §1 and §2, decisions D1 to D3.
"""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from modeldeployment.api import frozen
from modeldeployment.api.document import Document, Mark, list_map, marked
from modeldeployment.api.keys import API_VERSION
from modeldeployment.api.metadata import LocalObjectReference, ObjectMeta
from modeldeployment.api.roles import Role
from modeldeployment.api.status import ModelDeploymentStatus


class EngineName(StrEnum):
    """Inference engines the operator renders."""

    VLLM = "vLLM"
    SGLANG = "SGLang"


class Connector(StrEnum):
    """Connectors between an engine and a shared cache."""

    MOONCAKE = "Mooncake"


class Model(Document):
    """What the engine serves; it is never provisioned."""

    name: Annotated[str, Field(min_length=1, max_length=253)]
    """Name under which the model is served, and what the engine loads."""


class Engine(Document):
    """The inference engine of every role."""

    name: Annotated[EngineName, Mark(x_kubernetes_validations=[frozen.ENGINE_NAME])]
    """Which engine; frozen."""
    version: Annotated[str, Field(min_length=1, max_length=64)] | None = None
    """Version of the runner image, free-form; needed while a role names no image and the engine names none."""
    image: Annotated[str, Field(max_length=512)] | None = None
    """Image of every role that names none of its own."""


class KVCache(Document):
    """A shared cache pool to attach the replicas to."""

    pool_ref: Annotated[LocalObjectReference, Mark(x_kubernetes_validations=[frozen.POOL_NAMED])]
    """KVCachePoolBinding of this namespace that grants the pool."""
    connector: Connector = Connector.MOONCAKE
    """Connector between engine and pool."""


class ModelDeploymentSpec(Document):
    """What the user declares."""

    model_config = marked(x_kubernetes_validations=frozen.SPEC)

    model: Annotated[Model, Mark(x_kubernetes_validations=[frozen.MODEL])]
    """What is served; frozen."""
    engine: Engine
    """The inference engine of every role."""
    kv_cache: KVCache | None = None
    """Shared cache pool; left out, none is attached. Frozen, its presence included."""
    roles: Annotated[
        tuple[Role, ...],
        Field(min_length=1, max_length=10),
        list_map("name"),
        Mark(x_kubernetes_validations=[frozen.ROLE_SET]),
    ]
    """Roles, told apart by name; the set of names is frozen."""

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
