"""What one Pod asks for: whole numbers, and what the named InstanceType offers."""

from collections.abc import Iterator
from typing import Any, Final

from modeldeployment.admission.defaulting.deployments import missing_types
from modeldeployment.admission.examples import Example
from modeldeployment.admission.facts import Needs
from modeldeployment.admission.patching import found, put
from modeldeployment.admission.rule import Row, row
from modeldeployment.admission.subjects import DeploymentReview, RoleReview
from modeldeployment.admission.verdict import Cause, Refusal, Unready, brief
from modeldeployment.api import InstanceType, Quantity, Resources, frozen
from modeldeployment.render import MAKERS

_ONE: Final = Quantity.whole(1)
ZERO: Final = Quantity.whole(0)
MEMORY: Final = "acceleratorSlicedMemoryPercentage"
CORES: Final = "acceleratorSlicedCoresPercentage"
_PROFILE: Final = "acceleratorPartitionedProfile"


@row(
    trigger=Example({"spec.roles[0].instanceType": "h20-9x"}),
    near_miss=Example({"spec.roles[0].instanceType": "h20-other"}),
    needs=Needs.INSTANCE_TYPES,
)
def instance_type_missing(review: DeploymentReview) -> Iterator[Refusal]:
    """MD049 | spec.roles[*].instanceType | The InstanceType a role names must exist.

    Sizes, queues and defaults of a role are read from its type. The same is said where the default accelerator count of
    a role hangs on a type that is not there.

    Way out: name an InstanceType that exists, or create it first. Source: facts admission §2 and §3.
    """
    yield from missing_types(review.body, review.facts)


@row(
    trigger=Example({"spec.roles[0].resources.interface": "500m"}),
    near_miss=Example({"spec.roles[0].resources.interface": "0"}),
)
def not_whole(review: DeploymentReview) -> Iterator[Refusal]:
    """MD016 | spec.roles[*].resources | Accelerators and fabric interfaces are whole numbers, and not negative.

    Both count devices of one Pod. Part of an accelerator is asked for by a slice percentage or a partition profile
    beside `accelerator: 1`.

    Way out: a whole number, or leave the field out. Source: spec 1 §Admission refusals, facts admission §4.
    """
    for each in review.roles:
        wanted = each.role.resources
        if wanted is None:
            continue
        for rule, amount in (
            (frozen.WHOLE_ACCELERATOR, wanted.accelerator),
            (frozen.WHOLE_INTERFACE, wanted.interface),
        ):
            if amount is not None and (amount.nanos < 0 or not amount.is_whole):
                field = f"{each.path}.resources{rule.at}"
                yield Refusal(rule.code, field, found(review.body, field), why=rule.why, way_out=rule.way_out)


@row(
    trigger=Example(
        {
            "spec.roles[0].instanceType": "a100-mig",
            f"spec.roles[0].resources.{_PROFILE}": "3g.40gb",
            f"spec.roles[0].resources.{MEMORY}": 50,
        }
    ),
    near_miss=Example(
        {"spec.roles[0].instanceType": "a100-mig", f"spec.roles[0].resources.{_PROFILE}": "3g.40gb"},
    ),
)
def profile_and_slice(review: DeploymentReview) -> Iterator[Refusal]:
    """MD017 | spec.roles[*].resources.acceleratorPartitionedProfile | A profile and a slice exclude each other.

    A profile asks for a partition that the hardware cuts, a percentage for a slice that software cuts. One accelerator
    cannot serve both.

    Way out: keep the profile or the percentages. Source: spec 1 §Admission refusals.
    """
    for each in review.roles:
        wanted = each.role.resources
        if wanted is not None and wanted.accelerator_partitioned_profile and (asked := slices(wanted)):
            yield Refusal(
                "MD017",
                f"{each.path}.resources.{_PROFILE}",
                wanted.accelerator_partitioned_profile,
                why=f"a partition profile and a slice ({asked}) cannot both apply to one accelerator",
                way_out=f"keep {_PROFILE}, or keep {MEMORY} and {CORES}",
            )


