"""Parallel degrees on the command line.

Source: facts admission §4 rows 14, 15 and 40, and §6, spec 2 §Pair connections.
"""

from collections.abc import Iterator
from typing import Any, Final

from modeldeployment.admission.examples import GONE, Example
from modeldeployment.admission.facts import Needs
from modeldeployment.admission.rule import Row, row
from modeldeployment.admission.subjects import DeploymentReview, RoleReview
from modeldeployment.admission.verdict import Refusal, Unready, brief
from modeldeployment.api import RoleKind
from modeldeployment.render import Degree, Degrees, LoadBalance, Unreadable

_ARGUMENTS: Final = "spec.roles[0].extraArgs"


@row(
    trigger=Example({_ARGUMENTS: ["--tensor-parallel-size", "two"]}),
    near_miss=Example({_ARGUMENTS: ["--tensor-parallel-size", "1", "--max-model-len", "many"]}),
)
def unreadable_degree(review: DeploymentReview) -> Iterator[Refusal]:
    """MD014 | spec.roles[*] | A parallel degree must be told by the command line.

    The operator reads degrees from `command` where there is one, else from `extraArgs`, and vLLM's from the literal
    variable `VLLM_DP_SIZE` too: the transfer document and the check against the accelerators render from them. A
    known flag whose value is missing, no whole number, out of range or below its bound cannot be read. Unknown
    flags pass.

    Way out: write the degree as a whole number, or own the whole line with `roles[].command`. Source: spec 1
    §Admission refusals, facts admission §6.
    """
    for role in review.roles:
        if isinstance(degree := role.degrees, Unreadable):
            written = f"{degree.flag} {brief(degree.value, 64)}" if degree.value else degree.flag
            yield Refusal(
                "MD014",
                role.path,
                role.role.name,
                why=f"role {role.role.name} does not say legibly what its {degree.flag} is: {written} {degree.why}",
                way_out=f"write {degree.flag} with a whole number"
                + ("" if role.role.command else f", or own the whole line with {role.own_command}"),
            )


@row(
    trigger=Example({_ARGUMENTS: ["-tp", "2"]}),
    near_miss=Example({_ARGUMENTS: ["-tp", "2"], "spec.roles[0].resources.accelerator": 2}),
)
def wider_than_its_cards(review: DeploymentReview) -> Iterator[Refusal]:
    """MD015 | spec.roles[*].resources.accelerator | The declared width of one member fits its accelerators.

    The width is the product of the degrees that take accelerators within one Pod: on vLLM tensor, pipeline, prefill
    context and local data parallelism, on SGLang tensor, pipeline and, unless it is shared with tensor parallelism,
    data parallelism. It is judged per member, so a larger `size` does not rescue it; where flags wire members
    together, part of it may live elsewhere and nothing is judged.

    Way out: ask for as many accelerators, or lower a degree. Source: spec 1 §Admission refusals, facts admission
    §6.
    """
    for role in review.roles:
        degrees, cards = role.degrees, _cards(role)
        if cards is None or isinstance(degrees, Unreadable) or degrees.wiring or degrees.width <= cards:
            continue
        yield Refusal(
            "MD015",
            f"{role.path}.resources.accelerator",
            cards,
            why=f"role {role.role.name} declares a width of {degrees.width} per member ({_factors(degrees)}) and asks "
            f"for {cards} accelerator{'' if cards == 1 else 's'} per Pod; size does not rescue it, since the width is "
            "that of one member",
            way_out=f"ask for {degrees.width} accelerators per Pod, or lower a degree in {role.stream_path}"
            if role.old is None
            else f"lower a degree in {role.stream_path}, or create another deployment that asks for {degrees.width} "
            "accelerators per Pod, since resources are fixed here",
        )


