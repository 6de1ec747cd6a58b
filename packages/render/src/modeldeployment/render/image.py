"""Which image a role runs.

Source: spec 1 §Runner image formula, facts rendering §11, decisions D2 and D29.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from modeldeployment.api.conditions import RefusalReason
from modeldeployment.render.errors import RenderRefusal
from modeldeployment.render.facts import Policy
from modeldeployment.render.makers import MAKERS

if TYPE_CHECKING:
    from modeldeployment.api.instancetype import Detail
    from modeldeployment.api.modeldeployment import Engine
    from modeldeployment.api.roles import Role


@dataclass(frozen=True, slots=True)
class RuntimeVersionSkew:
    """A role's pool reports several runtime versions; its image was made for the lowest, `taken`."""

    role: str
    taken: str
    skipped: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Image:
    """An image reference, whether a user wrote it, and what there is to say about it."""

    reference: str
    stated: bool
    skew: RuntimeVersionSkew | None = None


def choose(role: Role, engine: Engine, tag: str, detail: Detail, policy: Policy) -> Image:
    """Take the role's own image, else the engine's, else the runner made for the hardware.

    `tag` is the engine's word in a runner's tag. What a user wrote is taken as it is; the runner is the operator's own
    choice, as its router and proxy images are, and so comes through the cluster's mirror.
    Raises RenderRefusal when no image is stated and none can be put together.
    """
    if role.image or engine.image:
        return Image(role.image or engine.image or "", stated=True)

    def refusal(reason: RefusalReason, why: str, way_out: str, *, retryable: bool = False) -> RenderRefusal:
        message = f'role "{role.name}" names no image and none could be synthesized: {why}; {way_out}'
        return RenderRefusal(reason, role.name, message, retryable=retryable)

    image = f"set spec.roles[{role.name}].image or spec.engine.image"
    wait = f"this resolves once InstanceType {role.instance_type!r} publishes it, or {image}"
    if not engine.version:
        why = "engine version is empty"
        raise refusal(RefusalReason.ENGINE_VERSION_MISSING, why, f"set spec.engine.version, or {image}")
    if not detail.manufacturer:
        why = "the instance type has not observed its hardware yet"
        raise refusal(RefusalReason.INSTANCE_TYPE_NOT_READY, why, wait, retryable=True)
    maker = MAKERS.get(detail.manufacturer)
    if maker is None or not maker.runner:
        why = f'manufacturer "{detail.manufacturer}" has no runner backend, so the role must name an image'
        raise refusal(RefusalReason.IMAGE_NOT_SYNTHESIZABLE, why, image)
    variant = ""
    if maker.variants is not None:
        if detail.family not in maker.variants:
            why = f'{maker.name} family "{detail.family}" has no runner backend variant, so the role must name an image'
            raise refusal(RefusalReason.IMAGE_NOT_SYNTHESIZABLE, why, image)
        variant = f"-{maker.variants[detail.family]}"
    observed = sorted(set(detail.runtime_versions), key=_version)
    if not observed:
        why = "the instance type has not observed a runtime version yet"
        raise refusal(RefusalReason.RUNTIME_VERSION_NOT_OBSERVED, why, wait, retryable=True)
    lowest, *skipped = observed
    reference = f"gpustack/runner:{maker.runner}{lowest}{variant}-{tag}{engine.version}"
    skew = RuntimeVersionSkew(role.name, lowest, tuple(skipped)) if skipped else None
    return Image(mirrored(reference, policy), stated=False, skew=skew)


def mirrored(reference: str, policy: Policy) -> str:
    """Answer where this cluster pulls one of the operator's own default images from (facts router-rendering §2).

    The mirror's registry stands in place of the one the reference names, or before a reference that names none, and its
    namespace in place of the reference's own. A first segment that is a host names a registry: it has a dot or a port,
    or is `localhost`.
    """
    *path, name = reference.split("/")
    named = path[:1] if path and (set(".:") & set(path[0]) or path[0] == "localhost") else []
    registry = [policy.registry] if policy.registry else named
    namespace = [policy.registry_namespace] if policy.registry_namespace else path[len(named) :]
    return "/".join([*registry, *namespace, name])


def _version(text: str) -> tuple[tuple[int, int, str], ...]:
    """Order versions by their numbers, so 12.9 comes before 12.10; words sort after numbers."""
    runs = re.findall(r"\d+|[^\d.]+", text)
    return tuple((0, int(run), "") if run.isdigit() else (1, 0, run) for run in runs)
