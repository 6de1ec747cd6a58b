"""What every Part of a role reads: one role with everything resolved that more than one Part needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from modeldeployment.api.choices import RoleKind
from modeldeployment.render.backend import Backend
from modeldeployment.render.engine import MEMBER_VARIABLES, Engine
from modeldeployment.render.facts import Facts
from modeldeployment.render.image import Image
from modeldeployment.render.joins import Joins
from modeldeployment.render.listener import ContainerPort, Listener
from modeldeployment.render.ownership import namespace
from modeldeployment.render.resources import Resources
from modeldeployment.render.transfer import Half
from modeldeployment.render.weights import Weights

if TYPE_CHECKING:
    from modeldeployment.api.instancetype import InstanceType
    from modeldeployment.api.modeldeployment import ModelDeployment
    from modeldeployment.api.roles import Role


@dataclass(frozen=True, slots=True)
class Context:
    """One role of one deployment.

    `queue` is the LocalQueue its InstanceType publishes, `opened` the ports of the operator's own listeners, `halves`
    the degrees that both halves of a pair must know of each other (empty where no document names them), `weights` the
    artifact's weights on this engine (None: the deployment names no artifact).
    """

    deployment: ModelDeployment
    role: Role
    engine: Engine
    backend: Backend
    facts: Facts
    instance_type: InstanceType
    queue: str
    image: Image
    listener: Listener
    joins: Joins
    halves: Mapping[RoleKind, Half]
    opened: tuple[ContainerPort, ...]
    weights: Weights | None
    resources: Resources

    @property
    def name(self) -> str:
        """The deployment's name."""
        return self.deployment.metadata.name

    @property
    def namespace(self) -> str:
        """The deployment's namespace."""
        return namespace(self.deployment)

    @property
    def owned_environment(self) -> frozenset[str]:
        """Names of variables the user cannot set on this role (facts rendering §13, facts encode §6)."""
        owned = self.engine.owned_environment.union(MEMBER_VARIABLES)
        if self.role.managed and self.deployment.spec.model.artifact_ref is not None:
            owned |= self.engine.artifact_environment
        if self.joins.encode is not None:
            owned |= self.engine.encode_environment
        return owned

    def gives(self, *flags: str) -> bool:
        """Whether the role's own arguments name one of these flags, exactly (facts rendering §3)."""
        return any(argument.partition("=")[0] in flags for argument in self.role.extra_args)

    @property
    def renders_dtype(self) -> bool:
        """Whether `--kv-cache-dtype` is the operator's on this role: a store is attached and the setting is on."""
        return self.joins.store is not None and bool(self.joins.store.dtype) and self.facts.policy.dtype_owned