@row(
    trigger=Example({_ARGUMENTS: ["--data-parallel-multi-port-external-lb"]}),
    near_miss=Example({_ARGUMENTS: ["--data-parallel-external-lb", "--data-parallel-rank", "0"]}),
)
def unmanaged_balancing(review: DeploymentReview) -> Iterator[Refusal]:
    """MD040 | spec.roles[*].extraArgs | Data parallelism is balanced in one shape, and not over several ports.

    A role serves on one port, so multi-port external balancing (`MultiPort`) would leave every rank but one
    unreachable. Flags that ask for different shapes, such as external and hybrid balancing, describe none.

    Way out: keep the flags of one shape, or own the whole line with `roles[].command`. Source: facts admission §4
    row 40.
    """
    for role in review.roles:
        degrees = role.degrees
        if not role.role.managed or isinstance(degrees, Unreadable):
            continue
        match degrees.load_balance:
            case LoadBalance.MULTI_PORT:
                why = f"{' '.join(degrees.balancing)} asks for MultiPort balancing, and a role serves on one port"
            case LoadBalance.UNKNOWN:
                why = f"{' and '.join(degrees.balancing)} describe different shapes of balancing"
            case _:
                continue
        yield Refusal(
            "MD040",
            f"{role.path}.extraArgs",
            list(role.role.extra_args),
            why=f"role {role.role.name}: {why}",
            way_out=f"keep the flags of one shape that uses one port, or own the whole line with {role.own_command}",
        )


def _half(kind: str, *arguments: str, instance_type: str = "ascend-910b") -> dict[str, Any]:
    return {
        "name": kind.lower(),
        "kind": kind,
        "instanceType": instance_type,
        "resources": {"accelerator": 2},
        "extraArgs": ["--enable-scale-out", *arguments],
    }


_ON_ASCEND: Final = {"spec.kvCache": GONE, "spec.router": {"name": "llm-d-router"}}


@row(
    trigger=Example(_ON_ASCEND | {"spec.roles": [_half("Prefill"), _half("Decode", "-tp", "2")]}),
    near_miss=Example(_ON_ASCEND | {"spec.roles": [_half("Prefill", "-tp", "2"), _half("Decode")]}),
    needs=Needs.INSTANCE_TYPES,
)
def prefill_narrower_than_decode(review: DeploymentReview) -> Iterator[Refusal | Unready]:
    """MD057 | spec.roles[*] | On Ascend the Prefill role's tensor degree is not below that of the Decode role.

    Both halves of a vLLM pair on Ascend are told the degrees of both, and no Decode rank can gather its blocks from
    fewer Prefill ranks. It holds as soon as one managed half behind `llm-d-router` is on Ascend. Elsewhere the
    connector asks its other half. While the hardware of a new deployment's types is not observed, it can be tried
    again.

    Way out: a higher degree on the Prefill role, or a lower one on the Decode role. Source: facts rendering §4.
    """
    router = review.router
    told = [backend for backend in review.engine.backends.values() if backend.leg_port is not None]
    if router is None or not told or not review.pair:
        return
    prefill, decode = next(review.of_kind(RoleKind.PREFILL)), next(review.of_kind(RoleKind.DECODE))
    shapes = prefill.degrees, decode.degrees
    if isinstance(shapes[0], Unreadable) or isinstance(shapes[1], Unreadable):
        return
    above, below = shapes[0].value(Degree.TENSOR), shapes[1].value(Degree.TENSOR)
    if above >= below:
        return
    for half in (prefill, decode):
        known = review.instance_type(half)
        if known is None or not half.role.managed:
            continue
        backend = review.engine.backend(known.status.detail.manufacturer)
        if not known.observed and known.acceleratable and review.creating:
            name = half.role.instance_type
            yield Unready(
                f"{half.path}.instanceType",
                f'InstanceType "{name}" is not ready: its hardware has not been observed, so whether role '
                f"{prefill.role.name} may have a lower tensor degree than role {decode.role.name} is not known yet; "
                "retry once it is",
            )
            return
        if backend in told and (backend.pairs_everywhere or router.pairs_ascend):
            yield Refusal(
                "MD057",
                prefill.path,
                prefill.role.name,
                why=f"role {prefill.role.name} has tensor parallel degree {above}, below the {below} of role "
                f"{decode.role.name}, and on {known.status.detail.manufacturer} no Decode rank can gather its blocks "
                "from fewer Prefill ranks",
                way_out=f"raise it in {prefill.stream_path}, or lower it in {decode.stream_path}",
            )
            return


def _cards(role: RoleReview) -> int | None:
    """The accelerators one Pod asks for; None where the count says nothing about a width."""
    count = role.role.resources.accelerator if role.role.resources else None
    return count.units if count is not None and count.is_whole and count.nanos > 0 else None


def _factors(degrees: Degrees) -> str:
    named = [f"{degree} {degrees.value(degree)}" for degree in degrees.factors if degrees.value(degree) > 1]
    return " x ".join(named)


RULES: Final[tuple[Row[Any, Any], ...]] = (
    unreadable_degree,
    wider_than_its_cards,
    unmanaged_balancing,
    prefill_narrower_than_decode,
)