@row(
    trigger=Example({"spec.roles[0].resources.accelerator": 9}),
    near_miss=Example({"spec.roles[0].resources.accelerator": 8}),
    needs=Needs.INSTANCE_TYPES,
)
def not_offered(review: DeploymentReview) -> Iterator[Refusal | Unready]:
    """MD035 | spec.roles[*].resources | A role asks only for what its InstanceType offers.

    A slice needs a type that offers logical slicing; a partition needs one that offers hardware partitioning and lists
    the profile; both are part of one accelerator, so `accelerator` is exactly 1. Whole accelerators are bounded by what
    the type's pool holds in total: what is free right now does not matter, the deployment waits in its queue.

    While the type's hardware is not observed, a slice or a partition cannot be judged; that passes.

    Way out: another mode, another type, or fewer accelerators. Source: facts admission §4.2.
    """
    for each in review.roles:
        wanted, instance_type = each.role.resources, review.instance_type(each)
        if wanted is None or instance_type is None or not instance_type.acceleratable:
            continue
        profile, asked = wanted.accelerator_partitioned_profile, slices(wanted)
        if not profile and not asked:
            yield from _whole(review, each, wanted, instance_type)
        elif not instance_type.observed:
            yield Unready(
                f"{each.path}.resources",
                f'InstanceType "{each.role.instance_type}" is not ready: its hardware has not been observed, so what '
                f"{'partitions' if profile else 'slices'} it offers is not known yet; retry once it is",
            )
        elif profile:
            yield from _partition(review, each, wanted, profile, instance_type)
        else:
            yield from _slice(review, each, wanted, asked, instance_type)


@row(
    trigger=Example({"spec.roles[0].instanceType": "cpu"}),
    near_miss=Example({"spec.roles[0].instanceType": "cpu", "spec.roles[0].resources.accelerator": 0}),
    needs=Needs.INSTANCE_TYPES,
)
def accelerators_not_requestable(review: DeploymentReview) -> Iterator[Refusal]:
    """MD059 | spec.roles[*].resources | Accelerators are asked for only of a type that has some, by a known key.

    An InstanceType without accelerators gives none, whole, sliced or partitioned. On one whose observed maker this
    release does not know, or whose maker's cards it cannot ask for by partition, no resource key follows. Judged at
    creation, since type and resources are fixed then; a type that is not observed yet is waited for.

    Way out: leave the request out, or name another type. Source: facts rendering §12, facts api-dependencies §3.
    """
    if not review.creating:
        return
    for each in review.roles:
        instance_type = review.instance_type(each)
        if instance_type is None or not (asked := _asked(each.role.resources)):
            continue
        field, named = f"{each.path}.resources.{asked}", f'InstanceType "{each.role.instance_type}"'
        made_by = instance_type.status.detail.manufacturer
        maker = MAKERS.get(made_by)
        if not instance_type.acceleratable:
            why = f"{named} has no accelerators"
        elif made_by and maker is None:
            why = f"the accelerators of {named} are made by {brief(made_by)}, none of {', '.join(MAKERS)}"
        elif maker and asked == _PROFILE and not maker.partition:
            why = f"accelerators of {maker.name}, which {named} has, cannot be asked for by partition"
        else:
            continue
        yield Refusal(
            "MD059",
            field,
            found(review.body, field),
            why=why,
            way_out="leave it out, or name a type that has what is asked for",
            cause=Cause.FORBIDDEN,
        )


def _asked(wanted: Resources | None) -> str:
    """The field by which a role asks for accelerators; empty where it asks for none."""
    if wanted is None:
        return ""
    if wanted.accelerator_partitioned_profile:
        return _PROFILE
    if wanted.accelerator_sliced_memory_percentage:
        return MEMORY
    if wanted.accelerator_sliced_cores_percentage:
        return CORES
    return "accelerator" if wanted.accelerator is not None and wanted.accelerator.nanos > 0 else ""


