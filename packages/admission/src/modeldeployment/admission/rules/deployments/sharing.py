"""Roles that stand on the same accelerators: each must ask for its own."""

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from modeldeployment.admission.examples import Example
from modeldeployment.admission.facts import Needs
from modeldeployment.admission.patching import found, put
from modeldeployment.admission.rule import Row, row
from modeldeployment.admission.rules.deployments.resources import MEMORY, ZERO, slices
from modeldeployment.admission.subjects import DeploymentReview, RoleReview
from modeldeployment.admission.verdict import Refusal
from modeldeployment.api import RoleKind


@row(
    trigger=Example(
        {
            "spec.roles[0].resources.accelerator": 0,
            "spec.roles[1]": {"name": "other", "instanceType": "h20-8x"},
        }
    ),
    near_miss=Example({"spec.roles[0].resources.accelerator": 0}),
    needs=Needs.INSTANCE_TYPES,
)
def none_on_shared_type(review: DeploymentReview) -> Iterator[Refusal]:
    """MD036 | spec.roles[*].resources.accelerator | Roles that share an acceleratable InstanceType each ask for one.

    A role with `accelerator: 0` runs without accelerators on nodes that are there for them, and its queue charges it
    nothing, beside a role that waits for the same nodes.

    Way out: ask for at least one accelerator, or move the CPU-only role to a type without accelerators. Source: spec 1
    §Admission refusals.
    """
    sharing = Counter(each.role.instance_type for each in review.roles)
    for each in review.roles:
        wanted, name = each.role.resources, each.role.instance_type
        if wanted is None or wanted.accelerator != ZERO or sharing[name] == 1:
            continue
        instance_type = review.instance_type(each)
        if instance_type is not None and instance_type.acceleratable:
            field = f"{each.path}.resources.accelerator"
            yield Refusal(
                "MD036",
                field,
                found(review.body, field),
                why=f'InstanceType "{name}" has accelerators and {sharing[name]} roles share it, and a role that asks '
                "for none would take nodes from the others without being charged for it",
                way_out="request at least one accelerator, or move the CPU-only role to a non-acceleratable "
                "InstanceType",
                patch=(put(field, 1),),
            )


def _sliced(name: str, kind: RoleKind) -> dict[str, Any]:
    return {"name": name, "kind": kind.value, "instanceType": "l40s-slices", "resources": {MEMORY: 50}}


@row(
    trigger=Example({"spec.roles": [_sliced("prefill", RoleKind.PREFILL), _sliced("decode", RoleKind.DECODE)]}),
    near_miss=Example(
        {
            "spec.roles": [
                _sliced("prefill", RoleKind.PREFILL),
                {"name": "decode", "kind": "Decode", "instanceType": "l40s-slices"},
            ]
        }
    ),
    needs=Needs.INSTANCE_TYPES,
)
def pair_on_one_accelerator(review: DeploymentReview) -> Iterator[Refusal]:
    """MD037 | spec.roles | The two halves of a pair cannot both be logical slices of one accelerator group.

    Slices of one card share its compute, so a prefill and a decode half could land on one card and slow each other
    down. Whole accelerators and partition profiles are fine, even on one card: partitions are isolated by the device.
    Types that name no accelerator group say nothing.

    Way out: whole accelerators or partitions for one of them, or types of two groups. Source: spec 1 §Admission
    refusals.
    """
    halves = [
        (each, group) for each in review.of_kind(RoleKind.PREFILL, RoleKind.DECODE) if (group := _group(review, each))
    ]
    for prefill, group in halves:
        if prefill.role.kind is not RoleKind.PREFILL:
            continue
        for decode, other in halves:
            if decode.role.kind is not RoleKind.DECODE or other != group:
                continue
            types = dict.fromkeys(f'"{each.role.instance_type}"' for each in (prefill, decode))
            asked = dict.fromkeys(slices(each.role.resources) for each in (prefill, decode))
            yield Refusal(
                "MD037",
                "spec.roles",
                [prefill.role.name, decode.role.name],
                why=f'roles "{prefill.role.name}" and "{decode.role.name}" both ask for a logical slice '
                f"({', '.join(asked)}) of one accelerator group, {group} (InstanceType {' and '.join(types)}), so both "
                "halves of the pair could share one card",
                way_out="ask for whole accelerators or partition profiles in one of them, or name types of two groups",
            )


def _group(review: DeploymentReview, each: RoleReview) -> str | None:
    """The accelerator group a role takes logical slices from; None where it takes none, or the group is not known."""
    instance_type = review.instance_type(each)
    if instance_type is None or not instance_type.acceleratable or not slices(each.role.resources):
        return None
    return instance_type.spec.accelerator_group


RULES: Final[tuple[Row[Any, Any], ...]] = (none_on_shared_type, pair_on_one_accelerator)
