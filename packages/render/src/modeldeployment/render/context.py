"""What every Part of a role reads: one role with everything resolved that more than one Part needs."""

from dataclasses import dataclass

from modeldeployment.api.instancetype import InstanceType
from modeldeployment.api.modeldeployment import ModelDeployment
from modeldeployment.api.roles import Role
from modeldeployment.render.engine import Engine
from modeldeployment.render.facts import Facts
from modeldeployment.render.image import Image
from modeldeployment.render.listener import Listener
from modeldeployment.render.ownership import namespace
from modeldeployment.render.resources import Resources


@dataclass(frozen=True, slots=True)
class Context:
    """One role of one deployment; `queue` is the LocalQueue its InstanceType publishes."""

    deployment: ModelDeployment
    role: Role
    engine: Engine
    facts: Facts
    instance_type: InstanceType
    queue: str
    image: Image
    listener: Listener
    resources: Resources

    @property
    def name(self) -> str:
        """The deployment's name."""
        return self.deployment.metadata.name

    @property
    def namespace(self) -> str:
        """The deployment's namespace."""
        return namespace(self.deployment)
