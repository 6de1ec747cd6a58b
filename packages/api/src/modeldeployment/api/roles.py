"""One role of a deployment: what its replicas are and how their Pods run."""

from typing import Annotated, Final

from pydantic import Field

from modeldeployment.api import frozen
from modeldeployment.api.choices import Protocol, PullPolicy, RoleKind
from modeldeployment.api.document import ATOMIC, Document, Int32, Int64, absent, guarded, guarding, list_map
from modeldeployment.api.metadata import LocalObjectReference
from modeldeployment.api.quantity import Quantity

ROLE_NAME: Final = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
LABEL_KEY: Final = (
    r"^(([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?"
    r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$"
)


class Resources(Document):
    """What one Pod requests besides the CPU, memory and storage that its InstanceType derives."""

    model_config = guarding(frozen.WHOLE_ACCELERATOR, frozen.WHOLE_INTERFACE, *frozen.RESOURCES)

    accelerator: Quantity | None = None
    """Accelerators per Pod, a whole number; 0 asks for none. Unset is defaulted to 1 on an acceleratable type."""
    accelerator_sliced_memory_percentage: Annotated[Int32, Field(ge=0, le=100)] = 0
    """Share of one accelerator's memory, in percent; 0 is not sliced. Either percentage alone also sets the other."""
    accelerator_sliced_cores_percentage: Annotated[Int32, Field(ge=0, le=100)] = 0
    """Share of one accelerator's cores, in percent; 0 is not sliced. Either percentage alone also sets the other."""
    accelerator_partitioned_profile: Annotated[str, Field(max_length=64)] | None = None
    """Hardware partition profile, for example 3g.40gb; excludes both percentages."""
    interface: Quantity | None = None
    """Fabric interfaces per Pod, a whole number; unset or 0 adds none."""


class Port(Document):
    """A port the engine container listens on; the first one is the serving port."""

    port: Annotated[Int32, Field(ge=1, le=65535)]
    """Port number."""
    protocol: Protocol = Protocol.TCP
    """Transport."""

    @property
    def name(self) -> str:
        """Name of the port on the container and the Service."""
        return f"{self.protocol.lower()}-{self.port}"


class EnvVar(Document):
    """A literal environment variable."""

    name: Annotated[str, Field(min_length=1)]
    """Name of the variable."""
    value: str
    """Literal value."""


class HostPath(Document):
    """A path on the node."""

    path: str
    """Path on the node."""
    type: str | None = None
    """What must exist at the path, as Kubernetes' hostPath volumes define it."""


class AdditionalVolume(Document):
    """A volume mounted into the engine container; exactly one source is meant to be set."""

    mount_path: Annotated[str, Field(max_length=1024, pattern=r"^(/[^/]+)+$")]
    """Absolute path in the container."""
    read_only: bool = False
    """Whether the mount is read-only."""
    sub_path: Annotated[str, Field(max_length=1024, pattern=r"^[^/].*$")] | None = None
    """Relative path inside the volume to mount instead of its root."""
    config_map: LocalObjectReference | None = None
    """ConfigMap to mount."""
    secret: LocalObjectReference | None = None
    """Secret to mount."""
    host_path: HostPath | None = None
    """Path on the node to mount; needs the setting that allows it."""


class Topology(Document):
    """Where the Pods of one replica must stand together."""

    required_level: Annotated[str, Field(max_length=317, pattern=LABEL_KEY), guarded(frozen.NOT_HOSTNAME)] | None = None
    """Label key of the level within whose one domain all Pods of a replica must fit; empty asks for nothing."""


class ElasticEp(Document):
    """One replica whose expert-parallel width grows in place; no release renders it yet (decisions D24)."""

    width: Annotated[Int32, Field(ge=2, le=64)]
    """Engines in total, the master included."""
    head_instance_type: Annotated[str, Field(min_length=1, max_length=253)] | None = None
    """InstanceType of the head, which has no accelerator."""


class Role(Document):
    """A set of equal serving replicas."""

    model_config = guarding(*frozen.ROLE)

    name: Annotated[str, Field(min_length=1, max_length=63, pattern=ROLE_NAME)]
    """Name of the role, unique in the deployment; frozen."""
    kind: Annotated[RoleKind, guarded(frozen.KIND)] = RoleKind.SERVER
    """What the role does with a request; frozen."""
    replicas: Annotated[Int32, Field(ge=1, le=1024)] = 1
    """Independent serving replicas. Changing the number restarts none that stay."""
    size: Annotated[Int32, Field(ge=1, le=64), guarded(frozen.SIZE)] = 1
    """Pods that form one replica; frozen."""
    instance_type: Annotated[str, Field(min_length=1, max_length=253), guarded(frozen.INSTANCE_TYPE)]
    """InstanceType every Pod of the role is sized by and queued for; frozen."""
    resources: Resources | None = None
    """What one Pod requests; frozen."""
    image: Annotated[str, Field(max_length=512)] | None = None
    """Image of the engine container; unset takes the engine's image, then the runner image for its version."""
    image_pull_policy: PullPolicy | None = None
    """When the image is pulled; unset leaves Kubernetes' default."""
    image_pull_secrets: Annotated[
        tuple[LocalObjectReference, ...], Field(max_length=32, exclude_if=absent), ATOMIC
    ] = ()
    """Secrets to pull the image with."""
    privileged: bool = False
    """Whether the engine container runs privileged; needs the setting that allows it."""
    ports: Annotated[tuple[Port, ...], Field(exclude_if=absent), list_map("port", "protocol")] = ()
    """Ports of the engine container; the first one is the serving port, 8000 when there is none."""
    additional_volumes: Annotated[tuple[AdditionalVolume, ...], Field(exclude_if=absent), ATOMIC] = ()
    """Volumes mounted into the engine container."""
    command: Annotated[
        tuple[Annotated[str, Field(max_length=frozen.ARGUMENT)], ...],
        Field(max_length=frozen.ARGUMENTS, exclude_if=absent),
        ATOMIC,
    ] = ()
    """Whole command line of the engine container; non-empty takes the role over from the operator; frozen."""
    extra_args: Annotated[tuple[str, ...], Field(exclude_if=absent), ATOMIC] = ()
    """Engine arguments appended after the operator's; read by nobody beside a command."""
    env: Annotated[tuple[EnvVar, ...], Field(exclude_if=absent), list_map("name")] = ()
    """Environment of the engine container."""
    topology: Topology | None = None
    """Where the Pods of one replica must stand together."""
    termination_grace_period_seconds: Annotated[Int64, Field(ge=15, le=3600)] | None = None
    """Seconds a leaving Pod has to finish its requests; unset renders 30."""
    elastic_ep: ElasticEp | None = None
    """Elastic expert parallelism; refused by this release."""

    @property
    def managed(self) -> bool:
        """Whether the operator writes the engine's command line."""
        return not self.command
