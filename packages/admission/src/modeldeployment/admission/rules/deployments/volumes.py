"""Additional volumes and access to the host.

Source: facts admission §4 rows 18, 20 and 28, and §8.
"""

import posixpath
from collections.abc import Iterator
from typing import Any, Final

from modeldeployment.admission import patching
from modeldeployment.admission.examples import Example
from modeldeployment.admission.facts import Policy
from modeldeployment.admission.rule import Row, row
from modeldeployment.admission.subjects import DeploymentReview, RoleReview
from modeldeployment.admission.verdict import Cause, Refusal
from modeldeployment.api.roles import AdditionalVolume, Role
from modeldeployment.render import WEIGHTS_PATHS

PRIVILEGED_SETTING: Final = "instance-privileged-allowed"
HOST_PATH_SETTING: Final = "instance-host-path-volume-allowed"

_VOLUMES: Final = "spec.roles[0].additionalVolumes"
_DATA: Final = {"mountPath": "/data", "configMap": {"name": "data"}}


@row(
    trigger=Example({_VOLUMES: [_DATA, {"mountPath": "/data", "secret": {"name": "token"}}]}),
    near_miss=Example({_VOLUMES: [_DATA, {"mountPath": "/data/more", "secret": {"name": "token"}, "subPath": "a..b"}]}),
)
def unmountable(review: DeploymentReview) -> Iterator[Refusal]:
    """MD018 | spec.roles[*].additionalVolumes[*] | A volume needs a source, its own mount path and a subPath inside it.

    A volume without `configMap`, `secret` or `hostPath` mounts nothing. Two volumes on one path hide each other,
    however the path is spelled (`/data` and `/data/.` are one). A `subPath` with a `..` element would leave the
    volume, and the kubelet refuses to start such a Pod. Source: facts admission §4 row 18.
    """
    for role in review.roles:
        claimed: dict[str, int] = {}
        for index, volume in enumerate(role.role.additional_volumes):
            path = _path(role, index)
            if not (volume.config_map or volume.secret or volume.host_path):
                yield Refusal(
                    "MD018",
                    path,
                    patching.found(review.body, path),
                    why=f"nothing would be mounted at {volume.mount_path}: the volume names no source",
                    way_out="set one of configMap, secret or hostPath, or remove the volume",
                    cause=Cause.REQUIRED,
                )
            first = claimed.setdefault(posixpath.normpath(volume.mount_path), index)
            if first != index:
                again = volume == role.role.additional_volumes[first]
                yield Refusal(
                    "MD018",
                    f"{path}.mountPath",
                    volume.mount_path,
                    why=f"{volume.mount_path} is already mounted by {_path(role, first)}",
                    way_out="mount this volume at a path of its own, or remove one of the two",
                    cause=Cause.DUPLICATE,
                    patch=(patching.remove(path),) if again else (),
                )
            if ".." in (volume.sub_path or "").split("/"):
                yield Refusal(
                    "MD018",
                    f"{path}.subPath",
                    volume.sub_path,
                    why="its .. element would lead out of the volume",
                    way_out="write the path from the root of the volume, without a .. element",
                )


@row(
    trigger=Example(
        {"spec.model.artifactRef": {"name": "qwen"}, _VOLUMES: [_DATA | {"mountPath": "/var/lib/gpustack"}]}
    ),
    near_miss=Example(
        {"spec.model.artifactRef": {"name": "qwen"}, _VOLUMES: [_DATA | {"mountPath": "/var/lib/gpustack/models"}]}
    ),
)
def over_the_weights(review: DeploymentReview) -> Iterator[Refusal]:
    """MD020 | spec.roles[*].additionalVolumes[*].mountPath | No volume lies at, inside or around the weights.

    With `model.artifactRef` the operator mounts the weights at `/var/lib/gpustack/model`, or has the engine
    download them to `/var/lib/gpustack/model-cache`; a volume there would hide them or be hidden. This holds beside
    a `command` too, since the weights are mounted for it as well. Source: facts admission §4 row 20.
    """
    artifact = review.new.spec.model.artifact_ref
    if artifact is None:
        return
    for role in review.roles:
        for index, volume in enumerate(role.role.additional_volumes):
            if reserved := [path for path in WEIGHTS_PATHS if _overlap(volume.mount_path, path)]:
                yield Refusal(
                    "MD020",
                    f"{_path(role, index)}.mountPath",
                    volume.mount_path,
                    why=f"the weights of ModelArtifact {artifact.name} go to {' and '.join(reserved)}, and the volume "
                    "would lie over them or under them",
                    way_out="mount the volume at a path beside it, for example /data",
                )


@row(
    trigger=Example({"spec.roles[0].privileged": True}),
    near_miss=Example({"spec.roles[0].privileged": True}, policy=Policy(privileged_allowed=True)),
)
def host_access(review: DeploymentReview) -> Iterator[Refusal]:
    """MD028 | spec.roles[*] | Host access, privileged or by hostPath, needs the setting that allows it.

    `privileged` needs the setting `instance-privileged-allowed`, a `hostPath` volume
    `instance-host-path-volume-allowed`; both are off unless an administrator turns them on. What the stored role
    already holds stays editable: a host path is held while path, type and subPath are the same and it was not
    read-only before it is writable now. Source: facts admission §4 row 28 and §8.
    """
    policy = review.facts.policy
    for role in review.roles:
        if role.role.privileged and not policy.privileged_allowed and not (role.old and role.old.privileged):
            field = f"{role.path}.privileged"
            yield Refusal(
                "MD028",
                field,
                True,
                why=f"a privileged container is root on its node, and the setting {PRIVILEGED_SETTING} is off",
                way_out="leave privileged out, or have an administrator turn that setting on",
                cause=Cause.FORBIDDEN,
                patch=(patching.remove(field),),
            )
        if policy.host_path_allowed:
            continue
        for index, volume in enumerate(role.role.additional_volumes):
            if volume.host_path and not _held(volume, role.old):
                yield Refusal(
                    "MD028",
                    f"{_path(role, index)}.hostPath",
                    volume.host_path.body(),
                    why=f"{volume.host_path.path} is a path on the node, and the setting {HOST_PATH_SETTING} is off",
                    way_out="mount a configMap or a secret instead, or have an administrator turn that setting on",
                    cause=Cause.FORBIDDEN,
                )


def _path(role: RoleReview, index: int) -> str:
    return f"{role.path}.additionalVolumes[{index}]"


def _overlap(one: str, other: str) -> bool:
    """Whether one path is the other or lies inside it, segment by segment."""
    first, second = (f"{posixpath.normpath(path)}/" for path in (one, other))
    return first.startswith(second) or second.startswith(first)


def _held(volume: AdditionalVolume, old: Role | None) -> bool:
    """Whether the stored role reaches the same path on the node, at least as freely."""
    return old is not None and any(
        volume.host_path == stored.host_path
        and volume.sub_path == stored.sub_path
        and (volume.read_only or not stored.read_only)
        for stored in old.additional_volumes
    )


RULES: Final[tuple[Row[Any, Any], ...]] = (unmountable, over_the_weights, host_access)
