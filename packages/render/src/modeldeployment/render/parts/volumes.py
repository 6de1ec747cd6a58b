"""The volumes a role mounts itself. Source: spec 1 §The three override tiers, facts rendering §8."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from modeldeployment.render.compose import Fragment, FromUser
from modeldeployment.render.context import Context
from modeldeployment.render.parts.places import MAIN, SPEC

if TYPE_CHECKING:
    from modeldeployment.api.roles import AdditionalVolume


def additional_volumes(context: Context) -> Fragment:
    """Mount the role's additional volumes; one without a source mounts nothing."""
    placed: dict[tuple[str, ...], Any] = {}
    for index, volume in enumerate(context.role.additional_volumes):
        source = _source(volume)
        if not source:
            continue
        mount: dict[str, Any] = {"mountPath": volume.mount_path}
        if volume.read_only:
            mount["readOnly"] = True
        if volume.sub_path:
            mount["subPath"] = volume.sub_path
        placed[*SPEC, "volumes", f"additional-{index}"] = FromUser(source)
        placed[*MAIN, "volumeMounts", f"additional-{index}"] = FromUser(mount)
    return placed


def covers(context: Context, path: str) -> bool:
    """Whether a volume of the role's own is mounted at `path`, where it stands in for the operator's.

    Two mounts at one path make a Pod that no API server takes (spec 1 §Operator-owned keys).
    """
    volumes = context.role.additional_volumes
    return any(volume.mount_path == path and _source(volume) for volume in volumes)


def _source(volume: AdditionalVolume) -> dict[str, Any]:
    """Answer the volume's source; of several the first of ConfigMap, Secret and host path counts."""
    if volume.config_map:
        return {"configMap": {"name": volume.config_map.name}}
    if volume.secret:
        return {"secret": {"secretName": volume.secret.name}}
    if volume.host_path:
        return {"hostPath": volume.host_path.body()}
    return {}
