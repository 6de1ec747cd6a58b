"""What one Pod asks of its node: CPU, memory and storage derived from its InstanceType, and the accelerator's own keys.

Source: facts rendering §12, facts api-dependencies §4.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from modeldeployment.api.conditions import RefusalReason
from modeldeployment.api.quantity import Format, Quantity
from modeldeployment.render.errors import RenderRefusal
from modeldeployment.render.facts import Policy
from modeldeployment.render.makers import MAKERS, Maker

if TYPE_CHECKING:
    from modeldeployment.api import roles
    from modeldeployment.api.instancetype import InstanceType

STORAGE: Final = Quantity.parse("15Gi")
"""Ephemeral storage of a Pod, unless its type has less."""

_MEBI: Final = 2**20


@dataclass(frozen=True, slots=True)
class Amounts:
    """CPU, memory and ephemeral storage."""

    cpu: Quantity
    memory: Quantity
    storage: Quantity

    def written(self) -> dict[str, str]:
        """Answer them as Kubernetes resource entries."""
        return {"cpu": str(self.cpu), "memory": str(self.memory), "ephemeral-storage": str(self.storage)}


@dataclass(frozen=True, slots=True)
class Resources:
    """The main container's limits and requests, and the runtime class its accelerator needs, empty where none."""

    limits: Mapping[str, str]
    requests: Mapping[str, str]
    runtime_class: str


def resources(
    role: roles.Role,
    instance_type: InstanceType,
    policy: Policy,
    *,
    interfaces: Mapping[str, str] = MappingProxyType({}),
    cache_bytes: int = 0,
) -> Resources:
    """Derive what a Pod of `role` asks for.

    `interfaces` are fabric interfaces by resource key, which count among limits alone; `cache_bytes` is what an
    engine's own download of its weights adds to the limit of ephemeral storage.
    Raises RenderRefusal, retryable while the InstanceType has not published what a slice or a partition is measured by.
    """
    wanted = role.resources or _nothing()
    keys, percent, maker = _accelerators(role, wanted, instance_type, policy)
    limits = Amounts(
        _part(instance_type.unit_cpu, percent, 100),
        _part(instance_type.unit_ram, percent, 100),
        min(STORAGE, instance_type.local_storage),
    )
    requests = overcommitted(limits, instance_type.acceleratable) if policy.general_resources_overcommit else limits
    if cache_bytes:
        limits = replace(limits, storage=Quantity(limits.storage.nanos + cache_bytes * 10**9, limits.storage.format))
    return Resources(
        {**limits.written(), **keys, **interfaces}, requests.written() | keys, maker.runtime_class if maker else ""
    )


def overcommitted(limits: Amounts, acceleratable: bool) -> Amounts:
    """Answer the requests that stand for `limits` while general resources are overcommitted.

    100m CPU per core beside accelerators, 800m elsewhere; an eighth of memory and storage.
    """
    cpu = _part(limits.cpu, 1 if acceleratable else 8, 10)
    return Amounts(cpu, _part(limits.memory, 1, 8), _part(limits.storage, 1, 8))


def _accelerators(
    role: roles.Role, wanted: roles.Resources, instance_type: InstanceType, policy: Policy
) -> tuple[dict[str, str], int, Maker | None]:
    """Answer the accelerator's resource keys, how much of one unit goes with it in percent, and its maker, if any."""
    memory, cores = wanted.accelerator_sliced_memory_percentage, wanted.accelerator_sliced_cores_percentage
    profile, sliced = wanted.accelerator_partitioned_profile, bool(memory or cores)
    if wanted.accelerator is not None and (wanted.accelerator.nanos < 0 or not wanted.accelerator.is_whole):
        raise _refused(role, "accelerator", wanted.accelerator, "accelerators are whole cards", "write a whole number")
    count = _cards(wanted, instance_type)
    if not (count or sliced or profile):
        return {}, 100, None
    if sliced and profile:
        why = "one accelerator cannot serve a slice and a partition"
        raise _refused(role, "acceleratorPartitionedProfile", profile, why, "keep the profile or the percentages")
    if not instance_type.acceleratable:
        why = f"InstanceType {role.instance_type!r} has no accelerators"
        raise _refused(role, "accelerator", count, why, "leave it out, or name a type that has them")
    detail = instance_type.status.detail
    maker = MAKERS.get(detail.manufacturer)
    if not detail.manufacturer:
        raise _not_ready(role, "is not ready yet: it has not observed its hardware")
    if maker is None:
        why = f"manufacturer {detail.manufacturer!r} is none of {', '.join(MAKERS)}"
        raise _refused(role, "accelerator", count, why, "name a type of one of these")
    base, cards = policy.resource_keys.get(maker.name, maker.resource), str(max(1, count))
    if profile:
        if not maker.partition:
            why = f"{maker.name} accelerators cannot be partitioned"
            raise _refused(role, "acceleratorPartitionedProfile", profile, why, "request whole accelerators or a slice")
        keys = {f"{base}.partitioned": cards, f"{base}.partitioned.{maker.partition}-{profile}": cards}
        return keys, _share(role, profile, instance_type), maker
    if sliced:
        share = memory or cores
        keys = {
            f"{base}.sliced": cards,
            f"{base}.sliced.memory-percentage": str(share),
            f"{base}.sliced.cores-percentage": str(cores or memory),
        }
        return keys, share, maker
    return {base: cards}, 100 * count, maker


def _nothing() -> roles.Resources:
    """What a role asks for that says nothing."""
    from modeldeployment.api.roles import Resources  # models are there wherever a role is

    return Resources()


def _cards(wanted: roles.Resources, instance_type: InstanceType) -> int:
    """Answer the cards a Pod asks for: unset reads as one where the type has any, 0 is none (facts admission §3)."""
    if wanted.accelerator is None:
        return 1 if instance_type.acceleratable else 0
    return wanted.accelerator.units


def _share(role: roles.Role, profile: str, instance_type: InstanceType) -> int:
    """Answer a partition's share of its card's memory, in percent of a unit."""
    detail = instance_type.status.detail
    sizes = [offered.memory_mib for offered in detail.sliced_detail.physical.profiles if offered.name == profile]
    if not sizes or sizes[0] <= 0 or detail.memory is None or detail.memory.units <= 0:
        raise _not_ready(role, f"publishes no size for partition profile {profile!r}, so the Pod cannot be sized")
    return min(100, max(1, sizes[0] * _MEBI * 100 // detail.memory.units))


def _part(amount: Quantity, factor: int, over: int) -> Quantity:
    """Answer `factor / over` of an amount; parts are rounded down to 1m or 1Mi, so they never add up to more."""
    exact = Quantity(amount.nanos * factor // over, amount.format)
    if factor % over == 0:
        return exact
    step = _MEBI * 10**9 if amount.format is Format.BINARY else 10**6
    return Quantity(exact.nanos // step * step, amount.format) if exact.nanos >= step else exact


def _refused(role: roles.Role, field: str, value: object, why: str, way_out: str) -> RenderRefusal:
    message = f"spec.roles[{role.name}].resources.{field} is {value}: {why}; {way_out}"
    return RenderRefusal(RefusalReason.RESOURCES_NOT_OFFERED, role.name, message)


def _not_ready(role: roles.Role, why: str) -> RenderRefusal:
    message = (
        f"spec.roles[{role.name}].resources cannot be rendered: InstanceType {role.instance_type!r} {why}; "
        "this resolves once it publishes that, or request whole accelerators in another deployment"
    )
    return RenderRefusal(RefusalReason.RESOURCES_NOT_READY, role.name, message, retryable=True)
