"""What rendering needs to know beyond the deployment: everything looked up, nothing fetched."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from modeldeployment.api.instancetype import InstanceType


@dataclass(frozen=True, slots=True)
class Policy:
    """Settings that shape a Pod, resolved once (facts api-dependencies §7).

    `resource_keys` replaces a maker's own resource key, by maker name.
    """

    general_resources_overcommit: bool = True
    resource_keys: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Facts:
    """Cluster facts for one deployment: InstanceTypes by name, settings, and the RuntimeClasses that exist."""

    instance_types: Mapping[str, InstanceType]
    policy: Policy = field(default_factory=Policy)
    runtime_classes: frozenset[str] = frozenset()