def _whole(
    review: DeploymentReview, each: RoleReview, wanted: Resources, instance_type: InstanceType
) -> Iterator[Refusal]:
    pool = instance_type.status.accelerator
    capacity = pool.capacity if pool else None
    if wanted.accelerator is None or capacity is None or wanted.accelerator <= capacity:
        return
    field = f"{each.path}.resources.accelerator"
    fewer = f"ask for at most {capacity} per Pod" if capacity.nanos > 0 else "ask for a slice or a partition"
    yield Refusal(
        "MD035",
        field,
        found(review.body, field),
        why=f'InstanceType "{each.role.instance_type}" holds {capacity} whole accelerators in total, free or not, so '
        "no Pod ever gets more",
        way_out=f"{fewer}, or create the deployment on a type that holds more"
        if each.old is None
        else "add nodes to its pool, or create another deployment that asks for less, since resources are fixed here",
    )


def _partition(
    review: DeploymentReview, each: RoleReview, wanted: Resources, profile: str, instance_type: InstanceType
) -> Iterator[Refusal]:
    path = f"{each.path}.resources"
    offered = instance_type.status.detail.sliced_detail.physical
    named = f'InstanceType "{each.role.instance_type}"'
    if offered.count <= 0:
        yield Refusal(
            "MD035",
            f"{path}.{_PROFILE}",
            profile,
            why=f'{named} does not offer hardware partitioning, so it has no partition "{profile}"',
            way_out="ask for whole accelerators, or name a type that offers hardware partitioning",
            cause=Cause.FORBIDDEN,
        )
    elif profile not in (names := [listed.name for listed in offered.profiles]):
        listed = ", ".join(names) or "none yet"
        yield Refusal(
            "MD035",
            f"{path}.{_PROFILE}",
            profile,
            why=f"{named} does not offer this partition profile; it offers {listed}",
            way_out="name one of the profiles it offers, or another type",
        )
    yield from _exactly_one(review, path, wanted, "a partitioned", _PROFILE)


def _slice(
    review: DeploymentReview, each: RoleReview, wanted: Resources, asked: str, instance_type: InstanceType
) -> Iterator[Refusal]:
    path = f"{each.path}.resources"
    if instance_type.status.detail.sliced_detail.logical.count <= 0:
        yield Refusal(
            "MD035",
            f"{path}.{MEMORY}",
            wanted.accelerator_sliced_memory_percentage,
            why=f'InstanceType "{each.role.instance_type}" does not offer logical slicing, which {asked} asks for',
            way_out="ask for whole accelerators, or name a type that offers logical slicing",
            cause=Cause.FORBIDDEN,
        )
    yield from _exactly_one(review, path, wanted, "a sliced", f"{MEMORY} and {CORES}")


def _exactly_one(review: DeploymentReview, path: str, wanted: Resources, what: str, fields: str) -> Iterator[Refusal]:
    if wanted.accelerator not in (None, _ONE):
        field = f"{path}.accelerator"
        yield Refusal(
            "MD035",
            field,
            found(review.body, field),
            why=f"{what} request is part of one accelerator, so accelerator is exactly 1",
            way_out=f"set it to 1, or leave out {fields} to ask for whole accelerators",
            patch=(put(field, 1),),
        )


def slices(wanted: Resources | None) -> str:
    """The slice percentages a role asks for, as it writes them; empty where it asks for none."""
    if wanted is None:
        return ""
    asked = ((MEMORY, wanted.accelerator_sliced_memory_percentage), (CORES, wanted.accelerator_sliced_cores_percentage))
    return " and ".join(f"{field} {percent}" for field, percent in asked if percent)


RULES: Final[tuple[Row[Any, Any], ...]] = (
    instance_type_missing,
    not_whole,
    profile_and_slice,
    not_offered,
    accelerators_not_requestable,
)
